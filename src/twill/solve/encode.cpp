#include "twill/solve/encode.h"

#include <algorithm>
#include <map>
#include <utility>

#include "twill/problem/compute_groups.h"
#include "twill/problem/problem.h"
#include "twill/schedule/difference.h"
#include "twill/support/whole_division.h"

namespace twill::solve {
namespace {

/// Merges terms of equal literals.
std::vector<Term> merged(const std::vector<Term>& terms) {
  std::vector<Term> out;
  for (const Term& term : terms) {
    const auto same = std::find_if(out.begin(), out.end(),
                                   [&](const Term& it) { return it.literal == term.literal; });
    if (same == out.end()) {
      out.push_back(term);
    } else {
      same->coefficient += term.coefficient;
    }
  }
  return out;
}

/// Chooses the op whose slot is 0: one of the sub-tiles if there are any. Else the op that holds a
/// unit longest, as it constrains the others most. The op must always exist, since the slots of the
/// others are relative to its slot.
std::size_t choose_anchor(const Instance& instance, const SubTiles& sub_tiles) {
  if (!sub_tiles.ops.empty()) return sub_tiles.ops.front();
  std::size_t best = instance.tasks[0].home;
  for (std::size_t i = 0; i < instance.op_count(); ++i) {
    if (!instance.tasks[i].always()) continue;
    if (instance.tasks[i].occupancy > instance.tasks[best].occupancy) best = i;
  }
  return best;
}

}  // namespace

Encoding::Encoding(const Instance& instance, const SubTiles& sub_tiles, Cycles ii,
                   std::int64_t most_copies, std::size_t memory_limit, ProofSink* proof,
                   std::string_view title, bool placed)
    : instance_(instance),
      ii_(ii),
      most_copies_(most_copies),
      memory_limit_(memory_limit),
      placed_(placed),
      proof_(proof),
      engine_(proof, title),
      lifetimes_(least_lifetimes(instance, ii)) {
  std::size_t tables = 2 * DifferenceGraph::memory_for(instance.op_count());
  for (const Store& memory : instance.memories) {
    tables += placed ? DifferenceGraph::memory_for(1 + 2 * memory.buffers.size()) : 0;
  }
  complete_ = tables <= memory_limit;
  if (!complete_) return;
  make_nodes(sub_tiles);
  if (proof_ != nullptr) tell_subject(sub_tiles);
  add_groups();
  add_existence();
  if (fits()) add_units();
  if (fits()) add_pipes();
  if (fits()) add_precedences();
  if (fits()) add_blocking();
  if (fits()) add_one_stream();
  if (fits()) add_memories();
  if (fits() && placed_) add_placement();
  if (fits()) add_shares();
  if (fits()) add_registers();
  if (fits()) limit_register_time();
  fits();
}

void Encoding::tell_subject(const SubTiles& sub_tiles) {
  ProofSubject subject{ii_, anchor_, sub_tiles.ops, sub_tiles.exchanges, {}, address_nodes()};
  for (const Accumulator& it : instance_.accumulators) subject.accumulators.push_back(it.ops);
  proof_->subject(subject);
}

/// Adds a literal that is true, or may be assumed to be, exactly if the meaning holds for the
/// schedule.
Literal Encoding::literal(const Meaning& meaning) { return named(engine_.add_literal(), meaning); }

/// Adds a literal that must be true if the meaning holds for the schedule.
Literal Encoding::consequence(const Meaning& meaning) {
  return named(engine_.add_consequence(), meaning);
}

Literal Encoding::named(Literal literal, const Meaning& meaning) {
  meanings_.emplace_back(literal, meaning);
  if (proof_ != nullptr) proof_->meaning(literal, meaning);
  return literal;
}

void Encoding::add_at_most(const Meaning& meaning, std::span<const Term> terms,
                           std::int64_t bound) {
  if (proof_ != nullptr) proof_->meaning(meaning);
  engine_.add_at_most(terms, bound);
}

void Encoding::make_nodes(const SubTiles& sub_tiles) {
  const std::size_t n = instance_.op_count();
  for (std::size_t i = 0; i < n; ++i) slots_.push_back(engine_.add_node());
  engine_.begin_block();
  for (std::size_t i = 0; i < n; ++i) stages_.push_back(engine_.add_node());
  if (placed_) make_extents();
  anchor_ = choose_anchor(instance_, sub_tiles);
  for (std::size_t i = 0; i < n; ++i) {
    if (i == anchor_) continue;
    engine_.require({slots_[i], slots_[anchor_], 0});
    engine_.require({slots_[anchor_], slots_[i], 1 - ii_});
  }
  const std::vector<std::size_t>& tiles = sub_tiles.ops;
  if (tiles.size() == 2) engine_.require({slots_[tiles[0]], slots_[tiles[1]], -(ii_ / 2)});
  for (std::size_t i = 2; i < tiles.size(); ++i) {
    engine_.require({slots_[tiles[i]], slots_[tiles[i - 1]], 0});
  }
}

/// Literal of slot(later) - slot(earlier) >= by. Slots are in [0, II).
Literal Encoding::slot_apart(std::size_t later, std::size_t earlier, Cycles by) {
  if (by <= 1 - ii_) return kTrue;
  if (by >= ii_) return kFalse;
  return apart(slots_, later, earlier, by);
}

Literal Encoding::stage_apart(std::size_t later, std::size_t earlier, Cycles by) {
  return apart(stages_, later, earlier, by);
}

Literal Encoding::apart(const std::vector<Node>& nodes, std::size_t later, std::size_t earlier,
                        Cycles by) {
  const Literal literal = engine_.at_least({nodes[later], nodes[earlier], by});
  engine_.matters_if(literal, exists_[later], exists_[earlier]);
  return literal;
}

void Encoding::add_clause(const Guards& guards, std::initializer_list<Literal> literals) {
  clause_.assign(guards.begin(), guards.end());
  clause_.insert(clause_.end(), literals.begin(), literals.end());
  if (std::find(clause_.begin(), clause_.end(), kTrue) == clause_.end()) {
    engine_.add_clause(clause_);
  }
}

/// Demands M(later) - M(earlier) >= by, unless a guard is true.
void Encoding::require_after(std::size_t later, std::size_t earlier, Cycles by,
                             const Guards& guards) {
  const Cycles whole = floor_divide(by, ii_);
  const Cycles rest = by - whole * ii_;
  if (guards.empty() && later != earlier) {
    engine_.require({stages_[later], stages_[earlier], whole});
  } else {
    add_clause(guards, {stage_apart(later, earlier, whole)});
  }
  add_clause(guards, {slot_apart(later, earlier, rest), stage_apart(later, earlier, whole + 1)});
  add_clause(guards,
             {slot_apart(later, earlier, rest - ii_), stage_apart(later, earlier, whole + 2)});
}

/// Demands that [M(a), M(a) + hold_a) and [M(b), M(b) + hold_b) do not meet modulo II, unless a
/// guard is true. Both holds are at least 1 and at most II.
void Encoding::exclude(std::size_t a, Cycles hold_a, std::size_t b, Cycles hold_b,
                       const Guards& guards) {
  add_clause(guards, {slot_apart(b, a, hold_a), slot_apart(a, b, hold_b)});
  if (guards.empty()) {
    engine_.require({slots_[b], slots_[a], hold_a - ii_});
    engine_.require({slots_[a], slots_[b], hold_b - ii_});
    return;
  }
  add_clause(guards, {slot_apart(b, a, hold_a - ii_)});
  add_clause(guards, {slot_apart(a, b, hold_b - ii_)});
}

/// Adds dependences, and paths of dependences. Slots and stages are apart, so two dependences in a
/// row imply nothing about their ends until the slot between is decided. The paths restore that.
void Encoding::add_precedences() {
  for (const Precedence& it : instance_.precedences) {
    const Cycles by = it.delay - it.distance * ii_;
    require_after(it.to, it.from, by, unless_exist({it.from, it.to}));
    if (it.transfer == 0) continue;
    const Literal same = same_group(it.from, it.to);
    if (same == kTrue) continue;
    require_after(it.to, it.from, by + it.transfer, unless_exist({it.from, it.to}, {same}));
    if (!fits()) return;
  }
  for (const Precedence& it : longest_paths(instance_)) {  // redundant
    require_after(it.to, it.from, it.delay, {});
    if (!fits()) return;
  }
}

void Encoding::add_units() {
  std::vector<std::vector<std::size_t>> users(instance_.problem->units().size());
  for (std::size_t i = 0; i < instance_.op_count(); ++i) {
    if (instance_.tasks[i].unit) users[*instance_.tasks[i].unit].push_back(i);
  }
  for (const std::vector<std::size_t>& ops : users) {
    for (std::size_t i = 0; i < ops.size() && fits(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        exclude(ops[j], instance_.tasks[ops[j]].occupancy, ops[i],
                instance_.tasks[ops[i]].occupancy, unless_exist({ops[j], ops[i]}));
      }
    }
  }
}

/// Bounds the demand of transfer ops on a pipe; all other demand is known to fit.
void Encoding::add_pipes() {
  const problem::Problem& problem = *instance_.problem;
  if (problem.transfers().empty() || !problem.in_force(Rule::pipe)) return;
  for (std::size_t pipe = 0; pipe < problem.pipes().size(); ++pipe) {
    std::vector<Term> terms;
    Cycles left = ii_;
    for (std::size_t op = 0; op < instance_.op_count(); ++op) {
      for (const problem::PipeUse& use : problem.ops()[op].alternatives.front().pipes) {
        if (use.pipe.index() != pipe || use.demand == 0 || exists_[op] == kFalse) continue;
        if (instance_.tasks[op].always()) left -= use.demand;
        if (!instance_.tasks[op].always()) terms.push_back({use.demand, exists_[op]});
      }
    }
    if (!terms.empty()) add_at_most({Meaning::Kind::pipe, pipe, 0, 0}, merged(terms), left);
  }
}

/// Constrains which ops exist. Ops that always exist are known to fit this II; a transfer op may be
/// too long for it.
void Encoding::add_existence() {
  for (std::size_t op = 0; op < instance_.op_count(); ++op) {
    const Task& task = instance_.tasks[op];
    Guards moved;  // true if some pair is in two groups
    for (const auto& [value, reader] : task.moves) moved.push_back(~same_group(value, reader));
    std::erase(moved, kFalse);
    Literal exists = task.always() ? kTrue : kFalse;
    if (moved.size() == 1) exists = moved.front();
    if (moved.size() > 1) {
      exists = literal({Meaning::Kind::exists, op, 0, 0});
      for (const Literal one : moved) add_clause({}, {~one, exists});
      moved.push_back(~exists);
      add_clause(moved, {});
    }
    exists_.push_back(exists);
    const bool too_long =
        (task.unit && task.occupancy > ii_) || (instance_.one_stream && task.issue > ii_);
    if (!task.always() && too_long) engine_.add_clause({~exists});
  }
}

/// Adds to the guards one for each of these ops that may not exist.
Encoding::Guards Encoding::unless_exist(std::initializer_list<std::size_t> ops,
                                        Guards guards) const {
  for (const std::size_t op : ops) {
    if (exists_[op] != kTrue) guards.push_back(~exists_[op]);
  }
  return guards;
}

/// Literal that is true iff the op is in the group and exists.
Literal Encoding::runs_in(std::size_t op, std::size_t group) {
  const Literal here = in_group_[op][group];
  if (exists_[op] == kTrue || here == kFalse) return here;
  const auto [found, fresh] = runs_in_.try_emplace(std::uint64_t{op} << 32 | group, kFalse);
  if (fresh) found->second = all_of({here, exists_[op]}, {Meaning::Kind::runs_in, op, group, 0});
  return found->second;
}

void Encoding::add_groups() {
  const std::size_t groups = instance_.group_count();
  for (std::size_t op = 0; op < instance_.op_count(); ++op) {
    const Task& task = instance_.tasks[op];
    auto& row = in_group_.emplace_back(groups, kFalse);
    if (!task.always()) continue;
    for (const std::size_t group : task.groups) {
      row[group] =
          task.groups.size() == 1 ? kTrue : literal({Meaning::Kind::in_group, op, group, 0});
    }
    Guards one_of;
    for (const std::size_t group : task.groups) {
      for (const Literal other : one_of) engine_.add_clause({~other, ~row[group]});
      one_of.push_back(row[group]);
    }
    add_clause(one_of, {});
  }
  for (std::size_t op = 0; op < instance_.op_count(); ++op) {
    if (!instance_.tasks[op].always()) in_group_[op] = in_group_[instance_.tasks[op].home];
  }
  for (std::size_t group = 0; group < groups; ++group) {
    const Literal used = literal({Meaning::Kind::used, group, 0, 0});
    used_.push_back(used);
    Guards members = {~used};
    for (std::size_t op = 0; op < instance_.op_count(); ++op) {
      const Literal here = in_group_[op][group];
      if (here == kFalse || !instance_.tasks[op].always()) continue;
      engine_.add_clause({~here, used});
      members.push_back(here);
    }
    add_clause(members, {});
  }
  share_groups();
  order_identical_groups();
  require_groups();
}

void Encoding::share_groups() {
  for (const std::vector<problem::OpId>& ops : instance_.problem->same_group()) {
    const auto& first = in_group_[ops.front().index()];
    for (const problem::OpId op : ops) {
      if (op == ops.front()) continue;
      const auto& other = in_group_[op.index()];
      for (std::size_t group = 0; group < first.size(); ++group) {
        add_clause({}, {~first[group], other[group]});
        add_clause({}, {first[group], ~other[group]});
      }
    }
  }
}

/// Orders groups that differ in their names only. Op number i may open the next group only if an
/// earlier op is in the group before.
void Encoding::order_identical_groups() {
  std::map<schedule::GroupKind, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < instance_.group_count(); ++i) {
    alike[schedule::kind_of(*instance_.problem, problem::GroupId(i))].push_back(i);
  }
  for (const auto& [kind, members] : alike) {
    for (std::size_t m = 1; m < members.size(); ++m) {
      Literal opened = kFalse;  // true if an op so far is in the group before
      for (std::size_t op = 0; op < in_group_.size(); ++op) {
        if (!instance_.tasks[op].always()) continue;
        const Literal here = in_group_[op][members[m]];
        const Literal before = in_group_[op][members[m - 1]];
        if (here != kFalse) add_clause({}, {~here, opened});
        if (before == kFalse) continue;
        const Literal next = literal({Meaning::Kind::opened, members[m - 1], op, 0});
        add_clause({}, {~next, opened, before});
        opened = next;
      }
    }
  }
}

