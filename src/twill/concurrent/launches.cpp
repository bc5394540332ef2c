#include "twill/concurrent/launches.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "twill/concurrent/deciding.h"
#include "twill/concurrent/drivers.h"
#include "twill/concurrent/forms.h"
#include "twill/concurrent/guide.h"
#include "twill/concurrent/machine.h"
#include "twill/concurrent/noticed.h"
#include "twill/execute/bounds.h"
#include "twill/ir/loop.h"
#include "twill/ir/operands.h"

namespace twill::concurrent {
namespace {

using ir::OpKind;

constexpr std::int64_t kMostPrograms = 32;
constexpr std::int64_t kSomeInner = 64;
constexpr std::int64_t kFewInner = 8;
constexpr std::int64_t kSomeRows = 96;  ///< rows of a group, where a while loop goes over its tiles
/// Most steps of all trial runs together. A step with tiles counts as many steps without.
constexpr std::int64_t kMostStepsInAll = 2'000'000;
constexpr std::int64_t kStepsOfTiles = 20;
constexpr int kMostFailures = 8;
constexpr std::int64_t kSides = 2;  ///< different flags in an array that decides about branches
/// Integers that drive outer loops only, and inner iterations for which loaded bounds of outer
/// loops are made. The search takes the first number with which most loops over tiles go on.
constexpr double kOuter[] = {3, 12, 384, 1536, 2304, 3072, 4096};
constexpr std::int64_t kOuterTimes[] = {1, 16, 256};

/// Facts about runs of one launch beside their trip counts.
struct Seen {
  bool breaks = false;   ///< a run broke a rule
  bool divides = false;  ///< the last run divided by zero, and failed for that reason
  bool endless = false;  ///< the last run came to the limit of steps

  /// Whether the last run failed, and would also fail with more tiles.
  bool in_vain() const { return divides || endless; }
};

class Search {
 public:
  Search(const ir::Program& program, ir::OpId function, const execute::Launch& given,
         bool to_broken)
      : program_(program),
        function_(function),
        given_(given),
        to_broken_(to_broken),
        deciding_(deciding_ops(program, function)) {
    // A role may do its part of a tile without a loop. Its loop over tiles has as many iterations
    // as the loops over tiles of other roles, which hold loops.
    const auto counted = Forms(program, function).loops();
    std::set<std::size_t> over_tiles;
    for (const ir::Loop& loop : ir::loops(program, function)) {
      const auto found = counted.find(loop.op);
      if (loop.innermost) continue;
      over_tiles_.insert(loop.op);
      if (found != counted.end()) over_tiles.insert(found->second.form);
    }
    const bool draws = std::ranges::any_of(
        over_tiles_, [&](ir::OpId op) { return program.op(op).kind == OpKind::while_loop; });
    for (const ir::Loop& loop : ir::loops(program, function)) {
      const auto drivers = drivers_of(program, function, end_of(program, loop));
      const auto found = counted.find(loop.op);
      const bool over =
          found == counted.end() ? draws && loop.before : over_tiles.contains(found->second.form);
      const bool inner = loop.innermost && !over;
      if (inner && waits_inside(program, loop.op)) counted_.insert(loop.op);
      auto& into = inner ? inner_ : outer_;
      into.insert(drivers.begin(), drivers.end());
    }
    counters_ = counters_of(program, function);
    find_flat_loops();
  }

