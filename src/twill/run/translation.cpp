#include "twill/run/translation.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "twill/concurrent/forms.h"
#include "twill/concurrent/guide.h"
#include "twill/concurrent/noticed.h"
#include "twill/ir/loop.h"
#include "twill/ir/operands.h"
#include "twill/ir/passing.h"
#include "twill/run/positions.h"
#include "twill/run/role_steps.h"

namespace twill::run {
namespace {

using concurrent::Frame;
using ir::OpKind;

constexpr std::int64_t kLongestPeriod = 256;
/// Trips of loops other than the planned loop: odd, so that these loops change the phase of every
/// ring.
constexpr std::int64_t kOtherTrips = 3;

/// Windows after which slots and phases of all rings are the same again.
std::int64_t period_of(const plan::Plan& plan) {
  std::int64_t period = 1;
  for (const plan::Channel& channel : plan.channels) {
    period = std::lcm(period, std::int64_t{2} * channel.depth);
  }
  for (const plan::Buffer& buffer : plan.buffers) {
    period = std::lcm(period, std::int64_t{buffer.depth});
  }
  return period;
}

/// Windows after which slot and phase of each single ring are the same again: the most of any ring.
std::int64_t longest_lap(const plan::Plan& plan) {
  std::int64_t lap = 1;
  for (const plan::Channel& channel : plan.channels) {
    lap = std::max(lap, std::int64_t{2} * channel.depth);
  }
  for (const plan::Buffer& buffer : plan.buffers) lap = std::max<std::int64_t>(lap, buffer.depth);
  return lap;
}

std::int64_t longest_spread(const plan::Plan& plan) {
  std::int64_t spread = 0;
  for (const plan::Role& role : plan.roles) {
    spread = std::max<std::int64_t>(spread, role.sections.spread);
  }
  return spread;
}

/// Number of loops around the planned loop in the kernel's text. Some op of the plan is in no other
/// loop.
int loops_over_tiles(const Translated& what) {
  int fewest = std::numeric_limits<int>::max();
  for (const extract::OpOrigin& origin : what.origins) {
    for (const extract::Source& source : origin.sources) {
      const auto ops = around(what.kernel, source.op);
      const auto loops = std::count_if(ops.begin(), ops.end(), [&](ir::OpId op) {
        return ir::is_loop(what.kernel.op(op).kind);
      });
      fewest = std::min(fewest, static_cast<int>(loops) - 1);  // without the planned loop
    }
  }
  return std::max(1, fewest);
}

/// Places of a kernel's products other than in a loop of a tile.
struct ProductPlaces {
  bool in_no_loop = false;      ///< in no loop, or only in loops over tiles
  std::set<ir::OpId> branches;  ///< branches with products, within a loop or in none
};

/// `walks`: number of loops over tiles.
ProductPlaces places_of_products(const ir::Program& kernel, int walks) {
  ProductPlaces places;
  for (const ir::OpId function : ir::functions(kernel)) {
    for (const ir::OpId id : ir::walk(kernel, function)) {
      if (ir::class_of(kernel.op(id).kind) != ir::OpClass::product) continue;
      const auto ops = around(kernel, id);
      const auto loops = std::count_if(
          ops.begin(), ops.end(), [&](ir::OpId op) { return ir::is_loop(kernel.op(op).kind); });
      places.in_no_loop = places.in_no_loop || loops <= walks;
      for (const ir::OpId branch : branches_around(kernel, id)) places.branches.insert(branch);
    }
  }
  return places;
}

/// Whether an integer is computed from a loaded value.
bool is_loaded(const ir::Program& program, ir::ValueId value) {
  std::vector<ir::ValueId> todo{value};
  std::set<ir::ValueId> seen;
  while (!todo.empty()) {
    const ir::ValueId next = todo.back();
    todo.pop_back();
    if (!seen.insert(next).second) continue;
    const ir::Op* op = ir::defining_op(program, next);
    if (op != nullptr && op->kind == OpKind::load) return true;
    concurrent::add_sources(program, next, todo);
  }
  return false;
}

class Comparer {
 public:
  explicit Comparer(const Translated& what)
      : what_(what), program_(what.module), period_(period_of(what.plan)) {
    if (what.plan.kernel->tiles == plan::Tiles::program_loop) walks_ = loops_over_tiles(what);
    find_helpers();
    places_ = places_of_products(what.kernel, walks_);
    if (!places_.branches.empty()) find_branches();
  }

