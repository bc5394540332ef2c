#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Inline assembly, as far as roles notice it.
namespace twill::concurrent {

/// Something that an instruction does which other roles can notice.
struct AssemblyStep {
  enum class Kind : unsigned char {
    arrive,  ///< at a named barrier
    sync,    ///< the same, and waits for the phase to be complete
    fence,   ///< what threads wrote, the async proxy may read
    stored,  ///< bulk stores are done in global memory, whose order is taken for granted
  };
  Kind kind = Kind::fence;
  std::int64_t barrier = 0;
  std::int64_t threads = 0;  ///< that the barrier counts; 0: all of the CTA
};

struct Assembly {
  std::vector<AssemblyStep> steps;
  std::string unknown;  ///< an instruction of which nothing is known; empty: there is none
};

/// Reads PTX. Arithmetic in registers and accesses to global memory are no steps; what else may
/// touch memory or order threads is `unknown`.
Assembly read_assembly(std::string_view ptx);

}  // namespace twill::concurrent
