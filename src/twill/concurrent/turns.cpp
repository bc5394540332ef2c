#include "twill/concurrent/turns.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "twill/concurrent/counted_values.h"
#include "twill/concurrent/deciding.h"
#include "twill/ir/operands.h"
#include "twill/ir/passing.h"

namespace twill::concurrent {

bool TurnedRing::moves() const { return by != 0 || std::ranges::find(flips, true) != flips.end(); }

namespace {

using ir::OpKind;
using Table = std::vector<std::int64_t>;  ///< as `CountedValue::table`

/// One requirement of an op on a turn of its counter.
struct Fact {
  enum class Kind : unsigned char { slot, wait, alike };
  Kind kind = Kind::alike;
  ir::OpId ring;
  Table slots;
  Table values;  ///< phases, or values that must not change; empty: phases do not change
};

/// Effect on one ring, put together from what is known of single slots.
class Merging {
 public:
  explicit Merging(std::int64_t slots) : slots_(slots), flips_(static_cast<std::size_t>(slots)) {}

  /// Notes where a slot moves; false if that contradicts what is known.
  bool moves(std::int64_t from, std::int64_t to) {
    if (from < 0 || to < 0 || from >= slots_ || to >= slots_) return false;
    const std::int64_t by = (to - from + slots_) % slots_;
    if (by_ && *by_ != by) return false;
    by_ = by;
    return true;
  }
  bool flips(std::size_t slot, bool flip) {
    if (flips_[slot] && *flips_[slot] != flip) return false;
    flips_[slot] = flip;
    return true;
  }
  /// Notes all that another group of counters does to the ring.
  bool joins(const Merging& other) {
    if (other.by_ && !moves(0, *other.by_)) return false;
    for (std::size_t slot = 0; slot < flips_.size(); ++slot) {
      if (other.flips_[slot] && !flips(slot, *other.flips_[slot])) return false;
    }
    return true;
  }
  TurnedRing made() const {
    TurnedRing ring{slots_, by_.value_or(0), {}};
    for (const auto& flip : flips_) ring.flips.push_back(flip.value_or(false));
    return ring;
  }

 private:
  std::int64_t slots_;
  std::optional<std::int64_t> by_;
  std::vector<std::optional<bool>> flips_;
};

using Effects = std::map<ir::OpId, Merging>;

/// Facts about one group of counters, and the loops that start a counter anew.
struct Group {
  const Shift* shift = nullptr;
  std::vector<Fact> facts;
  std::set<ir::OpId> begins;
  std::set<ir::OpId> rings;
  bool possible = true;
};

class Finder {
 public:
  Finder(const ir::Program& program, ir::OpId function, const Guide& guide)
      : program_(program),
        guide_(guide),
        ops_(ir::walk(program, function)),
        values_(program, guide) {
    for (const Shift& shift : guide.shifts) groups_.push_back({&shift, {}, {}, {}, true});
  }

  std::vector<Turn> find() {
    if (groups_.empty()) return {};
    for (const ir::OpId id : ops_) {
      if (!visit(id)) return {};
    }
    std::vector<Turn> turns;
    std::set<std::size_t> done;
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      if (groups_[group].rings.empty() || !done.insert(group).second) continue;
      const std::vector<std::size_t> together = connected(group);
      done.insert(together.begin(), together.end());
      if (auto turn = turn_of(together)) turns.push_back(*std::move(turn));
    }
    return turns;
  }

 private:
  bool needed(ir::ValueId value) const { return guide_.needed[value.index()]; }

  // --- facts

  /// Group of the counter from which the value is computed.
  Group* group_behind(ir::ValueId value) {
    const CountedValue& source = values_.of(value);
    return source.turns() ? &groups_[*values_.shift_of(source.root)] : nullptr;
  }

  void must_be_alike(ir::ValueId value) {
    Group* const group = group_behind(value);
    if (group == nullptr) return;
    if (values_.of(value).table.empty()) group->possible = false;
    group->facts.push_back({Fact::Kind::alike, {}, {}, values_.of(value).table});
  }