  Result<TranslationCheck> compare() {
    TranslationCheck made;
    TWILL_TRY(guide_, concurrent::make_guide(program_, what_.function, 0));
    guide_.more_than.clear();  // also trip counts that no arguments can make
    TWILL_TRY_VOID(check_ends());
    const std::map<std::size_t, std::int64_t> counted = planned_loops();
    if (counted.empty()) return made;
    const auto known = counted.find(guide_.zero);
    if (known != counted.end() && counted.size() == 1) {  // the text has a constant trip count
      TWILL_TRY(made.difference, compare_with(counted, known->second));
      made.most = known->second;
      made.every_trip = compared_ && made.difference.empty();
      return made;
    }
    // Two laps tell each ring from its plan, where the text computes rings apart from each other.
    const std::int64_t spread = longest_spread(what_.plan), lap = longest_lap(what_.plan);
    const std::int64_t most = spread + std::min(period_, kLongestPeriod) + 1;
    const auto enough =
        2 * lap < period_ ? std::optional(spread + 2 * lap + 1) : std::optional<std::int64_t>();
    for (std::int64_t trips = 0; trips <= most; ++trips) {
      TWILL_TRY(made.difference, compare_with(counted, trips));
      if (!made.difference.empty() || !compared_) return made;
      made.most = trips;
      made.every_trip = trips == enough && each_repeats_itself(lap, trips - 2 * lap);
      if (made.every_trip) return made;
    }
    made.every_trip = has_compared_all(made.most) && repeats_itself();
    return made;
  }

 private:
  /// Quantities of the planned loop, each with the number that is added to get the trips. Roles
  /// share one quantity, or each role has its own where it loads the number of trips.
  using Counted = std::map<std::size_t, std::int64_t>;

  /// Quantities of the first loop in which a role of the plan waits for another role. A role
  /// without a loop of this quantity adds its own first loop with a loaded bound. Without such
  /// waits: quantities of the first loop with products.
  Counted planned_loops() const {
    Counted found = loops_with(OpKind::barrier_wait);
    return found.empty() ? loops_with(OpKind::wgmma) : found;
  }

  /// Quantities of the first loops that have ops of that kind.
  Counted loops_with(OpKind wanted) const {
    Counted found;
    std::map<std::size_t, Counted> by_role;
    std::map<std::size_t, std::size_t> first;
    for (const auto& [op, loop] : guide_.loops) {
      const auto ops = ir::walk(program_, op);
      const auto count = [&](OpKind kind) {
        return std::count_if(ops.begin(), ops.end(), [&](ir::OpId inner) {
          return program_.op(inner).kind == kind &&
                 !has_own_barrier(program_, what_.function, inner);
        });
      };
      if (count(OpKind::for_loop) > 1 || count(wanted) == 0) continue;
      const std::size_t role = concurrent::role_of(program_, op);
      if (plan_role(role) == nullptr) continue;
      const auto lower = concurrent::known_integer(program_, *ir::as_loop(program_, op)->lower);
      if (!lower || loop.step != 1) continue;
      by_role[role].emplace(loop.form, *lower - loop.first);
      if (is_loaded(program_, *ir::as_loop(program_, op)->upper)) first.emplace(role, loop.form);
      if (found.empty()) found.emplace(loop.form, *lower - loop.first);
    }
    for (const auto& [role, loops] : by_role) {
      const bool shares = std::any_of(loops.begin(), loops.end(),
                                      [&](const auto& it) { return found.contains(it.first); });
      const auto own = first.find(role);
      if (!shares && own != first.end()) found.emplace(own->second, loops.at(own->second));
    }
    return found;
  }

