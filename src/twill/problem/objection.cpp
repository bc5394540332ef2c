#include "twill/problem/objection.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "twill/problem/circuit.h"
#include "twill/problem/transfer.h"
#include "twill/support/spelling.h"

namespace twill::problem {
namespace {

using Complaint = std::optional<Objection>;

std::string_view word_for(Part part) {
  switch (part) {
    case Part::loop:
      return "loop";
    case Part::unit:
      return "unit";
    case Part::pipe:
      return "pipe";
    case Part::memory:
      return "memory";
    case Part::group:
      return "group";
    case Part::op:
      return "op";
    case Part::dependence:
      return "dependence";
    case Part::same_group:
      return "same-group";
    case Part::transfer:
      return "transfer";
    case Part::register_budget:
      return "register-budget";
  }
  return "part";
}

/// Names an element in a message: "op 'exp'".
std::string called(Part part, std::string_view name) {
  return std::string(word_for(part)) + " " + in_quotes(name);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Complaint check_name(Part part, std::size_t index, std::string_view name) {
  if (name.empty()) {
    return Objection{part, index, std::string(word_for(part)) + " without a name",
                     "name it: a letter, then letters, digits, '_' and '.'"};
  }
  if (is_identifier(name)) return {};
  return Objection{part, index, called(part, name) + " is not spelled as a name",
                   "a name is a letter or '_', then letters, digits, '_' and '.', at most " +
                       std::to_string(kLongestName) + " characters"};
}

/// Checks the names of one table: identifiers, each once.
template <class Table>
Complaint check_names(Part part, const Table& table) {
  std::unordered_map<std::string_view, std::size_t> seen;
  seen.reserve(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (Complaint bad = check_name(part, i, table[i].name)) return bad;
    if (!seen.emplace(table[i].name, i).second) {
      return Objection{part, i,
                       "two " + std::string(word_for(part)) + (part == Part::memory ? "" : "s") +
                           " are called " + in_quotes(table[i].name),
                       "rename one of them"};
    }
  }
  return {};
}

template <class Table>
Complaint check_count(Part part, const Table& table, std::size_t most) {
  if (table.size() <= most) return {};
  return Objection{part, most,
                   "more than " + std::to_string(most) + " entries of kind '" +
                       std::string(word_for(part)) + "'",
                   "the limit is " + std::to_string(most)};
}

/// Number of an element. `what` is its word in the `.loop` format.
struct Number {
  std::string_view what;
  std::int64_t value;
  std::int64_t least = 0;
  std::int64_t most = kLargestNumber;
};

Complaint check_number(Part part, std::size_t index, const std::string& owner, const Number& it) {
  if (it.value >= it.least && it.value <= it.most) return {};
  return Objection{
      part, index, owner + " has " + std::string(it.what) + " " + std::to_string(it.value),
      "it must be between " + std::to_string(it.least) + " and " + std::to_string(it.most)};
}

Complaint check_resources(const Parts& parts) {
  if (Complaint bad = check_count(Part::unit, parts.units, kMostOfAKind)) return bad;
  if (Complaint bad = check_names(Part::unit, parts.units)) return bad;
  if (Complaint bad = check_count(Part::pipe, parts.pipes, kMostOfAKind)) return bad;
  if (Complaint bad = check_names(Part::pipe, parts.pipes)) return bad;
  if (Complaint bad = check_count(Part::memory, parts.memories, kMostOfAKind)) return bad;
  if (Complaint bad = check_names(Part::memory, parts.memories)) return bad;
  for (std::size_t i = 0; i < parts.memories.size(); ++i) {
    const Memory& memory = parts.memories[i];
    const Number capacity = {"capacity", memory.capacity, 1};
    if (Complaint bad =
            check_number(Part::memory, i, called(Part::memory, memory.name), capacity)) {
      return bad;
    }
  }
  return {};
}

Complaint check_groups(const Parts& parts) {
  if (parts.groups.empty()) {
    return Objection{Part::loop, 0, "the loop has no group", "add at least one group of warps"};
  }
  if (Complaint bad = check_count(Part::group, parts.groups, kMostOfAKind)) return bad;
  if (Complaint bad = check_names(Part::group, parts.groups)) return bad;
  for (std::size_t i = 0; i < parts.groups.size(); ++i) {
    const Group& group = parts.groups[i];
    const std::string owner = called(Part::group, group.name);
    for (const Number& number :
         {Number{"warps", group.warps, 1}, Number{"registers", group.registers}}) {
      if (Complaint bad = check_number(Part::group, i, owner, number)) return bad;
    }
  }
  return {};
}

/// Checks uses of shared pipes, and footprints: ids in range, ascending, each once.
template <class Uses, class IdOf, class AmountOf>
Complaint check_uses(std::size_t op, const std::string& owner, const Uses& uses,
                     std::size_t table_size, std::pair<std::string_view, std::string_view> words,
                     IdOf id_of, AmountOf amount_of) {
  const std::string noun(words.first);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (id_of(uses[i]).index() >= table_size) {
      return Objection{Part::op, op, owner + " names a " + noun + " that does not exist",
                       "the loop has " + std::to_string(table_size) + " of them"};
    }
    if (i > 0 && !(id_of(uses[i - 1]) < id_of(uses[i]))) {
      return Objection{Part::op, op, owner + " lists its " + noun + " uses twice or out of order",
                       "list each " + noun + " once, in the order the loop declares them"};
    }
    const Number amount = {words.second, amount_of(uses[i])};
    if (Complaint bad = check_number(Part::op, op, owner, amount)) return bad;
  }
  return {};
}

Complaint check_alternative(const Parts& parts, std::size_t index, const Alternative& alternative) {
  std::string owner = called(Part::op, parts.ops[index].name);
  if (!alternative.name.empty()) owner += ", alternative " + in_quotes(alternative.name) + ",";
  if (alternative.unit && alternative.unit->index() >= parts.units.size()) {
    return Objection{Part::op, index, owner + " names a unit that does not exist",
                     "the loop has " + std::to_string(parts.units.size()) + " units"};
  }
  for (const Number& number :
       {Number{"an occupancy of", alternative.occupancy}, Number{"latency", alternative.latency},
        Number{"issue", alternative.issue}}) {
    if (Complaint bad = check_number(Part::op, index, owner, number)) return bad;
  }
  if (alternative.unit && alternative.occupancy == 0) {
    return Objection{Part::op, index,
                     owner + " is on unit " +
                         in_quotes(parts.units[alternative.unit->index()].name) + " for 0 cycles",
                     "give it an occupancy of at least 1, or no unit"};
  }
  if (!alternative.unit && alternative.occupancy != 0) {
    return Objection{Part::op, index, owner + " has an occupancy but no unit",
                     "name the unit it holds, or give it an occupancy of 0"};
  }
  return check_uses(
      index, owner, alternative.pipes, parts.pipes.size(), {"pipe", "a pipe demand of"},
      [](const PipeUse& use) { return use.pipe; }, [](const PipeUse& use) { return use.demand; });
}

Complaint check_alternatives(const Parts& parts, std::size_t index) {
  const Op& op = parts.ops[index];
  const std::string owner = called(Part::op, op.name);
  if (op.alternatives.empty() || op.alternatives.size() > kMostOfAKind) {
    return Objection{Part::op, index,
                     owner + " has " + std::to_string(op.alternatives.size()) + " alternatives",
                     "give it between 1 and " + std::to_string(kMostOfAKind)};
  }
  for (std::size_t i = 0; i < op.alternatives.size(); ++i) {
    const std::string& name = op.alternatives[i].name;
    const bool needs_name = op.alternatives.size() > 1 || !name.empty();
    if (needs_name && !is_identifier(name)) {
      return Objection{Part::op, index, owner + " has an alternative called " + in_quotes(name),
                       "an op with several alternatives gives each a name, spelled like an op's"};
    }
    const auto same = [&](const Alternative& other) { return other.name == name; };
    if (std::any_of(op.alternatives.begin(),
                    op.alternatives.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      return Objection{Part::op, index, owner + " has two alternatives called " + in_quotes(name),
                       "rename one of them"};
    }
    if (Complaint bad = check_alternative(parts, index, op.alternatives[i])) return bad;
  }
  return {};
}

Complaint check_op(const Parts& parts, std::size_t index) {
  const Op& op = parts.ops[index];
  const std::string owner = called(Part::op, op.name);
  if (Complaint bad = check_alternatives(parts, index)) return bad;
  for (const Number& number : {Number{"warps", op.warps, 1}, Number{"registers", op.registers}}) {
    if (Complaint bad = check_number(Part::op, index, owner, number)) return bad;
  }
  if (op.streaming && !op.variable_latency) {
    return Objection{Part::op, index, owner + " is streaming but not of variable latency",
                     "only loads of variable latency can run ahead of the loop"};
  }
  return check_uses(
      index, owner, op.footprint, parts.memories.size(), {"memory", "a footprint of"},
      [](const Footprint& it) { return it.memory; }, [](const Footprint& it) { return it.amount; });
}

Complaint check_ops(const Parts& parts) {
  if (parts.ops.empty()) {
    return Objection{Part::loop, 0, "the loop has no op", "add at least one op"};
  }
  if (Complaint bad = check_count(Part::op, parts.ops, kMostOps)) return bad;
  if (Complaint bad = check_names(Part::op, parts.ops)) return bad;
  for (std::size_t i = 0; i < parts.ops.size(); ++i) {
    if (Complaint bad = check_op(parts, i)) return bad;
  }
  return {};
}

Complaint check_value(const Parts& parts, std::size_t index, const std::string& owner) {
  const Dependence& dependence = parts.dependences[index];
  if (!dependence.carries_value && (dependence.in_place || dependence.read_hold)) {
    return Objection{Part::dependence, index,
                     owner + " carries no value, so none is read or updated",
                     "drop its read hold and in-place mark, or let it carry the value"};
  }
  if (dependence.carries_value && dependence.through_memory) {
    return Objection{Part::dependence, index,
                     owner + " is an order of accesses to memory, and carries a value",
                     "make it order-only"};
  }
  const Op& to = parts.ops[dependence.to.index()];
  if (dependence.through_memory && (to.streaming || parts.ops[dependence.from.index()].streaming)) {
    return Objection{Part::dependence, index,
                     owner + " orders accesses to memory, and a streaming op runs ahead",
                     "make the op variable-latency only"};
  }
  if (to.streaming && dependence.carries_value && dependence.from != dependence.to) {
    return Objection{Part::dependence, index,
                     owner + " brings a value to " + in_quotes(to.name) + ", which is streaming",
                     "a streaming op has no inputs in the loop: make it variable-latency only, or "
                     "the dependence order-only"};
  }
  return {};
}

Complaint check_dependence(const Parts& parts, std::size_t index) {
  const Dependence& dependence = parts.dependences[index];
  if (std::max(dependence.from.index(), dependence.to.index()) >= parts.ops.size()) {
    return Objection{Part::dependence, index,
                     "dependence " + std::to_string(index) + " names an op that does not exist",
                     "the loop has " + std::to_string(parts.ops.size()) + " ops"};
  }
  const std::string owner = "dependence " + in_quotes(parts.ops[dependence.from.index()].name) +
                            " -> " + in_quotes(parts.ops[dependence.to.index()].name);
  for (const Number& number : {Number{"distance", dependence.distance, 0, kLargestDistance},
                               Number{"delay", dependence.delay.value_or(0)},
                               Number{"read-hold", dependence.read_hold.value_or(0)},
                               Number{"transfer", dependence.transfer}}) {
    if (Complaint bad = check_number(Part::dependence, index, owner, number)) return bad;
  }
  return check_value(parts, index, owner);
}

Complaint check_dependences(const Parts& parts) {
  if (Complaint bad = check_count(Part::dependence, parts.dependences, 10 * kMostOps)) return bad;
  for (std::size_t i = 0; i < parts.dependences.size(); ++i) {
    if (Complaint bad = check_dependence(parts, i)) return bad;
  }
  return {};
}

/// Checks that all durations together stay below kLargestTotal. So no sum along a path, over a unit
/// or over II times a distance can overflow.
Complaint check_total(const Parts& parts) {
  Cycles total = 0;  // no overflow: each term was checked, and how many there are
  for (const Op& op : parts.ops) {
    for (const Alternative& alternative : op.alternatives) {
      total += alternative.occupancy + alternative.latency + alternative.issue;
      for (const PipeUse& use : alternative.pipes) total += use.demand;
    }
  }
  for (const Dependence& dependence : parts.dependences) {
    total += dependence.delay.value_or(0) + dependence.read_hold.value_or(0) + dependence.transfer;
  }
  if (total <= kLargestTotal) return {};
  return Objection{Part::loop, 0,
                   "all durations of the loop sum to " + std::to_string(total) + " cycles",
                   "the limit is " + std::to_string(kLargestTotal)};
}

template <class Enum>
bool each_once(const std::vector<Enum>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::find(values.begin() + static_cast<std::ptrdiff_t>(i) + 1, values.end(), values[i]) !=
        values.end()) {
      return false;
    }
  }
  return true;
}

Complaint check_rules(const Parts& parts) {
  // The length check bounds the quadratic scan; a longer list repeats a rule in any case.
  if (parts.relaxed.size() > kRuleCount || !each_once(parts.relaxed) ||
      !std::is_sorted(parts.relaxed.begin(), parts.relaxed.end())) {
    return Objection{Part::loop, 0, "the relaxed rules are repeated or out of order",
                     "list each rule once, in the order of problem::Rule"};
  }
  if (parts.objectives.size() > kRuleCount || !each_once(parts.objectives)) {
    return Objection{Part::loop, 0, "an objective is listed twice", "list each objective once"};
  }
  return check_number(Part::loop, 0, "the loop",
                      {"minimum-compute-groups", parts.minimum_compute_groups, 0, kMostOfAKind});
}

/// Checks that sets are ascending and disjoint, so that a Problem has one form.
Complaint check_same_group(const Parts& parts) {
  std::vector<bool> seen(parts.ops.size(), false);
  for (std::size_t i = 0; i < parts.same_group.size(); ++i) {
    const std::vector<OpId>& ops = parts.same_group[i];
    if (ops.size() < 2) {
      return Objection{Part::same_group, i, "fewer than two ops are to share a group",
                       "name at least two"};
    }
    for (std::size_t j = 0; j < ops.size(); ++j) {
      if (ops[j].index() >= parts.ops.size()) {
        return Objection{Part::same_group, i, "an op that does not exist is to share a group",
                         "the loop has " + std::to_string(parts.ops.size()) + " ops"};
      }
      const std::string name = in_quotes(parts.ops[ops[j].index()].name);
      if (seen[ops[j].index()]) {
        return Objection{Part::same_group, i, name + " is said twice to share a group",
                         "name all ops of one group together, each once"};
      }
      seen[ops[j].index()] = true;
      if (j == 0 || ops[j - 1] < ops[j]) continue;
      return Objection{Part::same_group, i, name + " shares a group with ops out of order",
                       "list them in the order of the ops"};
    }
  }
  return {};
}

/// Checks the groups of a budget, as check_same_group does for ops.
Complaint check_sharers(const Parts& parts, std::size_t index, std::vector<bool>& seen) {
  const std::vector<GroupId>& groups = parts.register_budgets[index].groups;
  if (groups.size() < 2) {
    return Objection{Part::register_budget, index, "fewer than two groups share a register budget",
                     "name at least two; what a group has for itself is its 'registers'"};
  }
  for (std::size_t j = 0; j < groups.size(); ++j) {
    if (groups[j].index() >= parts.groups.size()) {
      return Objection{Part::register_budget, index,
                       "a group that does not exist shares a register budget",
                       "the loop has " + std::to_string(parts.groups.size()) + " groups"};
    }
    const std::string name = called(Part::group, parts.groups[groups[j].index()].name);
    if (seen[groups[j].index()]) {
      return Objection{Part::register_budget, index, name + " shares registers twice",
                       "name each group once, in one register budget"};
    }
    seen[groups[j].index()] = true;
    if (j == 0 || groups[j - 1] < groups[j]) continue;
    return Objection{Part::register_budget, index, name + " shares registers out of order",
                     "list groups in the order the loop declares them"};
  }
  return {};
}

Complaint check_register_budget(const Parts& parts, std::size_t index) {
  const RegisterBudget& it = parts.register_budgets[index];
  const std::string owner =
      "the register budget of " + called(Part::group, parts.groups[it.groups.front().index()].name);
  for (const Number& number :
       {Number{"total", it.total}, Number{"step", it.step, 1}, Number{"reserve", it.reserve}}) {
    if (Complaint bad = check_number(Part::register_budget, index, owner, number)) return bad;
  }
  if (it.steps() > kMostRegisterSteps) {
    return Objection{Part::register_budget, index,
                     owner + " has " + std::to_string(it.steps()) + " steps",
                     "the limit is " + std::to_string(kMostRegisterSteps) + ": make them larger"};
  }
  const std::int64_t least = static_cast<std::int64_t>(it.groups.size()) * it.steps_for(0);
  if (least <= it.steps()) return {};
  return Objection{Part::register_budget, index,
                   owner + " has " + std::to_string(it.steps()) + " steps, but " +
                       std::to_string(it.groups.size()) + " groups take " + std::to_string(least) +
                       " with nothing alive",
                   "raise the total, or lower the reserve"};
}

/// Checks budgets: groups ascending and in one budget each; numbers in range; the reserves fit.
Complaint check_register_budgets(const Parts& parts) {
  std::vector<bool> seen(parts.groups.size(), false);
  for (std::size_t i = 0; i < parts.register_budgets.size(); ++i) {
    if (Complaint bad = check_sharers(parts, i, seen)) return bad;
    if (Complaint bad = check_register_budget(parts, i)) return bad;
  }
  return {};
}

Complaint check_circuits(const Parts& parts) {
  const std::vector<DependenceId> circuit = circuit_of_distance_zero(parts);
  if (circuit.empty()) return {};
  constexpr std::size_t kShown = 12;
  const auto name = [&](OpId op) { return in_quotes(parts.ops[op.index()].name); };
  std::string path;
  for (std::size_t i = 0; i < std::min(circuit.size(), kShown); ++i) {
    path += name(parts.dependences[circuit[i].index()].from) + " -> ";
  }
  if (circuit.size() > kShown) path += "... -> ";
  path += name(parts.dependences[circuit.front().index()].from);
  // Dependence to blame: ops are usually listed in program order, and the last one of the circuit
  // leads back.
  return Objection{Part::dependence, circuit.back().index(),
                   "a circuit of dependences with distance 0: " + path,
                   "an op cannot wait for itself: give the dependence that reaches back to an "
                   "earlier iteration a distance"};
}

}  // namespace

bool is_identifier(std::string_view name) {
  if (name.empty() || name.size() > kLongestName || !is_letter(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
}

std::optional<Objection> objection_to(const Parts& parts) {
  if (Complaint bad = check_name(Part::loop, 0, parts.name)) return bad;
  if (Complaint bad = check_resources(parts)) return bad;
  if (Complaint bad = check_groups(parts)) return bad;
  if (Complaint bad = check_ops(parts)) return bad;
  if (Complaint bad = check_dependences(parts)) return bad;
  if (Complaint bad = check_rules(parts)) return bad;
  if (Complaint bad = check_same_group(parts)) return bad;
  if (Complaint bad = objection_to_transfers(parts)) return bad;
  if (Complaint bad = check_register_budgets(parts)) return bad;
  if (Complaint bad = check_total(parts)) return bad;
  return check_circuits(parts);
}

Result<Problem> pose(Parts parts) {
  if (std::optional<Objection> objection = objection_to(parts)) {
    return fail({}, std::move(objection->message), std::move(objection->hint));
  }
  parts.dependences = with_transfer_ops(parts);
  return Problem(std::move(parts));
}

}  // namespace twill::problem
