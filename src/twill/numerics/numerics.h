#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "twill/execute/compare.h"
#include "twill/execute/interpreter.h"
#include "twill/extract/extract.h"
#include "twill/ir/program.h"
#include "twill/plan/plan.h"
#include "twill/simulate/simulate.h"

/// Runs a plan with real numbers. The kernel's ops are executed at the times of the simulated
/// machine, on values that lie at the plan's places. The results are compared with the kernel run
/// op by op in the order of its text. A missing wait, a slot overwritten too early, or a value read
/// at the wrong place shows as wrong numbers. Uses neither the proof nor the solver. Details:
/// docs/reference/simulation.md, "Numbers".
namespace twill::numerics {

/// Kernel, its planned loop, and the plan. All are borrowed.
struct Kernel {
  const ir::Program& program;
  ir::OpId loop;
  const plan::Plan& plan;
  std::span<const extract::OpOrigin> origins;  ///< origins of the plan's ops
};

struct Setting {
  execute::Launch launch;
  std::vector<std::array<std::int64_t, 3>> programs;  ///< ids of the CTAs to run, one after the
                                                      ///< other
  simulate::Setting run;  ///< of each run of the loop; trips are the program's, no listener
};

/// Array in global memory, after a run in the text's order and a run in the plan's.
struct Tensor {
  std::string name;  ///< name of the argument
  execute::Difference difference;
};

struct Comparison {
  std::vector<Tensor> tensors;           ///< arrays that either run writes
  std::int64_t runs = 0;                 ///< executions of the loop
  std::int64_t trips = 0;                ///< iterations of all executions
  std::vector<std::string> hazards;      ///< accesses to values that were missing, or changed
                                         ///< meanwhile: the first kMostHazards
  std::optional<simulate::Fault> fault;  ///< the simulated machine got stuck, so the runs do not
                                         ///< agree
};
inline constexpr std::size_t kMostHazards = 10;

/// Whether every element is equal (`execute::same_element`), without hazards or faults.
bool agrees(const Comparison& comparison);

/// Compares the plan's run with the text's. Fails, at the op's line, for an unknown op, and for fp8
/// sums that are promoted. Also fails if the loop's ops cannot be matched with the plan's. Such a
/// loop has a branch with work on both sides, or a branch that is hardly ever taken. Cost: twice
/// the arithmetic of the kernel on one core, in f32.
Result<Comparison> compare(const Kernel& kernel, const Setting& setting);

/// Counts the iterations of the loop in all its runs, as far as they are known without the loop's
/// work. Fails as `compare` does.
Result<std::int64_t> trips(const Kernel& kernel, const Setting& setting);

/// Prints the comparison: a line per tensor, and the verdict.
std::string to_text(const Comparison& comparison);

/// "version" of the JSON (docs/reference/simulation.md).
inline constexpr int kComparisonJsonVersion = 1;
std::string comparison_json(const Comparison& comparison);

}  // namespace twill::numerics