  /// Fails where a loop ends by a number that a role draws, and the end follows from no comparison
  /// of that number.
  Result<void> check_ends() const {
    for (const auto& [op, loop] : guide_.whiles) {
      const auto end = concurrent::condition_of(program_, op);
      const bool asked = end && guide_.asked_ends.contains(*end);
      if (asked || guide_.idle.contains(op) || guide_.going_on.contains(op)) continue;
      return fail(ir::text_location(program_, op),
                  "cannot be compared: " + program_.op(op).name + " ends by a number that is drawn",
                  "`twill verify` follows it");
    }
    return {};
  }

  /// The largest number with which loops over tiles compare a draw, at the question about `number`.
  /// All these loops go on with a larger draw.
  std::optional<std::int64_t> least_drawn(const concurrent::OpenNumber& number) const {
    std::optional<std::int64_t> least;
    if (!number.scope || number.scope->first != concurrent::kDrawn) return least;
    for (const auto& [loop, compared] : guide_.going_on) {
      if (compared.first == number.form) least = std::max(least.value_or(0), compared.second);
    }
    return least;
  }

  /// Finds buffers and mbarriers that helpers use, which are outside of the plan.
  void find_helpers() {
    for (const ir::OpId id : ir::walk(program_, what_.function)) {
      const std::size_t role = concurrent::role_of(program_, id);
      if (role == 0 || plan_role(role) != nullptr) continue;
      for (const ir::ValueId operand : program_.op(id).operands) {
        const auto from = ir::captured(program_, operand);
        if (from) of_helpers_.insert(*from);
      }
    }
  }

  bool holds(ir::OpId op, OpKind kind) const {
    const auto ops = ir::walk(program_, op);
    return std::any_of(ops.begin(), ops.end(),
                       [&](ir::OpId inner) { return program_.op(inner).kind == kind; });
  }

  /// Finds branches of the kernel in the module: these have products and no mbarriers. The branch
  /// between few iterations and the loop is left out: it has products in a loop.
  void find_branches() {
    for (const ir::OpId id : ir::walk(program_, what_.function)) {
      if (program_.op(id).kind != OpKind::branch) continue;
      if (!holds(id, OpKind::wgmma) || holds(id, OpKind::barrier_wait)) continue;
      const auto ops = ir::walk(program_, id);
      const bool chooses = std::any_of(ops.begin(), ops.end(), [&](ir::OpId inner) {
        return ir::is_loop(program_.op(inner).kind) && holds(inner, OpKind::wgmma);
      });
      if (!chooses) branches_.insert(id);
    }
  }

  const plan::Role* plan_role(std::size_t number) const {
    if (number >= what_.roles.size()) return nullptr;
    const auto& roles = what_.plan.roles;
    const auto found = std::find_if(roles.begin(), roles.end(), [&](const plan::Role& role) {
      return role.name == what_.roles[number];
    });
    return found == roles.end() ? nullptr : &*found;
  }

  Result<std::string> compare_with(const Counted& counted, std::int64_t trips) {
    for (const bool others : {true, false}) {
      TWILL_TRY(std::string difference, run(counted, trips, others));
      if (compared_) return difference;
    }
    return std::string();
  }

