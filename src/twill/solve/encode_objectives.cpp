#include <algorithm>

#include "twill/solve/encode.h"

/// Encoding: limits of objectives. A limit is excused if its literal is false, so one engine serves
/// all searches of an objective.
namespace twill::solve {

Literal Encoding::limit_sum(const Meaning& meaning, const std::vector<Literal>& literals) {
  const std::int64_t limit = meaning.number;
  const auto count = static_cast<std::int64_t>(literals.size());
  if (limit >= count) return kTrue;
  const Literal in_force = literal(meaning);
  std::vector<Term> terms;
  for (const Literal literal : literals) terms.push_back({1, literal});
  terms.push_back({count - limit, in_force});
  add_at_most(meaning, terms, count);
  return in_force;
}

Literal Encoding::groups_at_most(std::int64_t limit) {
  return limit_sum({Meaning::Kind::groups, 0, 0, limit}, used_);
}

Literal Encoding::crossings_at_most(std::int64_t limit) {
  for (std::size_t value = 0; value < instance_.op_count() && !crossings_built_; ++value) {
    if (instance_.tasks[value].registers == 0) continue;
    for (std::size_t group = 0; group < instance_.group_count(); ++group) {
      const Literal home = in_group_[value][group];
      const auto& reads = instance_.reads[value];
      const bool possible =
          home != kTrue && std::any_of(reads.begin(), reads.end(), [&](auto& it) {
            return instance_.tasks[it.reader].home != instance_.tasks[value].home &&
                   in_group_[it.reader][group] != kFalse;
          });
      if (!possible) continue;
      const Literal crosses = consequence({Meaning::Kind::crosses, value, group, 0});
      for (const Read& read : reads) {
        if (instance_.tasks[read.reader].home == instance_.tasks[value].home) continue;
        add_clause({}, {home, ~in_group_[read.reader][group], crosses});
      }
      crossings_.push_back(crosses);
    }
  }
  crossings_built_ = true;
  return limit_sum({Meaning::Kind::crossings, 0, 0, limit}, crossings_);
}

/// Limits the length. Only ops that may be first are compared with ops that may end last.
Literal Encoding::length_at_most(Cycles limit) {
  std::vector<std::uint8_t> first(instance_.op_count(), 1);
  std::vector<std::uint8_t> last(instance_.op_count(), 1);
  for (const Precedence& it : instance_.precedences) {
    if (it.distance > 0) continue;
    if (instance_.tasks[it.from].always()) first[it.to] = 0;
    if (!instance_.tasks[it.to].always()) continue;
    if (it.delay + instance_.tasks[it.to].span >= instance_.tasks[it.from].span) last[it.from] = 0;
  }
  const Literal in_force = literal({Meaning::Kind::length, 0, 0, limit});
  for (std::size_t i = 0; i < instance_.op_count(); ++i) {
    for (std::size_t j = 0; j < instance_.op_count(); ++j) {
      if (first[i] == 0 || last[j] == 0) continue;
      require_after(i, j, instance_.tasks[j].span - limit, unless_exist({i, j}, {~in_force}));
    }
    if (!fits()) break;
  }
  return in_force;
}

}  // namespace twill::solve
