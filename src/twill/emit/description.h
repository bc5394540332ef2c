#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "twill/emit/cuda.h"

/// Description of an emitted kernel for programs that call it: `kernel.json` beside kernel.cu.
/// docs/reference/cuda.md, "kernel.json", has its format.
namespace twill::emit {

/// A parameter of the launch function, behind the grid and the stream.
struct Parameter {
  enum class Kind {
    pointer,      ///< to elements of `type`
    descriptor,   ///< the address of a tensor's first element, of `type`
    scalar,       ///< of `type`
    stamps,       ///< instrumented kernels: where stamps go
    stamp_limit,  ///< instrumented kernels: how many of each role
  };
  std::string name;  ///< of the TTGIR's argument, without %
  Kind kind = Kind::scalar;
  std::string type;                 ///< "f16", "bf16", "f32", "i32", ...: as the TTGIR has it
  std::int64_t multiple_of = 1;     ///< of the address in bytes, or of the number: else the launch
                                    ///< function refuses it
  std::vector<std::int64_t> block;  ///< descriptor: of the tensor, outermost first
  std::vector<int> sizes;           ///< descriptor: which parameters have the tensor's sizes (i32)
  std::vector<int> strides;         ///< and which its strides in elements (i64), outermost first
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

struct Description {
  std::string name;     ///< of the kernel in kernel.cu
  std::string launch;   ///< of the function there that launches it
  std::string input;    ///< the name of the text it was printed from, as it was given
  std::string sha256;   ///< of that text, which is kernel.ttgir
  std::string runtime;  ///< of the headers beside kernel.cu (`driver::runtime_hash`); may be empty
  int loop = 0;         ///< number, in source order, of the loop that is the main loop
  std::string machine;  ///< a name
  std::vector<std::string> options;  ///< those of `twill emit cuda` that make this kernel again
  std::vector<Parameter> parameters;
  int threads = 0;                 ///< of a CTA
  std::int64_t shared_bytes = 0;   ///< dynamic, of a CTA
  int cluster = 1;                 ///< CTAs of a cluster
  int deepest_ring = 1;            ///< copies of the value that has the most
  std::string tiles;               ///< "one-per-cta", ...: by plan::name_of
  std::string order;               ///< "row-major", ...: of persistent kernels, else empty
  int group = 1;                   ///< of the order "grouped"
  std::vector<std::string> notes;  ///< of the plan: what it assumes, and what is not as wanted
  friend bool operator==(const Description&, const Description&) = default;
};

/// The members that follow from the kernel; the rest (`sha256`, `loop`, `machine`, `options`) is
/// left to the caller. Fails as `cuda_kernel` does.
Result<Description> cuda_description(const KernelParts& parts);

/// "version" of the JSON.
inline constexpr int kDescriptionVersion = 1;
std::string description_json(const Description& description);

/// Reads a description. `file` names it in messages. Fails for other JSON, and other versions.
Result<Description> read_description(std::string_view text, const std::string& file);

}  // namespace twill::emit