  /// Follows a run in which the planned loop makes `trips` trips. `others`: the answer to all other
  /// questions, for each loop as often as it makes trips.
  Result<std::string> run(const Counted& counted, std::int64_t trips, bool others) {
    Comparison all{what_, trips, walks_, places_.in_no_loop, branches_, places_.branches,
                   {},    {},    {}};
    std::map<std::size_t, RoleSteps> roles;
    std::map<const execute::Tile*, std::int64_t> counts;
    std::string difference;
    std::set<std::int64_t> draws;  // draws by which loops go on
    carried_.clear();
    const auto watch = [&](std::size_t number, const concurrent::Role& state, ir::OpId id) {
      if (!difference.empty()) return;
      note_setup(state, id, all, counts);
      note_carried(number, state, id);
      const bool inside =
          std::any_of(state.frames.begin(), state.frames.end(), [](const Frame& it) {
            return it.kind == Frame::Kind::roles || it.kind == Frame::Kind::partition;
          });
      const plan::Role* const role = plan_role(number);
      if (!inside || role == nullptr) return;
      auto& steps = roles.try_emplace(number, all, *role).first->second;
      const std::string how = steps.take(state, id);
      if (!how.empty()) {
        difference =
            place(id) + begin(*role, trips) + how + "; the text has " + program_.op(id).name;
      }
    };
    execute::Memory memory(1);
    const execute::Launch launch;
    concurrent::Findings findings;
    concurrent::Options options;
    options.tiles = false;
    options.guide = &guide_;
    options.watch = watch;
    concurrent::Machine machine(program_, memory, launch, {}, options, findings);
    TWILL_TRY_VOID(machine.start(what_.function));
    while (difference.empty()) {
      TWILL_TRY(const auto question, machine.follow());
      if (!question) break;
      const concurrent::OpenNumber number = machine.quantity(*question);
      const auto planned = counted.find(number.form);
      const auto drawn = least_drawn(number);
      if (drawn) draws.insert(number.scope->second);
      bool more = others && question->threshold < kOtherTrips;
      if (planned != counted.end()) {
        more = trips - planned->second > question->threshold;
      } else if (drawn) {  // a tile, or the number behind all tiles
        const bool goes_on = others && static_cast<std::int64_t>(draws.size()) <= kOtherTrips;
        more = goes_on || question->threshold < *drawn;
      }
      machine.answer(*question, more);
    }
    compared_ = !roles.empty();
    return difference.empty() ? difference_at_end(all, roles, findings, counts) : difference;
  }

  /// The first difference between the end of a run and the plan; empty: none. Checks missing steps,
  /// roles that wait, buffers that no step writes, and arrivals.
  std::string difference_at_end(const Comparison& all, std::map<std::size_t, RoleSteps>& roles,
                                const concurrent::Findings& findings,
                                const std::map<const execute::Tile*, std::int64_t>& counts) const {
    for (auto& [number, steps] : roles) {
      const std::string how = steps.end();
      if (how.empty()) continue;
      return place(what_.function) + begin(*plan_role(number), all.trips) + how +
             "; the text has nothing more";
    }
    for (const concurrent::Finding& found : findings.all()) {
      const bool ends = found.rule == concurrent::Rule::deadlock;  // between the steps of the plan
      const bool of_setup = found.rule == concurrent::Rule::barrier;
      if (!ends && !of_setup) continue;
      return place(found.op) + "with " + std::to_string(all.trips) +
             (all.trips == 1 ? " iteration, " : " iterations, ") + found.message;
    }
    for (const auto& [storage, op] : all.written_aside) {
      if (all.bindings.buffers_at(storage).empty()) continue;
      return place(op) + "no step of the plan writes that buffer here; the text has " +
             program_.op(op).name;
    }
    if (all.bindings.miscounted(counts) != nullptr) {
      return place(what_.function) + "an mbarrier counts other arrivals than roles make";
    }
    return {};
  }

  /// Notes memory that helpers use, and the number of arrivals of mbarriers.
  void note_setup(const concurrent::Role& state, ir::OpId id, Comparison& all,
                  std::map<const execute::Tile*, std::int64_t>& counts) const {
    const ir::Op& op = program_.op(id);
    for (const ir::ValueId result : op.results) {
      if (!of_helpers_.contains(result)) continue;
      const auto* view = std::get_if<execute::View>(&state.values.value(result));
      if (view != nullptr) all.of_helpers.emplace(view->storage.get(), view->type_number());
    }
    if (op.kind != OpKind::barrier_init) return;
    const auto barrier = ir::operand_in(op, ir::Role::barrier);
    const auto* view =
        barrier ? std::get_if<execute::View>(&state.values.value(*barrier)) : nullptr;
    if (view != nullptr) counts[view->storage.get()] = op.count.value_or(0);
  }

