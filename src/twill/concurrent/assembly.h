#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Inline assembly: its steps that other roles can notice.
namespace twill::concurrent {

/// Action of an instruction that other roles can notice.
struct AssemblyStep {
  enum class Kind : unsigned char {
    arrive,  ///< at a named barrier
    sync,    ///< arrives at a named barrier, and waits until the phase is complete
    fence,   ///< makes writes of threads visible to the async proxy
    stored,  ///< waits until bulk stores are done in global memory, whose order the model assumes
  };
  Kind kind = Kind::fence;
  std::int64_t barrier = 0;
  std::int64_t threads = 0;  ///< number that the barrier counts; 0: all of the CTA
};

struct Assembly {
  std::vector<AssemblyStep> steps;
  std::string unknown;  ///< an instruction that the model does not know; empty: there is none
};

/// Reads PTX. Arithmetic in registers and accesses to global memory are no steps. Another
/// instruction may touch memory or order threads, and is `unknown`.
Assembly read_assembly(std::string_view ptx);

}  // namespace twill::concurrent
