#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

/// Runs a printed kernel on the CPU and finds faults that no GPU reports: the calling side of the
/// executor. The executor is a second implementation of runtime/, in this folder.
///
/// The text of kernel.cu is compiled as printed, its launch function included. A program that runs
/// it copies kernel.cu into a folder without a `runtime/`, since a quoted include looks beside the
/// text first. It includes run.h and kernel.cu, and is built in three steps. HOST is this folder,
/// DIR the folder that `twill emit cuda` wrote:
///
///   c++ -std=c++20 -O1 -ffp-contract=off -c HOST/executor.cpp -o executor.o       (once)
///   c++ -std=c++20 -O1 -g1 -w -ffp-contract=off -fsanitize=thread -I HOST/include -I HOST -I DIR
///       -c main.cpp
///   c++ main.o executor.o -o program                                 (without -fsanitize=thread)
///
/// `#line 1 "DIR/kernel.cu"` before the text makes findings name that file. -fsanitize=thread gives
/// every load and store of the kernel to the executor, which has the functions that it calls; the
/// sanitizer's own library is not linked. g++ 12 or clang 14, Linux, x86-64 or AArch64; `addr2line`
/// (binutils) turns addresses into lines; without it, findings have no lines.
///
/// Order of calls: configure, add_buffer for every array, the launch function (any number of times;
/// it returns when the grid has ended), then finish. One thread of the host.
namespace twill::run {

/// Time at which asynchronous work (TMA, cp.async, wgmma, bulk stores) is done.
enum class Completion {
  late,    ///< as late as the memory model allows: when a thread waits for it and nothing else runs
  random,  ///< at any time between its issue and that time, by seed
};

struct Options {
  std::uint64_t seed = 1;  ///< decides the order in which threads run; equal seeds give equal runs
  Completion completion = Completion::late;
  int sm_count = 2;               ///< CTAs that the device holds, as a persistent kernel is told
  bool switch_at_memory = false;  ///< threads also take turns at loads and stores, not only where
                                  ///< they synchronize
  int most_findings = 20;         ///< further findings are counted, not kept
};

/// Resets buffers and findings. Called before the first launch.
void configure(const Options& options);

/// Adds an array in global memory that the kernel may use: `bytes` from `pointer` on, which is
/// aligned to 256 bytes like results of cudaMalloc. Bytes that are not `initialised` must not be
/// read before they are written. An access outside all arrays ends the launch.
void add_buffer(const void* pointer, std::size_t bytes, const std::string& name,
                bool initialised = true);

/// Sets whether a part of a buffer may be read.
void set_initialised(const void* pointer, std::size_t bytes, bool initialised);

/// Memory of `bytes`, aligned to 256, between pages that fault; filled with 0xff (NaN). Lives until
/// the program ends.
void* allocate(std::size_t bytes);

/// A fault of the kernel.
struct Finding {
  std::string kind;     ///< "race", "uninitialised", "deadlock", ...: see `kinds` in executor.cpp
  std::string message;  ///< one sentence
  std::string file;     ///< file of the kernel's text; empty if unknown
  int line = 0;         ///< from 1; 0 if unknown
  std::string thread;   ///< "CTA 0, warp 4 (role_WG0), lane 0"
  int times = 1;        ///< number of findings of that kind at that line
};

/// Findings since `configure`, in the order in which each was first found.
std::vector<Finding> findings();

/// Prints the findings, one a line: `file:line: kind: message [thread] (N times)`. Returns the exit
/// code for the program: 0 without findings, else 1.
int finish(std::FILE* out);

}  // namespace twill::run