  Result<Launches> up_to(std::int64_t most) {
    Launches found;
    std::optional<Diagnostic> failure;
    int failures = 0;
    bool broken = false;
    choose_tiles();
    for (const std::int64_t value : values()) {
      if (is_spent()) break;
      execute::Launch launch = launch_with(value);
      Seen seen;
      const auto trips = trips_of(launch, seen);
      if (!trips) {
        failure = trips.error();
        if (!seen.divides && ++failures > kMostFailures) break;
        continue;
      }
      // A run that breaks a rule may end before its iterations: such a run is kept beside others.
      const bool first_broken = seen.breaks && !broken;
      broken = broken || seen.breaks;
      if (to_broken_ && seen.breaks && *trips <= most) return Launches{{*trips, launch}};
      if (first_broken || !found.contains(*trips)) found.emplace(*trips, std::move(launch));
      const bool is_fixed = inner_.empty() && launch_with(1).arrays.empty();
      if (*trips > most || is_fixed) break;
    }
    if (found.empty() && failure) return tl::unexpected(*std::move(failure));
    const bool in_vain = std::ranges::none_of(found, [](const auto& it) { return it.first > 0; });
    if (in_vain && is_spent() && !broken && most > 0) return gave_up();
    add_without_iteration(found, broken);
    add_larger_grids(found, most, broken);
    add_several_tiles(found, most);
    add_more_tiles(found);
    std::erase_if(found, [&](const auto& entry) { return entry.first > most; });
    return found;
  }

 private:
  std::int64_t most_steps() const { return kMostStepsInAll / (to_broken_ ? 2 : 1); }
  bool is_spent() const { return steps_ > most_steps(); }

  tl::unexpected<Diagnostic> gave_up() const {
    return fail(ir::text_location(program_, function_),
                "no arguments were found for which the roles make an iteration: the search ends "
                "after " +
                    std::to_string(most_steps()) + " steps of runs that are tried out",
                "choose other values: --arg NAME=VALUE, --grid X,Y,Z");
  }

  /// Finds integers that drive the number of tiles of a loop over all tiles' iterations.
  void find_flat_loops() {
    const auto guide = make_guide(program_, function_, 0);
    if (!guide) return;
    for (const auto& [loop, wrap] : guide->wraps) {
      const ir::ValueId last = program_.op(wrap.condition).operands[1];
      in_tiles_.merge(drivers_of(program_, function_, {last}));
      of_tiles_.merge(
          drivers_of(program_, function_, end_of(program_, *ir::as_loop(program_, loop))));
    }
    std::erase_if(of_tiles_, [&](const std::string& name) { return in_tiles_.contains(name); });
  }

  /// Looks for a number of tiles with which the first CTA does at least two tiles, in as many loops
  /// over tiles as possible. Loops over groups and over the tiles of a group both count.
  void choose_tiles() {
    if (outer_.empty()) return;
    double best = kOuter[0];
    std::int64_t best_times = kOuterTimes[0];
    std::size_t most = 0;
    for (const double tiles : kOuter) {
      for (const std::int64_t times : kOuterTimes) {
        tiles_ = tiles;
        times_ = times;
        const bool again = times > kOuterTimes[0] && launch_with(kSomeInner).arrays.empty();
        const bool enough = most == over_tiles_.size() || steps_ > kMostStepsInAll / 4;
        if (again || enough) break;
        const std::size_t several = loops_with_several_tiles();
        if (several <= most) continue;
        most = several;
        best = tiles;
        best_times = times;
      }
    }
    tiles_ = best;
    times_ = best_times;
  }

  std::size_t loops_with_several_tiles() const {
    Seen ignored;
    auto made = trips_in(launch_with(kSomeInner), {0, 0, 0}, ignored);
    // One integer may drive both loops: many tiles of many iterations take too long.
    const bool too_long = !made && ignored.endless && !ignored.divides;
    if (too_long) made = trips_in(launch_with(kFewInner), {0, 0, 0}, ignored);
    if (!made) return 0;
    return static_cast<std::size_t>(std::ranges::count_if(
        *made, [&](const auto& it) { return over_tiles_.contains(it.first) && it.second > 1; }));
  }

  static std::vector<std::int64_t> values() {
    std::vector<std::int64_t> values;
    for (std::int64_t value = 0; value < 16; ++value) values.push_back(value);
    for (std::int64_t value = 16; value < 1024; value += 16) values.push_back(value);
    for (std::int64_t value = 1024; value <= 8192; value += 64) values.push_back(value);
    return values;
  }