void Encoding::require_groups() {
  const problem::Parts& parts = instance_.problem->parts();
  std::vector<Term> unused;
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (problem::is_compute_group(parts, parts.groups[i])) unused.push_back({1, ~used_[i]});
  }
  const auto pool = static_cast<std::int64_t>(unused.size());
  const std::int64_t wanted = problem::wanted_compute_groups(parts);
  if (wanted > 0) add_at_most({Meaning::Kind::compute_groups, 0, 0, 0}, unused, pool - wanted);
}

bool Encoding::may_share_group(std::size_t a, std::size_t b) const {
  const auto& of_a = instance_.tasks[a].groups;
  const auto& of_b = instance_.tasks[b].groups;
  return std::find_first_of(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()) != of_a.end();
}

/// Literal that is true iff the two ops are in the same group.
Literal Encoding::same_group(std::size_t a, std::size_t b) {
  a = instance_.tasks[a].home;
  b = instance_.tasks[b].home;
  if (a == b) return kTrue;
  if (a > b) std::swap(a, b);
  if (!may_share_group(a, b)) return kFalse;
  if (instance_.tasks[a].groups.size() == 1 && instance_.tasks[b].groups.size() == 1) return kTrue;
  const std::uint64_t key = std::uint64_t{a} << 32 | b;
  const auto [found, fresh] = same_group_.try_emplace(key, kFalse);
  if (!fresh) return found->second;
  const Literal same = literal({Meaning::Kind::same_group, a, b, 0});
  found->second = same;
  for (std::size_t group = 0; group < instance_.group_count(); ++group) {
    const Literal in_a = in_group_[a][group];
    const Literal in_b = in_group_[b][group];
    if (in_a == kFalse && in_b == kFalse) continue;
    add_clause({}, {~same, ~in_a, in_b});
    add_clause({}, {~same, in_a, ~in_b});
    add_clause({}, {same, ~in_a, ~in_b});
  }
  return same;
}