  /// Notes the needed integers that a loop of the role carries to its next iteration.
  void note_carried(std::size_t number, const concurrent::Role& state, ir::OpId id) {
    const ir::Op& op = program_.op(id);
    if (op.kind == OpKind::for_loop) carried_[{number, id}].emplace_back();
    const auto around = op.kind == OpKind::yield ? ir::parent(program_, id) : std::nullopt;
    if (!around || program_.op(*around).kind != OpKind::for_loop) return;
    std::vector<std::int64_t> integers;
    for (const ir::ValueId value : carried_by(id)) {
      integers.push_back(state.values.integer(id, value).value_or(-1));
    }
    auto& entered = carried_[{number, *around}];
    if (entered.empty()) entered.emplace_back();
    entered.back().push_back(std::move(integers));
  }

  /// Whether no condition compares with more trips than `most`.
  bool has_compared_all(std::int64_t most) const {
    return std::all_of(guide_.conditions.begin(), guide_.conditions.end(),
                       [&](const auto& it) { return it.second.threshold < most; });
  }

  /// Whether the integers that loops carry are the same a period later. Precondition: the last run
  /// made at least a period's trips behind the longest prologue.
  bool repeats_itself() const {
    if (period_ > kLongestPeriod) return false;
    const auto period = static_cast<std::size_t>(period_);
    return all_rounds([&](ir::OpId /*loop*/, const Rounds& rounds) {
      return rounds.size() <= period ||
             std::equal(rounds.begin() + static_cast<std::ptrdiff_t>(period), rounds.end(),
                        rounds.begin());
    });
  }

  /// Whether the integers that loops carry are computed in groups that repeat themselves after at
  /// most `lap` iterations. Conditions may tell apart iterations below `most` only.
  bool each_repeats_itself(std::int64_t lap, std::int64_t most) const {
    const Positions positions(program_, what_.function, guide_);
    return positions.decide_apart(most) && all_rounds([&](ir::OpId loop, const Rounds& rounds) {
             const auto end = ir::terminator(program_, ir::as_loop(program_, loop)->body);
             return positions.repeat(carried_by(*end), rounds, static_cast<std::size_t>(lap));
           });
  }

  bool all_rounds(const std::function<bool(ir::OpId, const Rounds&)>& hold) const {
    for (const auto& [loop, entered] : carried_) {
      for (const Rounds& rounds : entered) {
        if (!hold(loop.second, rounds)) return false;
      }
    }
    return true;
  }

  /// Needed values that the end of an iteration hands to the next one.
  std::vector<ir::ValueId> carried_by(ir::OpId yield) const {
    std::vector<ir::ValueId> carried = program_.op(yield).operands;
    std::erase_if(carried, [&](ir::ValueId it) { return !guide_.needed[it.index()]; });
    return carried;
  }

  static std::string begin(const plan::Role& role, std::int64_t trips) {
    return role.name + ", with " + std::to_string(trips) +
           (trips == 1 ? " iteration: " : " iterations: ");
  }
  std::string place(ir::OpId op) const {
    return program_.file() + ":" + std::to_string(program_.op(op).line) + ": ";
  }

  const Translated& what_;
  const ir::Program& program_;
  std::int64_t period_;
  int walks_ = 0;
  ProductPlaces places_;
  std::set<ir::OpId> branches_;  ///< branches of the module with products
  std::set<ir::ValueId> of_helpers_;
  concurrent::Guide guide_;
  bool compared_ = false;  ///< the last run reached the roles
  /// Carried integers by role and loop, for each time that the role reached the loop.
  std::map<std::pair<std::size_t, ir::OpId>, std::vector<Rounds>> carried_;
};

}  // namespace

Result<TranslationCheck> compare_with_plan(const Translated& what) {
  return Comparer(what).compare();
}

}  // namespace twill::run