  execute::Launch launch_with(std::int64_t value) const {
    execute::Launch launch = given_;
    for (const std::string& name : outer_) launch.arguments.try_emplace(name, tiles_);
    for (const std::string& name : inner_) {
      if (!given_.arguments.contains(name)) launch.arguments[name] = static_cast<double>(value);
    }
    // Where only arrays drive the inner loops, the number is the trip count itself.
    const std::int64_t times = inner_.empty() ? value : 1;
    execute::Values zeros, counts;
    zeros.kind = counts.kind = execute::Values::Kind::constant;
    counts.first = static_cast<double>(times);
    for (const ir::OpId loop : counted_) {
      execute::fill_bounds(program_, loop, times, launch);
      fill_end(loop, counts, launch);
    }
    for (const std::string& name : counters_) launch.arrays.try_emplace(name, zeros);
    fill_outer_bounds(launch);
    for (const ir::Loop& loop : ir::loops(program_, function_)) {
      if (!loop.outer) execute::fill_conditions(program_, loop.op, kSides, launch);
    }
    return launch;
  }

  /// Fills arrays of integers on which the end of a while loop depends.
  void fill_end(ir::OpId loop, const execute::Values& values, execute::Launch& launch) const {
    const auto it = ir::as_loop(program_, loop);
    if (!it || it->induction) return;
    const auto end = end_of(program_, *it);
    for (const ir::ValueId array : execute::arguments_behind(program_, function_, end)) {
      const ir::Type type = ir::type_of(program_, array);
      const bool counts =
          type->kind == ir::TypeKind::pointer && type->element->kind == ir::TypeKind::integer;
      if (counts && !counters_.contains(program_.value(array).name)) {
        launch.arrays.try_emplace(program_.value(array).name, values);
      }
    }
  }

  /// Adds launches with one integer at 0 where all integers at 0 fail, as with an integer that
  /// divides another.
  void add_without_iteration(Launches& found, bool broken) const {
    for (const std::string& name : inner_) {
      if (given_.arguments.contains(name) || is_spent()) continue;
      execute::Launch launch = launch_with(1);
      launch.arguments[name] = 0;
      Seen seen;
      const auto trips = trips_of(launch, seen);
      const bool first_broken = seen.breaks && !broken;
      if (!trips || *trips > 0 || (found.contains(0) && !first_broken)) continue;
      found.emplace(0, std::move(launch));
      broken = broken || seen.breaks;
    }
  }

  /// Fills arrays of integers that drive loops over tiles with a number, twice the number, three
  /// times the number and so on. So every group has tiles, whether the integers are counts or ends.
  void fill_outer_bounds(execute::Launch& launch) const {
    execute::Launch filled = launch;
    execute::Values several;
    several.first = static_cast<double>(kSomeRows * times_);
    for (const ir::OpId loop : over_tiles_) {
      execute::fill_bounds(program_, loop, times_, filled);
      fill_end(loop, several, filled);
    }
    for (auto& [name, values] : filled.arrays) {
      const bool made = !launch.arrays.contains(name);
      if (made) values.kind = execute::Values::Kind::counted;
      if (made) values.second = values.first;
    }
    launch.arrays = std::move(filled.arrays);
  }

  /// Adds larger grids where later CTAs make more iterations than earlier CTAs, as with causal
  /// masks. The largest is the grid with the most iterations.
  void add_larger_grids(Launches& found, std::int64_t most, bool broken) const {
    const std::int64_t largest = values().back();
    execute::Launch launch = launch_with(largest);
    for (std::int64_t x = launch.programs[0] + 1; x <= kMostPrograms; ++x) {
      const bool enough = found.rbegin() != found.rend() && found.rbegin()->first >= most;
      if (enough || is_spent()) return;
      launch.programs[0] = x;
      Seen seen;
      const auto trips = trips_of(launch, seen);
      const bool first_broken = seen.breaks && !broken;
      if (!trips || (found.contains(*trips) && !first_broken)) return;
      found.emplace(*trips, launch);
      if (first_broken) return;
    }
  }

