#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace twill::gate {

/// Figures of `ptxas -v` for one function. Sizes in bytes.
struct FunctionReport {
  std::string name;  ///< mangled
  bool is_kernel = false;
  int registers = 0;  ///< of a kernel at entry; setmaxnreg changes them later
  int barriers = 0;   ///< named barriers reserved
  std::int64_t stack = 0;
  std::int64_t spill_stores = 0;
  std::int64_t spill_loads = 0;
  std::int64_t shared = 0;     ///< static shared memory
  bool has_sizes = false;      ///< whether the report has stack and spills
  bool has_registers = false;  ///< whether the report has the registers
};

/// A remark of ptxas beside its figures.
struct Remark {
  std::string code;  ///< such as "C7512"; empty if the remark has none
  std::string text;
};

struct PtxasReport {
  std::vector<FunctionReport> functions;
  std::vector<Remark> remarks;
};

/// Reads the output of nvcc -Xptxas -v, and skips unknown lines. Form: ptxas 12 and 13.
PtxasReport read_ptxas(std::string_view text);

/// Reasons why the kernels of this report must not be used; empty if they may be used. Reasons are
/// missing figures, as in a report that ends early; spilled registers and other local memory; wgmma
/// that ptxas serializes or waits for on its own; setmaxnreg that ptxas ignores (C7500 to C7519);
/// any other remark with a code, and any warning.
std::vector<std::string> refusals(const PtxasReport& report);

}  // namespace twill::gate
