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
  int registers = 0;  ///< at entry, of a kernel; setmaxnreg changes them later
  int barriers = 0;   ///< named barriers reserved
  std::int64_t stack = 0;
  std::int64_t spill_stores = 0;
  std::int64_t spill_loads = 0;
  std::int64_t shared = 0;     ///< static shared memory
  bool has_sizes = false;      ///< stack and spills were in the report
  bool has_registers = false;  ///< so were the registers
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

/// Reads what nvcc -Xptxas -v prints, and skips what it does not know. Form: ptxas 12 and 13.
PtxasReport read_ptxas(std::string_view text);

/// Reasons why the kernels of this report must not be used; empty if they may be: missing figures,
/// as in a report that ends early; spilled registers and other local memory; wgmma that ptxas
/// serializes or waits for on its own, setmaxnreg that it ignores (C7500 to C7519); any other
/// remark with a code, and any warning.
std::vector<std::string> refusals(const PtxasReport& report);

}  // namespace twill::gate