  /// Adds a launch of few iterations in each of so many tiles that rings over tiles come round.
  void add_more_tiles(Launches& found) const {
    const auto some = std::ranges::find_if(found, [](const auto& it) { return it.first > 0; });
    if (some == found.end() || over_tiles_.empty() || is_spent()) return;
    const std::int64_t wanted = 2 * deepest_ring(program_, function_) + 1;
    Seen ignored;
    const std::int64_t had = tiles_in(some->second, ignored);
    if (had == 0 || had >= wanted || ignored.breaks) return;
    execute::Launch launch = some->second;
    for (const std::string& name : outer_) {
      if (given_.arguments.contains(name) || inner_.contains(name)) continue;
      launch.arguments[name] = tiles_ * static_cast<double>((wanted + had - 1) / had);
    }
    if (tiles_in(launch, ignored) > had || ignored.breaks) found.emplace(some->first, launch);
  }

  /// Tiles of the first CTA in the loop over tiles with the most of them; 0 if the run fails.
  std::int64_t tiles_in(const execute::Launch& launch, Seen& seen) const {
    const auto made = trips_in(launch, {0, 0, 0}, seen);
    std::int64_t most = 0;
    for (const ir::OpId loop : over_tiles_) {
      if (made && made->contains(loop)) most = std::max(most, made->at(loop));
    }
    return most;
  }

  /// Adds launches of several tiles where one loop goes over the iterations of all tiles. Takes the
  /// first number of `kOuter` that gives several tiles, and then the next numbers with one
  /// iteration in each tile.
  void add_several_tiles(Launches& found, std::int64_t most) const {
    if (of_tiles_.empty()) return;
    bool several = false;
    for (const double tiles : kOuter) {
      execute::Launch launch = given_;
      for (const std::string& name : of_tiles_) launch.arguments.try_emplace(name, tiles);
      std::optional<std::int64_t> before;
      for (const std::int64_t value : values()) {
        for (const std::string& name : in_tiles_) {
          if (!given_.arguments.contains(name)) launch.arguments[name] = static_cast<double>(value);
        }
        Seen ignored;
        const auto trips = trips_of(launch, ignored);
        const bool one_tile = trips && *trips == 1;  // the first number is the number of tiles
        if (!trips || *trips > most || one_tile || is_spent()) break;
        if (!before || *trips > *before) found.emplace(*trips, launch);
        before = *trips;
        if (several && *trips > 0) break;
      }
      several = several || before > 0;
    }
  }

  /// Counts the trips of the first and the last CTA; returns the larger number.
  Result<std::int64_t> trips_of(const execute::Launch& launch, Seen& seen) const {
    const auto& grid = launch.programs;
    TWILL_TRY(const std::int64_t first, trips_of(launch, {0, 0, 0}, seen));
    if (grid == std::array<std::int64_t, 3>{1, 1, 1}) return first;
    TWILL_TRY(const std::int64_t last,
              trips_of(launch, {grid[0] - 1, grid[1] - 1, grid[2] - 1}, seen));
    return std::max(first, last);
  }

  Result<std::int64_t> trips_of(const execute::Launch& launch,
                                std::array<std::int64_t, 3> program_id, Seen& seen) const {
    TWILL_TRY(const auto made, trips_in(launch, program_id, seen));
    std::int64_t most = 0;
    for (const auto& [loop, trips] : made) {
      if (counted_.contains(loop)) most = std::max(most, trips);
    }
    return most;
  }

  using Trips = std::map<ir::OpId, std::int64_t>;

  /// Tiles that a run computes.
  enum class Computed : unsigned char { none, deciding, all };

