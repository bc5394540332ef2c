#include "twill/driver/trip_counts.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "twill/driver/grid.h"
#include "twill/execute/trips.h"
#include "twill/ir/control_flow.h"
#include "twill/ir/loop.h"
#include "twill/ir/operands.h"

namespace twill::driver {
namespace {

using Grid = std::array<std::int64_t, 3>;

/// The ops of a function that decide how often a CTA runs the main loop. They compute the bounds of
/// this loop and of loops around it, and the conditions under which a CTA comes to it.
class Bounds {
 public:
  Bounds(const Kernel& kernel, const execute::Launch& launch)
      : program_(kernel.program), at_(kernel.choice.loop), launch_(launch) {}

  /// Reads the bounds. Fails as `trip_counts` does.
  Result<void> read() {
    function_ = ir::enclosing(program_, at_, ir::OpKind::function);
    TWILL_TRY_VOID(add_loop(at_));
    TWILL_TRY_VOID(add_surroundings());
    std::vector<ir::ValueId> todo;
    for (const ir::Loop& it : loops_) {
      for (const auto& bound : {it.lower, it.upper, it.step}) todo.push_back(*bound);
    }
    for (const Condition& it : conditions_) todo.push_back(it.value);
    for (const ir::ValueId bound : todo) axes_ |= axes_of(program_, bound);
    while (!todo.empty()) {
      const ir::ValueId value = todo.back();
      todo.pop_back();
      if (!seen_.insert(value).second) continue;
      TWILL_TRY_VOID(follow(value, todo));
    }
    for (const ir::OpId op : ir::walk(program_, *function_)) {
      if (ops_.contains(op)) order_.push_back(op);
    }
    TWILL_TRY(arguments_, execute::arguments_of(program_, *function_, launch_, memory_));
    return {};
  }

  Axes axes() const { return axes_; }

  Result<std::int64_t> trips(const Grid& program_id) {
    execute::Interpreter cta(program_, memory_, launch_, program_id);
    for (const auto& [id, value] : arguments_) cta.set(id, value);
    for (const ir::OpId op : order_) {
      TWILL_TRY_VOID(cta.step(op));
    }
    for (const Condition& it : conditions_) {
      TWILL_TRY(const std::int64_t holds, cta.integer(at_, it.value));
      if ((holds != 0) != it.when) return 0;
    }
    std::uint64_t all = 1;
    for (const ir::Loop& it : loops_) {
      TWILL_TRY(const std::int64_t lower, cta.integer(at_, *it.lower));
      TWILL_TRY(const std::int64_t upper, cta.integer(at_, *it.upper));
      TWILL_TRY(const std::int64_t step, cta.integer(at_, *it.step));
      if (step <= 0) return unknown("has no positive step");
      const std::uint64_t trips = execute::trips_of(lower, upper, step);
      if (trips > kMostTrips) return unknown("has more iterations than are counted");
      all *= trips;
      if (all > kMostTrips) return unknown("has more iterations than are counted");
    }
    return static_cast<std::int64_t>(all);
  }

 private:
  /// A condition that a CTA must meet to come to the loop.
  struct Condition {
    ir::ValueId value;
    bool when = true;
  };

  tl::unexpected<Diagnostic> unknown(const std::string& why) const {
    return fail(ir::text_location(program_, at_),
                "the loop " + why + ", so its trips are not known", "give them: --trips N");
  }

  Result<void> add_loop(ir::OpId at) {
    const auto loop = ir::as_loop(program_, at);
    if (!loop || !loop->lower || !loop->upper || !loop->step || !function_) {
      return unknown(at == at_ ? "is no loop that is counted" : "is in a loop that is not counted");
    }
    loops_.push_back(*loop);
    return {};
  }

  /// Adds the branches and loops around the loop, and the early returns before it.
  Result<void> add_surroundings() {
    ir::OpId op = at_;
    for (auto around = ir::parent(program_, op); around && *around != *function_;
         around = ir::parent(program_, op)) {
      const ir::Op& it = program_.op(*around);
      if (it.kind == ir::OpKind::branch) {
        const ir::RegionId region = program_.block(program_.op(op).block).region;
        conditions_.push_back({it.operands[0], region == it.regions[0]});
      } else {
        TWILL_TRY_VOID(add_loop(*around));
      }
      op = *around;
    }
    const auto returns = ir::returns_before(program_, op, ir::Leaving::may_act);
    if (returns.other) return unknown("is in one of several paths through the kernel");
    for (const ir::Exit& it : returns.exits) conditions_.push_back({it.condition, !it.when});
    return {};
  }

  Result<void> follow(ir::ValueId value, std::vector<ir::ValueId>& todo) {
    const std::optional<ir::OpId> by = program_.value(value).op;
    if (!by) return follow_argument(value);
    const ir::Op& op = program_.op(*by);
    const auto access = ir::memory_access(op);
    if ((access && access->reads) || !op.regions.empty()) {
      return unknown("has a bound, or a branch to it, that is known only when the kernel runs");
    }
    ops_.insert(*by);
    todo.insert(todo.end(), op.operands.begin(), op.operands.end());
    return {};
  }

  Result<void> follow_argument(ir::ValueId value) const {
    const auto arguments = ir::function_arguments(program_, *function_);
    if (std::find(arguments.begin(), arguments.end(), value) == arguments.end()) {
      return unknown("has a bound that changes around it");
    }
    const std::string& name = program_.value(value).name;
    if (launch_.arguments.contains(name)) return {};
    return fail(ir::text_location(program_, at_),
                "how often the loop runs depends on the argument '" + name + "'",
                "give it: --args " + name + "=VALUE");
  }

  const ir::Program& program_;
  ir::OpId at_;
  execute::Launch launch_;
  execute::Memory memory_{1};
  std::vector<ir::Loop> loops_;  ///< the main loop, and the loops around it
  std::vector<Condition> conditions_;
  std::optional<ir::OpId> function_;
  Axes axes_ = 0;
  std::set<ir::ValueId> seen_;
  std::set<ir::OpId> ops_;
  std::vector<ir::OpId> order_;
  std::map<ir::ValueId, execute::Value> arguments_;
};

}  // namespace

Result<std::vector<std::int64_t>> trip_counts(const Kernel& kernel, const execute::Launch& launch) {
  Bounds bounds(kernel, launch);
  TWILL_TRY_VOID(bounds.read());
  const Grid& grid = launch.programs;
  std::map<Grid, std::int64_t> known;  // by the program ids that matter; the others are 0
  std::vector<std::int64_t> trips;
  for (std::int64_t cta = 0; cta < grid[0] * grid[1] * grid[2]; ++cta) {
    Grid id = {cta % grid[0], cta / grid[0] % grid[1], cta / grid[0] / grid[1]};
    for (unsigned axis = 0; axis < 3; ++axis) {
      if ((bounds.axes() >> axis & 1U) == 0) id[axis] = 0;
    }
    auto found = known.find(id);
    if (found == known.end()) {
      TWILL_TRY(const std::int64_t count, bounds.trips(id));
      found = known.emplace(id, count).first;
    }
    trips.push_back(found->second);
  }
  return trips;
}

}  // namespace twill::driver
