#include "twill/run/reference.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "twill/execute/evaluate.h"
#include "twill/execute/trips.h"
#include "twill/ir/loop.h"
#include "twill/ir/program.h"
#include "twill/run/drivers.h"

namespace twill::run {
namespace {

using Ids = std::array<std::int64_t, 3>;

constexpr int kMostRuns = 8;  ///< most runs of a loop in another loop whose lengths are compared

/// All CTAs of a grid, x fastest.
template <class Visit>
Result<void> for_each_program(const Ids& grid, Visit visit) {
  for (std::int64_t z = 0; z < grid[2]; ++z) {
    for (std::int64_t y = 0; y < grid[1]; ++y) {
      for (std::int64_t x = 0; x < grid[0]; ++x) {
        TWILL_TRY_VOID(visit(Ids{x, y, z}));
      }
    }
  }
  return {};
}

}  // namespace

ir::ValueId argument(const Kernel& kernel, std::size_t number) {
  return ir::function_arguments(kernel.text, kernel.function)[number];
}

Result<std::unique_ptr<Reference>> refer(const Kernel& kernel, const execute::Launch& launch,
                                         std::uint64_t seed) {
  auto reference = std::make_unique<Reference>(seed);
  TWILL_TRY(const auto arguments,
            execute::arguments_of(kernel.text, kernel.function, launch, reference->memory));
  std::int64_t number = 0;
  TWILL_TRY_VOID(for_each_program(launch.programs, [&](const Ids& id) -> Result<void> {
    if (reference->accesses.conflict()) return {};
    reference->accesses.begin_program(number++);
    return execute::Interpreter(kernel.text, reference->memory, launch, id)
        .run(kernel.function, arguments);
  }));
  return reference;
}

Result<void> check_arguments(const Kernel& kernel, const execute::Launch& launch) {
  execute::Memory memory(0);
  TWILL_TRY_VOID(execute::arguments_of(kernel.text, kernel.function, launch, memory));
  return {};
}

Result<std::optional<std::int64_t>> most_trips(const Kernel& kernel, const execute::Launch& launch,
                                               std::uint64_t seed) {
  const ir::Program& program = kernel.planned;
  const auto function = ir::enclosing(program, kernel.loop, ir::OpKind::function);
  if (!function) return execute::cannot(program, kernel.loop, "is in no function");
  execute::Memory memory(seed);
  TWILL_TRY(const auto arguments, execute::arguments_of(program, *function, launch, memory));
  std::optional<std::int64_t> most;
  // Where no integer argument drives the loop, each of its runs may have another length.
  const int most_runs = drivers_of(kernel).bounds.empty() ? kMostRuns : 1;
  TWILL_TRY_VOID(for_each_program(launch.programs, [&](const Ids& id) -> Result<void> {
    execute::Interpreter interpreter(program, memory, launch, id);
    bool came = false;
    int runs = 0;
    interpreter.stand_in_for(kernel.loop, [&](const ir::Loop& loop) -> Result<void> {
      TWILL_TRY(const std::int64_t lower, interpreter.integer(loop.op, *loop.lower));
      TWILL_TRY(const std::int64_t upper, interpreter.integer(loop.op, *loop.upper));
      TWILL_TRY(const std::int64_t step, interpreter.integer(loop.op, *loop.step));
      if (step <= 0) return execute::cannot(program, loop.op, "has no positive step");
      constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
      const std::uint64_t trips = std::min(execute::trips_of(lower, upper, step), kMost);
      most = std::max(most.value_or(0), static_cast<std::int64_t>(trips));
      came = true;
      if (++runs == most_runs) return fail({}, "enough");  // later ops do not change the answer
      for (const ir::Carried& carried : loop.carried) {
        if (carried.result) interpreter.set(*carried.result, interpreter.value(carried.init));
      }
      return {};
    });
    const auto ran = interpreter.run(*function, arguments);
    if (!ran && !came) return tl::unexpected(ran.error());
    return {};
  }));
  return most;
}

}  // namespace twill::run