  /// Runs a launch with as few tiles as possible: with none, then with the tiles that decide, then
  /// with all.
  Result<Trips> trips_in(const execute::Launch& launch, std::array<std::int64_t, 3> program_id,
                         Seen& seen) const {
    if (!some_decide_) {
      const auto trips = trips_with(Computed::none, launch, program_id, seen);
      if (trips || seen.in_vain()) return trips;
    }
    if (deciding_) {
      const auto trips = trips_with(Computed::deciding, launch, program_id, seen);
      some_decide_ = some_decide_ || trips.has_value();
      if (trips || seen.in_vain()) return trips;
    }
    return trips_with(Computed::all, launch, program_id, seen);
  }

  /// Runs a launch with these tiles. A run that exceeds the limit of steps is not repeated with
  /// more tiles: that takes as many steps and far longer.
  Result<Trips> trips_with(Computed tiles, const execute::Launch& launch,
                           std::array<std::int64_t, 3> program_id, Seen& seen) const {
    seen.divides = seen.endless = false;
    execute::Memory memory(1);
    TWILL_TRY(const auto arguments, execute::arguments_of(program_, function_, launch, memory));
    Findings found;
    Options options;
    options.tiles = tiles == Computed::all;
    if (tiles == Computed::deciding) options.deciding = &*deciding_;
    options.most_steps = kMostStepsOfTrial;
    options.checked = checked_;
    Machine machine(program_, memory, launch, program_id, options, found);
    const auto ran = machine.run(function_, arguments);
    steps_ += machine.steps() * (options.tiles ? kStepsOfTiles : 1);
    seen.divides = machine.divided_by_zero();
    seen.breaks = seen.breaks || !found.empty();
    checked_ = checked_ || ran.has_value();
    seen.endless = machine.steps() > kMostStepsOfTrial;
    if (!ran) return tl::unexpected(ran.error());
    return machine.trips();
  }

  const ir::Program& program_;
  ir::OpId function_;
  const execute::Launch& given_;
  bool to_broken_;  ///< the search ends with a run that breaks a rule
  std::set<ir::OpId> counted_;
  std::set<std::string> inner_;
  std::set<std::string> outer_;
  std::set<std::string> in_tiles_;  ///< integers that drive the iterations of a tile
  std::set<std::string> of_tiles_;  ///< integers that drive the number of tiles
  std::set<ir::OpId> over_tiles_;
  std::set<std::string> counters_;
  double tiles_ = kOuter[0];
  std::int64_t times_ = kOuterTimes[0];
  std::optional<std::set<ir::OpId>> deciding_;
  mutable bool some_decide_ = false;  ///< only the tiles that decide give an answer
  mutable bool checked_ = false;      ///< types are known to fit
  mutable std::int64_t steps_ = 0;    ///< steps of all runs so far
};

}  // namespace

bool has_roles(const ir::Program& program, ir::OpId function) {
  const auto ops = ir::walk(program, function);
  return std::any_of(ops.begin(), ops.end(),
                     [&](ir::OpId op) { return program.op(op).kind == OpKind::warp_roles; });
}

std::int64_t deepest_ring(const ir::Program& program, ir::OpId function) {
  std::int64_t deepest = 0;
  for (const ir::OpId id : ir::walk(program, function)) {
    const ir::Op& op = program.op(id);
    if (op.kind != OpKind::barrier_init) continue;
    const auto barrier = ir::operand_in(op, ir::Role::barrier);
    const ir::Op* slot = barrier ? ir::defining_op(program, *barrier) : nullptr;
    if (slot == nullptr) continue;
    const bool indexed = slot->kind == OpKind::buffer_index && !slot->operands.empty();
    const ir::Type type = ir::type_of(program, indexed ? slot->operands[0] : *barrier);
    if (!type->shape.empty()) deepest = std::max(deepest, type->shape[0]);
  }
  return deepest;
}

Result<Launches> launches_up_to(const ir::Program& program, ir::OpId function,
                                const execute::Launch& given, std::int64_t most, bool to_broken) {
  return Search(program, function, given, to_broken).up_to(most);
}

}  // namespace twill::concurrent
