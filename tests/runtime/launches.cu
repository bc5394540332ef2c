// The host's side of the runtime on a GPU: launches from host threads that have made no CUDA call.
// Also during the capture of a stream, and with tensors without elements. Prints a line for each;
// the exit status is 0 if all are right.
//
//   nvcc -gencode arch=compute_90a,code=sm_90a -std=c++17 -I. tests/runtime/launches.cu
//     -o launches && ./launches
#include <cmath>
#include <cstring>
#include <thread>

#include "runtime/barrier.cuh"
#include "runtime/tma.cuh"
#include "tests/runtime/device_check.cuh"

namespace {

constexpr int kRows = 8;
constexpr int kColumns = 64;
constexpr int kElements = kRows * kColumns;

/// Loads a box from `from` at these coordinates to `out`. Stores another to `to` at the same
/// coordinates, or at 0 where they are negative: there stores trap. Shared memory holds a number
/// before, so that elements that are not loaded show. `Case` makes another kernel, which is not
/// loaded before its first launch.
template <int Case, class... Coordinates>
__global__ void copy_box(const __grid_constant__ CUtensorMap from,
                         const __grid_constant__ CUtensorMap to, __half* out,
                         Coordinates... coordinates) {
  constexpr int kLoaded = sizeof...(Coordinates) == 1 ? kColumns : kElements;
  extern __shared__ __align__(1024) char smem[];
  __shared__ uint64_t full;
  auto* box = reinterpret_cast<__half*>(smem);
  for (int i = 0; i < kElements; ++i) box[i] = __float2half(3.0F);
  twill::barrier_init(&full, 1);
  twill::barrier_init_fence();
  twill::fence_proxy_async();
  twill::barrier_expect(&full, kLoaded * sizeof(__half));
  twill::tma_load(smem, &from, &full, coordinates...);
  twill::barrier_wait(&full, 0);
  for (int i = 0; i < kElements; ++i) out[i] = box[i % kLoaded];
  for (int i = 0; i < kElements; ++i) box[i] = __float2half(5.0F);
  twill::fence_proxy_async();
  twill::tma_store(&to, smem, max(coordinates, 0)...);
  twill::bulk_commit();
  twill::bulk_wait<0>();
}

twill::Launch one_thread(cudaStream_t stream = nullptr) {
  twill::Launch how;
  how.threads = 1;
  how.shared_bytes = kElements * static_cast<int>(sizeof(__half));
  how.stream = stream;
  return how;
}

/// A map of an empty tensor, with invalid address and strides.
CUtensorMap empty_map(const std::vector<std::uint64_t>& sizes, twill::MapUse use, bool nans) {
  CUtensorMap map;
  const std::uint64_t strides[4] = {6, 6, 6, 6};
  const std::uint32_t box[5] = {kColumns, kRows, 1, 1, 1};
  check::require(twill::describe(&map, twill::map_type<__half>(), static_cast<int>(sizes.size()),
                                 nullptr, sizes.data(), strides, box, 128, use,
                                 nans ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                      : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                 "describe");
  return map;
}

/// Whether all of a box is zero, or NaN.
bool all_are(const check::Buffer<__half>& out, bool nans) {
  for (const __half value : out.read()) {
    const float number = __half2float(value);
    if (nans ? !std::isnan(number) : number != 0) return false;
  }
  return true;
}

/// Runs twice, since the first store must not produce the data of the second load.
template <class... Coordinates>
bool reads_nothing(const std::vector<std::uint64_t>& sizes, bool nans, Coordinates... at) {
  bool good = true;
  for (int round = 0; round < 2; ++round) {
    const check::Buffer<__half> out(std::vector<__half>(kElements, __float2half(7.0F)));
    check::run("empty tensor", copy_box<0, Coordinates...>, one_thread(),
               empty_map(sizes, twill::MapUse::loads, nans),
               empty_map(sizes, twill::MapUse::writes, false), out.data(), at...);
    good = good && all_are(out, nans);
  }
  return good;
}

/// Checks the first thread, before other calls in this process: there is no context yet.
void check_first_thread() {
  bool good = true;
  std::thread([&] {
    check::require(twill::check_device(), "check_device");
    CUtensorMap map;
    const std::uint64_t sizes[2] = {kColumns, kRows};
    const std::uint64_t strides[1] = {kColumns * sizeof(__half)};
    const std::uint32_t box[2] = {kColumns, kRows};
    good = twill::encode_tensor_map(&map, twill::map_type<__half>(), 2,
                                    reinterpret_cast<void*>(std::uintptr_t{1} << 32), sizes,
                                    strides, box, 128) == nullptr;
  }).join();
  check::report(good, "the first call of the process, by a thread of its own: a map is encoded");
}

void check_later_thread() {
  const check::Buffer<__half> out(std::vector<__half>(kElements, __float2half(7.0F)));
  std::thread([&] {
    check::require(twill::check_device(), "check_device");
    check::run("thread", copy_box<1, int, int>, one_thread(),
               empty_map({kColumns, 0}, twill::MapUse::loads, false),
               empty_map({kColumns, 0}, twill::MapUse::writes, false), out.data(), 0, 0);
  }).join();
  check::report(all_are(out, false), "a later thread that has made no call: launches");
}

/// Checks a capture of the whole process: forbidden calls then end it with an error.
void check_capture() {
  const check::Buffer<__half> out(std::vector<__half>(kElements, __float2half(7.0F)));
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  check::require(twill::failure(cudaStreamCreate(&stream)), "cudaStreamCreate");
  check::require(twill::failure(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)),
                 "cudaStreamBeginCapture");
  const char* wrong = nullptr;
  std::thread([&] {
    wrong = twill::check_device();
    if (wrong != nullptr) return;
    wrong = twill::launch(copy_box<2, int, int>, one_thread(stream),
                          empty_map({kColumns, 0}, twill::MapUse::loads, false),
                          empty_map({kColumns, 0}, twill::MapUse::writes, false), out.data(), 0, 0);
  }).join();
  check::require(wrong, "launch into a capture");
  check::require(twill::failure(cudaStreamEndCapture(stream, &graph)), "cudaStreamEndCapture");
  check::require(twill::failure(cudaGraphInstantiate(&ready, graph, 0)), "cudaGraphInstantiate");
  check::require(twill::failure(cudaGraphLaunch(ready, stream)), "cudaGraphLaunch");
  check::require(twill::failure(cudaStreamSynchronize(stream)), "cudaStreamSynchronize");
  check::report(all_are(out, false), "the same while a stream is captured, and the graph runs");
}

void check_empty_tensors() {
  for (const bool nans : {false, true}) {
    bool good = reads_nothing({0}, nans, 0);
    good = reads_nothing({0, kRows}, nans, 0, 0) && good;
    good = reads_nothing({kColumns, 0}, nans, 0, 0) && good;
    good = reads_nothing({0, 0}, nans, 64, 8) && good;
    good = reads_nothing({kColumns, 0}, nans, -8, -3) && good;
    good = reads_nothing({kColumns, kRows, 0}, nans, 0, 0, 0) && good;
    good = reads_nothing({kColumns, 0, 3}, nans, 0, 4, 1) && good;
    good = reads_nothing({kColumns, kRows, 2, 0}, nans, 0, 0, 0, 0) && good;
    good = reads_nothing({kColumns, kRows, 2, 0, 3}, nans, 0, 0, 0, 0, 0) && good;
    check::report(good, nans ? "tensors without elements read as NaN where that is asked for"
                             : "tensors without elements read as zero, and take no writes");
  }
}

}  // namespace

int main() {
  check_first_thread();
  check_later_thread();
  check_capture();
  check_empty_tensors();
  std::printf("%d failed\n", check::failures);
  return check::failures == 0 ? 0 : 1;
}