/// Literal that is true if the op has to wait for a barrier: always, or for a register value from
/// another group. (A transferred value comes by a load, which waits.)
Literal Encoding::waits_literal(std::size_t op) {
  if (instance_.tasks[op].waits) return kTrue;
  Guards comes_from_elsewhere;
  for (std::size_t value = 0; value < instance_.op_count(); ++value) {
    if (instance_.tasks[value].registers == 0) continue;
    const auto& reads = instance_.reads[value];
    const bool reads_it = std::any_of(reads.begin(), reads.end(), [op](const Read& read) {
      return read.reader == op && !read.transferable;
    });
    if (reads_it) comes_from_elsewhere.push_back(~same_group(value, op));
  }
  const auto& all = comes_from_elsewhere;
  if (std::find(all.begin(), all.end(), kTrue) != all.end()) return kTrue;
  if (std::count(all.begin(), all.end(), kFalse) == static_cast<std::ptrdiff_t>(all.size())) {
    return kFalse;
  }
  const Literal waits = consequence({Meaning::Kind::waits, op, 0, 0});
  for (const Literal elsewhere : all) add_clause({}, {waits, ~elsewhere});
  return waits;
}

void Encoding::add_blocking() {
  if (!instance_.blocking) return;
  for (std::size_t op = 0; op < instance_.op_count() && fits(); ++op) {
    const Literal waits = waits_literal(op);
    if (waits == kFalse) continue;
    for (std::size_t other = 0; other < instance_.op_count(); ++other) {
      if (other != op) forbid_issue_during(op, other, waits);
    }
  }
}