  /// Notes what the op requires; false if no turn can be found for this function.
  bool visit(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    for (const ir::ValueId result : op.results) {
      if (needed(result) && values_.of(result).kind == CountedValue::Kind::mixed) return false;
    }
    for (const ir::ValueId scalar : put_into_tile(program_, id)) {
      if (guide_.handed_on.is_followed(op.results[0]) && needed(scalar)) must_be_alike(scalar);
    }
    note_memory(id);
    if (op.kind == OpKind::buffer_index) {
      note_slot(op);
      return true;
    }
    if (op.kind == OpKind::barrier_wait && !note_wait(id)) return false;
    const auto phase = ir::operand_in(op, ir::Role::phase);
    for (const ir::ValueId value : deciding_operands(program_, id, guide_)) {
      if (value != phase) must_be_alike(value);
    }
    if (const auto loop = ir::as_loop(program_, id)) {
      note_loop(*loop);
    } else if (op.kind == OpKind::branch) {
      for (const auto& [from, to] : ir::passed_on(program_, id)) note_passed(from, to);
    } else if (op.kind == OpKind::jump || op.kind == OpKind::jump_if ||
               op.kind == OpKind::warp_roles || op.kind == OpKind::roles_end) {
      for (const ir::ValueId operand : op.operands) {
        if (needed(operand)) must_be_alike(operand);
      }
    }
    return true;
  }

  /// Notes allocations with uses other than their slots.
  void note_memory(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const auto ring = allocation_of(program_, op.operands[i]);
      if (!ring) continue;
      const bool by_slot = op.kind == OpKind::buffer_index && i == 0;
      const bool hands_on = op.kind == OpKind::warp_roles || op.kind == OpKind::warp_partitions ||
                            op.kind == OpKind::shared_end;
      if (!by_slot && !hands_on) whole_.insert(*ring);
    }
  }

  void note_slot(const ir::Op& op) {
    for (std::size_t i = 1; i < op.operands.size(); ++i) {
      Group* const group = group_behind(op.operands[i]);
      if (group == nullptr) continue;
      const auto ring = allocation_of(program_, op.operands[0]);
      const Table& table = values_.of(op.operands[i]).table;
      if (!ring || i > 1 || table.empty()) {
        group->possible = false;
        continue;
      }
      group->rings.insert(*ring);
      group->facts.push_back({Fact::Kind::slot, *ring, table, {}});
    }
  }

  bool note_wait(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    const auto barrier = ir::operand_in(op, ir::Role::barrier);
    const auto phase = ir::operand_in(op, ir::Role::phase);
    const auto place = barrier ? place_of(program_, *barrier) : std::nullopt;
    if (!place || !phase) return false;
    Group* const by_phase = group_behind(*phase);
    Group* const by_slot = place->slot ? group_behind(*place->slot) : nullptr;
    if (by_phase == nullptr && by_slot == nullptr) return true;
    Group* const group = by_phase != nullptr ? by_phase : by_slot;
    group->rings.insert(place->ring);
    Fact fact{Fact::Kind::wait, place->ring, {}, {}};
    if (by_slot != nullptr) {
      fact.slots = values_.of(*place->slot).table;
    } else {
      const auto slot = place->slot ? known_integer(program_, *place->slot) : 0;
      const bool fits = slot && *slot >= 0 && *slot < slots_of(program_, place->ring) &&
                        (place->slot || slots_of(program_, place->ring) == 1);
      if (!fits) return false;
      fact.slots.assign(static_cast<std::size_t>(2 * group->shift->period), *slot);
    }
    if (by_phase != nullptr) {
      fact.values = values_.of(*phase).table;
      moved_waits_.insert(id);
      const bool one =
          by_slot == nullptr || values_.of(*phase).root == values_.of(*place->slot).root;
      if (!one || fact.values.empty()) group->possible = false;
    }
    if (fact.slots.empty()) group->possible = false;
    group->facts.push_back(std::move(fact));
    return true;
  }

  void note_loop(const ir::Loop& loop) {
    if (const auto group = loop.induction ? values_.shift_of(*loop.induction) : std::nullopt) {
      groups_[*group].begins.insert(loop.op);
    }
    if (loop.lower && needed(*loop.lower)) must_be_alike(*loop.lower);
    for (const ir::Carried& carried : loop.carried) {
      const auto group = values_.shift_of(carried.argument);
      if (group && values_.of(carried.init).kind == CountedValue::Kind::same) {
        groups_[*group].begins.insert(loop.op);
      } else {
        note_passed(carried.init, carried.argument);
      }
      note_passed(carried.yielded, carried.argument);
      if (carried.result) note_passed(carried.argument, *carried.result);
    }
    for (const ir::Forwarded& it : loop.forwarded) {
      note_passed(it.passed, it.argument);
      note_passed(it.passed, it.result);
    }
  }

