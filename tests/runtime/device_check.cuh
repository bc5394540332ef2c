#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

#include "runtime/host.cuh"

/// Helpers of a test program on the device: buffers, maps and a launch. A failure ends the program
/// with a sentence.
namespace check {

inline int failures = 0;

inline void require(const char* wrong, const char* what) {
  if (wrong == nullptr) return;
  std::printf("FAIL  %s: %s\n", what, wrong);
  std::fflush(stdout);
  _exit(1);
}

/// One line per primitive.
inline void report(bool good, const char* what) {
  std::printf("%s  %s\n", good ? "ok  " : "FAIL", what);
  std::fflush(stdout);
  failures += good ? 0 : 1;
}

/// Whether `got` equals `expected` exactly; prints the first difference.
template <class T>
bool same(const std::vector<T>& got, const std::vector<T>& expected, const char* what) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const float g = static_cast<float>(got[i]);
    const float e = static_cast<float>(expected[i]);
    if (g == e) continue;
    std::printf("      %s: element %zu is %g, not %g\n", what, i, static_cast<double>(g),
                static_cast<double>(e));
    return false;
  }
  return true;
}

/// An array on the device.
template <class T>
class Buffer {
 public:
  explicit Buffer(const std::vector<T>& values) : size_(values.size()) {
    void* data = nullptr;
    require(twill::failure(cudaMalloc(&data, size_ * sizeof(T))), "cudaMalloc");
    data_ = static_cast<T*>(data);
    const cudaError_t error =
        cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
    require(twill::failure(error), "cudaMemcpy");
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() const { return data_; }

  std::vector<T> read() const {
    std::vector<T> values(size_);
    const cudaError_t error =
        cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
    require(twill::failure(error), "cudaMemcpy");
    return values;
  }

 private:
  std::size_t size_;
  T* data_ = nullptr;
};

/// Whole numbers from -4 to 4: their products sum up exactly in fp32, in any order.
template <class T>
std::vector<T> small_integers(std::size_t size, unsigned seed) {
  std::vector<T> values(size);
  for (T& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = T(static_cast<float>(static_cast<int>(seed >> 16) % 9 - 4));
  }
  return values;
}

/// A row-major matrix and a box of it.
template <class T>
CUtensorMap matrix_map(T* base, int rows, int columns, int box_rows, int box_columns, int swizzle) {
  CUtensorMap map;
  const std::uint64_t sizes[2] = {static_cast<std::uint64_t>(columns),
                                  static_cast<std::uint64_t>(rows)};
  const std::uint64_t strides[1] = {static_cast<std::uint64_t>(columns) * sizeof(T)};
  const std::uint32_t box[2] = {static_cast<std::uint32_t>(box_columns),
                                static_cast<std::uint32_t>(box_rows)};
  require(
      twill::encode_tensor_map(&map, twill::map_type<T>(), 2, base, sizes, strides, box, swizzle),
      "matrix_map");
  return map;
}

/// Launches and waits; a kernel that takes 10 seconds hangs.
template <class... Parameters, class... Arguments>
void run(const char* what, void (*kernel)(Parameters...), const twill::Launch& how,
         Arguments... arguments) {
  require(twill::launch(kernel, how, arguments...), what);
  const auto start = std::chrono::steady_clock::now();
  cudaError_t error = cudaStreamQuery(how.stream);
  while (error == cudaErrorNotReady) {
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(10)) {
      require("hangs", what);
    }
    usleep(100);
    error = cudaStreamQuery(how.stream);
  }
  require(twill::failure(error), what);
}

}  // namespace check