/// Demands that `waiting`, if it waits, is not issued in an issue cycle of `other` in the same
/// group.
void Encoding::forbid_issue_during(std::size_t waiting, std::size_t other, Literal waits) {
  const Task& task = instance_.tasks[waiting];
  const Task& busy = instance_.tasks[other];
  const bool one_stream_says_so = instance_.one_stream && task.issue > 0;
  const bool unit_says_so = task.unit && task.unit == busy.unit && busy.occupancy >= busy.issue;
  if (busy.issue == 0 || one_stream_says_so || unit_says_so) return;
  const Literal same = same_group(waiting, other);
  if (same == kFalse) return;
  const Guards guards = unless_exist({waiting, other}, {~same, ~waits});
  if (busy.issue >= ii_) {
    add_clause(guards, {});
    return;
  }
  add_clause(guards, {slot_apart(other, waiting, 1), slot_apart(waiting, other, busy.issue)});
  add_clause(guards, {slot_apart(waiting, other, busy.issue - ii_)});
}

void Encoding::add_one_stream() {
  if (!instance_.one_stream) return;
  for (std::size_t a = 0; a < instance_.op_count() && fits(); ++a) {
    const Task& first = instance_.tasks[a];
    for (std::size_t b = a + 1; b < instance_.op_count(); ++b) {
      const Task& second = instance_.tasks[b];
      const bool unit_says_so = first.unit && first.unit == second.unit &&
                                first.occupancy >= first.issue && second.occupancy >= second.issue;
      if (first.issue == 0 || second.issue == 0 || unit_says_so || !may_share_group(a, b)) continue;
      const Literal same = same_group(a, b);
      exclude(a, first.issue, b, second.issue,
              unless_exist({a, b}, same == kTrue ? Guards{} : Guards{~same}));
    }
  }
  // Redundant sum, for quicker propagation.
  for (std::size_t group = 0; group < instance_.group_count(); ++group) {
    std::vector<Term> issue;
    for (std::size_t op = 0; op < instance_.op_count(); ++op) {
      const Literal runs = instance_.tasks[op].issue > 0 ? runs_in(op, group) : kFalse;
      if (runs != kFalse) issue.push_back({instance_.tasks[op].issue, runs});
    }
    add_at_most({Meaning::Kind::issue, group, 0, 0}, issue, ii_);
  }
}

