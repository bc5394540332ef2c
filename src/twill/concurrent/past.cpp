#include <algorithm>

#include "twill/concurrent/machine.h"

/// Iterations that all roles have left behind without open questions, and counters that go on.
namespace twill::concurrent {
namespace {

/// Whether an op can still read a value that the block of `frame` defines. The block has `ops` ops.
/// Its end reads the results of the last op.
bool is_live(const Reads& reads, const Frame& frame, std::size_t ops, bool innermost) {
  if (reads.elsewhere || reads.last > std::min(frame.next, ops - 1)) return true;
  return !innermost && frame.next > 0 && reads.within.contains(frame.next - 1);
}

/// Values that a role may still read, in order.
std::vector<ir::ValueId> live_values(const ir::Program& program, const Guide& guide,
                                     const Role& role) {
  std::vector<ir::ValueId> live;
  for (std::size_t f = 0; f < role.frames.size(); ++f) {
    const Frame& frame = role.frames[f];
    const bool innermost = f + 1 == role.frames.size();
    // The next iteration's number is computed from the present number.
    const auto loop = ir::as_loop(program, frame.op);
    if (loop && loop->induction && frame.kind == Frame::Kind::loop) {
      live.push_back(*loop->induction);
    }
    const ir::RegionId region = program.block(frame.block).region;
    for (const ir::BlockId block : program.region(region).blocks) {
      const bool here = block == frame.block;
      const auto add = [&](ir::ValueId value) {
        const Reads& reads = guide.reads[value.index()];
        if (here ? is_live(reads, frame, program.block(block).ops.size(), innermost)
                 : reads.elsewhere)
          live.push_back(value);
      };
      for (const ir::ValueId value : program.block(block).arguments) add(value);
      const auto& ops = program.block(block).ops;
      const std::size_t end =
          here ? frame.next - (innermost || frame.next == 0 ? 0 : 1) : ops.size();
      for (std::size_t i = 0; i < std::min(end, ops.size()); ++i) {
        for (const ir::ValueId value : program.op(ops[i]).results) add(value);
      }
    }
  }
  return live;
}

bool is_of_loop(const Frame& frame) {
  return frame.kind == Frame::Kind::loop || frame.kind == Frame::Kind::before ||
         frame.kind == Frame::Kind::after;
}

}  // namespace

/// Forgets values that no op can read any more. Returns the others, with their counters, by role.
std::vector<std::vector<ir::ValueId>> Machine::keep_live() {
  const Guide& guide = *options_.guide;
  std::vector<std::vector<ir::ValueId>> all;
  for (Role& role : roles_) {
    std::vector<ir::ValueId> live = live_values(program_, guide, role);
    std::vector<ir::ValueId> counters;
    for (const ir::ValueId value : live) {
      if (const auto root = guide.counter_of(value)) counters.push_back(*root);
    }
    for (const ir::ValueId counter : counters) {
      if (std::ranges::find(live, counter) == live.end()) live.push_back(counter);
    }
    role.values.keep(live);
    std::erase_if(role.numbers,
                  [&](const auto& it) { return std::ranges::find(live, it.first) == live.end(); });
    all.push_back(std::move(live));
  }
  return all;
}

/// Whether the role may still come to an op. Blocks beside the present one count as reached.
bool Machine::can_reach(std::size_t index, ir::OpId target) const {
  if (index >= roles_.size()) return true;
  const auto& frames = roles_[index].frames;
  for (std::size_t f = frames.size(); f-- > 0;) {
    const Frame& frame = frames[f];
    const bool again = std::any_of(frames.begin(),
                                   frames.begin() + static_cast<std::ptrdiff_t>(f) + 1, is_of_loop);
    for (auto at = std::optional(target); at; at = ir::parent(program_, *at)) {
      const ir::BlockId block = program_.op(*at).block;
      if (program_.block(block).region != program_.block(frame.block).region) continue;
      const auto& ops = program_.block(block).ops;
      const auto place = std::ranges::find(ops, *at) - ops.begin();
      if (again || block != frame.block || place >= static_cast<std::ptrdiff_t>(frame.next)) {
        return true;
      }
      return *at != target && f + 1 < frames.size() && is_of_loop(frames[f + 1]);
    }
  }
  return !frames.empty();
}

/// The turns of the state into its standard position.
Turned Machine::turned(const std::vector<std::vector<ir::ValueId>>& live) {
  const Guide& guide = *options_.guide;
  if (guide.turns.empty()) return {};
  may_turn_.resize(guide.turns.size(), false);
  for (std::size_t turn = 0; turn < guide.turns.size(); ++turn) {
    const Turn& it = guide.turns[turn];
    may_turn_[turn] = may_turn_[turn] || (roles_.size() == guide.role_count &&
                                          std::ranges::none_of(it.fixed, [&](ir::OpId op) {
                                            return can_reach(role_of(program_, op), op);
                                          }));
    const bool in_bytes = std::ranges::any_of(it.rings, [&](const auto& ring) {
      const auto storage = allocated_.find(ring.first);
      return storage != allocated_.end() && ledger_.is_in_bytes(storage->second);
    });
    if (in_bytes) may_turn_[turn] = false;
  }
  return {guide, may_turn_, roles_, live, allocated_};
}

/// Whether a role can no longer reach that scope.
bool Machine::is_past(std::size_t index, const Scope& scope) {
  if (scope && scope->first == kDrawn) {
    return !in_use_.contains(static_cast<std::size_t>(scope->second));
  }
  if (!scope) return index < roles_.size() && roles_[index].ended();
  const OpenNumber* quantity = quantities_.find(scope->first);
  if (quantity == nullptr) return true;
  const Guide& guide = *options_.guide;
  const auto has = guide.roles.find({quantity->form, quantity->occurrence});
  if (has == guide.roles.end() || (has->second >> index & 1U) == 0) return true;
  if ((quantity->left >> index & 1U) != 0) return true;
  if (index >= roles_.size()) return false;
  if (roles_[index].ended()) return true;
  for (const Frame& frame : roles_[index].frames) {
    if (frame.quantity == quantity->id) return frame.position > scope->second;
  }
  return quantity->scope && is_past(index, quantity->scope);
}

/// Forgets quantities of iterations that all roles have left.
void Machine::forget_quantities() {
  auto& all = quantities_.all();
  for (bool changed = true; changed;) {
    const auto gone = std::find_if(all.begin(), all.end(), [&](const OpenNumber& quantity) {
      if (!quantity.scope) return false;
      const bool drawn = quantity.scope->first == kDrawn;
      if (drawn && std::ranges::any_of(roles_, [&](const Role& role) {
            return std::ranges::any_of(role.frames,
                                       [&](const Frame& it) { return it.quantity == quantity.id; });
          })) {
        return false;
      }
      for (std::size_t role = 0; role < options_.guide->role_count; ++role) {
        if (!is_past(role, quantity.scope)) return false;
      }
      return true;
    });
    changed = gone != all.end();
    if (changed) all.erase(gone);
  }
}

/// Shifts counters down as far as the continuation stays the same.
void Machine::shift_counters(const std::vector<std::vector<ir::ValueId>>& all_live) {
  std::size_t index = 0;
  for (Role& role : roles_) {
    const auto& live = all_live[index++];
    std::size_t number = 0;
    for (const Shift& shift : options_.guide->shifts) {
      std::int64_t least = INT64_MAX;
      for (const ir::ValueId value : live) {
        const auto by = shift.by.find(value);
        if (by == shift.by.end() || by->second != shift.period) continue;
        const auto now = role.values.integer(ir::OpId(0), value);
        if (now) least = std::min(least, *now);
      }
      ++number;
      if (least == INT64_MAX || least < shift.least + shift.period) continue;
      role.shifted.insert(number - 1);
      const std::int64_t times = (least - shift.least) / shift.period;
      for (const auto& [value, by] : shift.by) {
        const auto now = role.values.integer(ir::OpId(0), value);
        if (!now) continue;
        role.values.set(value, std::make_shared<const execute::Tile>(
                                   execute::Tile{{}, execute::Integers{*now - times * by}}));
      }
    }
  }
}

}  // namespace twill::concurrent
