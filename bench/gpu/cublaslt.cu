// The best algorithm of cublasLt's heuristics for C = A B^T, row-major, 16-bit in and out, f32 sums.
// Every candidate is timed once, and the fastest is kept. Built and called by kernels.py.
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <vector>

namespace {

constexpr int kCandidates = 32;
constexpr int kRuns = 5;
constexpr std::size_t kWorkspace = std::size_t{64} << 20;

struct Product {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
  void* workspace = nullptr;
  const void* a_data = nullptr;
  const void* b_data = nullptr;
  void* c_data = nullptr;
};

cublasStatus_t launch(const Product& p, const cublasLtMatmulAlgo_t& algorithm, cudaStream_t stream) {
  const float one = 1, zero = 0;
  // Column-major: C^T = B A^T.
  return cublasLtMatmul(p.handle, p.product, &one, p.b_data, p.b, p.a_data, p.a, &zero, p.c_data, p.c, p.c_data, p.c,
                        &algorithm, p.workspace, kWorkspace, stream);
}

cublasLtMatrixLayout_t layout(cudaDataType_t type, long long rows, long long columns, int batch) {
  cublasLtMatrixLayout_t result = nullptr;
  cublasLtMatrixLayoutCreate(&result, type, rows, columns, rows);
  const long long stride = rows * columns;
  cublasLtMatrixLayoutSetAttribute(result, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
  cublasLtMatrixLayoutSetAttribute(result, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
  return result;
}

float milliseconds(const Product& p, const cublasLtMatmulAlgo_t& algorithm, cudaStream_t stream) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float time = -1;
  bool works = launch(p, algorithm, stream) == CUBLAS_STATUS_SUCCESS;
  cudaEventRecord(begin, stream);
  for (int i = 0; i < kRuns && works; ++i) works = launch(p, algorithm, stream) == CUBLAS_STATUS_SUCCESS;
  cudaEventRecord(end, stream);
  if (works && cudaEventSynchronize(end) == cudaSuccess) cudaEventElapsedTime(&time, begin, end);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return time;
}

}  // namespace

/// Finds a product that is ready to run; null if there is none. `batch` products of m x k and n x k.
extern "C" void* best_product(int is_bf16, long long m, long long n, long long k, int batch, const void* a, const void* b,
                              void* c, cudaStream_t stream) {
  auto* p = new Product;
  const cudaDataType_t type = is_bf16 ? CUDA_R_16BF : CUDA_R_16F;
  const cublasOperation_t transposed = CUBLAS_OP_T;
  p->a_data = a, p->b_data = b, p->c_data = c;
  if (cublasLtCreate(&p->handle) != CUBLAS_STATUS_SUCCESS) return nullptr;
  if (cudaMalloc(&p->workspace, kWorkspace) != cudaSuccess) return nullptr;
  cublasLtMatmulDescCreate(&p->product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatmulDescSetAttribute(p->product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
  p->b = layout(type, k, n, batch), p->a = layout(type, k, m, batch), p->c = layout(type, n, m, batch);
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace, sizeof kWorkspace);
  std::vector<cublasLtMatmulHeuristicResult_t> offered(kCandidates);
  int count = 0;
  cublasLtMatmulAlgoGetHeuristic(p->handle, p->product, p->b, p->a, p->c, p->c, preference, kCandidates, offered.data(), &count);
  cublasLtMatmulPreferenceDestroy(preference);
  float least = -1;
  for (int i = 0; i < count; ++i) {
    const float time = milliseconds(*p, offered[i].algo, stream);
    if (time <= 0 || (least > 0 && time >= least)) continue;
    least = time;
    p->algorithm = offered[i].algo;
  }
  return least > 0 ? p : nullptr;
}

/// Runs the product. Returns 0, or cublasLt's status.
extern "C" int run_product(const void* product, cudaStream_t stream) {
  const auto& p = *static_cast<const Product*>(product);
  return launch(p, p.algorithm, stream);
}

extern "C" void free_product(void* product) {
  auto* p = static_cast<Product*>(product);
  cublasLtMatrixLayoutDestroy(p->a), cublasLtMatrixLayoutDestroy(p->b), cublasLtMatrixLayoutDestroy(p->c);
  cublasLtMatmulDescDestroy(p->product);
  cudaFree(p->workspace);
  cublasLtDestroy(p->handle);
  delete p;
}