void Encoding::suggest(const schedule::Schedule& schedule) {
  for (std::size_t op = 0; op < instance_.op_count(); ++op) {
    for (std::size_t group = 0; group < instance_.group_count(); ++group) {
      const Literal here = in_group_[op][group];
      if (here == kTrue || here == kFalse) continue;
      engine_.suggest(schedule.ops[op].group.index() == group ? here : ~here);
    }
  }
}

schedule::Schedule Encoding::schedule() const {
  schedule::Schedule out;
  out.initiation_interval = ii_;
  const std::int64_t slot_zero = engine_.value(slots_[anchor_]);
  Cycles earliest = 0;
  for (std::size_t op = 0; op < instance_.op_count(); ++op) {
    schedule::Placement placement;
    placement.issue = ii_ * engine_.value(stages_[op]) + engine_.value(slots_[op]) - slot_zero;
    for (std::size_t group = 0; group < instance_.group_count(); ++group) {
      if (engine_.value(in_group_[op][group])) placement.group = schedule::GroupId(group);
    }
    earliest = op == 0 ? placement.issue : std::min(earliest, placement.issue);
    out.ops.push_back(placement);
  }
  for (schedule::Placement& placement : out.ops) placement.issue -= earliest;
  if (placed_) out.addresses = addresses();
  return schedule::with_existence(*instance_.problem, std::move(out));
}

}  // namespace twill::solve