  void note_passed(ir::ValueId from, ir::ValueId to) {
    if (!needed(to)) return;
    const auto target = values_.shift_of(to);
    if (!target) return must_be_alike(from);
    const bool goes_on = values_.of(from).kind == CountedValue::Kind::counter &&
                         values_.shift_of(values_.of(from).root) == *target;
    if (!goes_on) groups_[*target].possible = false;
  }

  // --- turns

  std::vector<std::size_t> connected(std::size_t first) const {
    std::vector<std::size_t> found = {first};
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (std::size_t other = 0; other < groups_.size(); ++other) {
        if (std::ranges::find(found, other) != found.end()) continue;
        const auto& rings = groups_[found[i]].rings;
        const bool shares = std::ranges::any_of(
            groups_[other].rings, [&](ir::OpId ring) { return rings.contains(ring); });
        if (shares) found.push_back(other);
      }
    }
    return found;
  }

  /// Effects of a turn that adds `by` to the counters of a group.
  std::optional<Effects> effects(const Group& group, std::int64_t by) const {
    Effects made;
    const auto period = static_cast<std::size_t>(group.shift->period);
    for (const Fact& fact : group.facts) {
      for (std::size_t i = 0; i < period; ++i) {
        const std::size_t then = i + static_cast<std::size_t>(by);
        const bool known = !fact.values.empty();
        if (fact.kind == Fact::Kind::alike) {
          if (!known || fact.values[i] != fact.values[then]) return std::nullopt;
          continue;
        }
        Merging& ring = made.try_emplace(fact.ring, slots_of(program_, fact.ring)).first->second;
        if (!ring.moves(fact.slots[i], fact.slots[then])) return std::nullopt;
        const bool differs = known && ((fact.values[i] ^ fact.values[then]) & 1) != 0;
        const auto slot = static_cast<std::size_t>(fact.slots[i]);
        if (fact.kind == Fact::Kind::wait && !ring.flips(slot, differs)) return std::nullopt;
      }
    }
    return made;
  }

  /// Joins the effects of another group; false if they contradict each other.
  static bool join(Effects& all, const Effects& more) {
    return std::ranges::all_of(more, [&](const auto& it) {
      return all.try_emplace(it.first, it.second).first->second.joins(it.second);
    });
  }

  std::optional<Turn> turn_of(const std::vector<std::size_t>& together) {
    for (const std::size_t group : together) {
      if (!groups_[group].possible) return std::nullopt;
    }
    const std::int64_t most = groups_[together[0]].shift->period;
    for (std::int64_t by = 1; by < most; ++by) {
      auto turn = turn_by(together, by);
      if (turn) return turn;
    }
    return std::nullopt;
  }

  /// The turn that adds `first` to the counters of the first group.
  std::optional<Turn> turn_by(const std::vector<std::size_t>& together, std::int64_t first) {
    Turn turn;
    Effects all;
    for (const std::size_t number : together) {
      const Group& group = groups_[number];
      const bool leads = number == together[0];
      const std::int64_t last = leads ? first : group.shift->period;
      bool fits = false;
      for (std::int64_t by = leads ? first : 1; by <= last && !fits; ++by) {
        const auto made = effects(group, by);
        Effects joined = all;
        fits = made && join(joined, *made);
        if (!fits) continue;
        all = std::move(joined);
        add_counters(group, by, turn);
      }
      if (!fits) return std::nullopt;
    }
    for (const auto& [ring, merged] : all) {
      const TurnedRing turned = merged.made();
      if (!turned.moves()) continue;
      if (is_in_loop(program_, ring) || (turned.by != 0 && whole_.contains(ring)))
        return std::nullopt;
      turn.rings.emplace(ring, turned);
    }
    add_fixed(together, turn);
    return turn;
  }

  void add_counters(const Group& group, std::int64_t by, Turn& turn) {
    const Shift& shift = *group.shift;
    for (const ir::ValueId counter : shift.counters) {
      turn.counters[counter] = {by, shift.period, shift.least};
    }
    for (const auto& [value, source] : values_.all()) {
      if (!source.turns() || source.root == value || source.table.empty()) continue;
      if (shift.counters.contains(source.root)) turn.derived[value] = source.root;
    }
    turn.times = std::lcm(turn.times, shift.period / std::gcd(shift.period, by));
  }

  void add_fixed(const std::vector<std::size_t>& together, Turn& turn) {
    std::set<ir::OpId> fixed;
    for (const std::size_t group : together) {
      fixed.insert(groups_[group].begins.begin(), groups_[group].begins.end());
    }
    for (const ir::OpId id : ops_) {
      if (tells_apart(id, turn)) fixed.insert(id);
    }
    for (const ir::OpId id : ended_together(turn)) fixed.erase(id);
    turn.fixed.assign(fixed.begin(), fixed.end());
  }

  /// Whether the op names a slot that the turn moves, or an absolute phase of an mbarrier there.
  bool tells_apart(ir::OpId id, const Turn& turn) {
    const ir::Op& op = program_.op(id);
    if (op.kind == OpKind::buffer_index) {
      const auto ring = allocation_of(program_, op.operands[0]);
      const auto found = ring ? turn.rings.find(*ring) : turn.rings.end();
      return found != turn.rings.end() && found->second.by != 0 &&
             (op.operands.size() < 2 || group_behind(op.operands[1]) == nullptr);
    }
    const bool absolute = (op.kind == OpKind::barrier_wait && !moved_waits_.contains(id)) ||
                          op.kind == OpKind::barrier_init;
    if (!absolute) return false;
    const auto barrier = ir::operand_in(op, ir::Role::barrier);
    const auto place = barrier ? place_of(program_, *barrier) : std::nullopt;
    if (!place) return true;
    const bool by_slot = place->slot && group_behind(*place->slot) != nullptr;
    return turn.rings.contains(place->ring) && !by_slot;
  }

  /// Views of slots at which only mbarriers end, where one block ends all slots of the ring.
  std::set<ir::OpId> ended_together(const Turn& turn) const {
    std::map<std::pair<ir::OpId, ir::BlockId>, std::map<std::int64_t, ir::OpId>> ends;
    std::map<ir::ValueId, bool> only_ends;
    for (const ir::OpId id : ops_) {
      const ir::Op& op = program_.op(id);
      for (const ir::ValueId operand : op.operands) {
        only_ends.try_emplace(operand, true).first->second &= op.kind == OpKind::barrier_end;
      }
    }
    for (const ir::OpId id : ops_) {
      const ir::Op& op = program_.op(id);
      if (op.kind != OpKind::buffer_index || op.operands.size() != 2) continue;
      const auto ring = allocation_of(program_, op.operands[0]);
      const auto slot = known_integer(program_, op.operands[1]);
      const auto read = only_ends.find(op.results[0]);
      if (!ring || !slot || !turn.rings.contains(*ring)) continue;
      if (read == only_ends.end() || !read->second) continue;
      ends[{*ring, op.block}].emplace(*slot, id);
    }
    std::set<ir::OpId> found;
    for (const auto& [place, slots] : ends) {
      if (static_cast<std::int64_t>(slots.size()) != slots_of(program_, place.first)) continue;
      for (const auto& [slot, id] : slots) found.insert(id);
    }
    return found;
  }

  const ir::Program& program_;
  const Guide& guide_;
  std::vector<ir::OpId> ops_;
  std::vector<Group> groups_;
  CountedValues values_;
  std::set<ir::OpId> whole_;        ///< allocations with uses other than their slots
  std::set<ir::OpId> moved_waits_;  ///< waits whose phase a counter gives
};

}  // namespace

void add_turns(const ir::Program& program, ir::OpId function, Guide& guide) {
  guide.turns = Finder(program, function, guide).find();
  guide.turn_of.assign(program.value_count(), 0);
  std::size_t number = 0;
  for (const Turn& turn : guide.turns) {
    ++number;
    for (const auto& [value, counter] : turn.counters) guide.turn_of[value.index()] = number;
    for (const auto& [value, counter] : turn.derived) guide.turn_of[value.index()] = number;
  }
}

}  // namespace twill::concurrent
