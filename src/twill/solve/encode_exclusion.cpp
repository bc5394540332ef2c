#include <algorithm>

#include "twill/problem/problem.h"
#include "twill/solve/encode.h"
#include "twill/solve/exclusion.h"
#include "twill/support/check.h"
#include "twill/support/whole_division.h"

/// Encoding: exclusion of structures, or of all structures that are not in turn.
namespace twill::solve {
namespace {

/// Lists the ops on each exclusive unit that exist and have rounds, in the order in which an
/// interval serves them.
std::vector<std::vector<std::size_t>> served(const Instance& instance,
                                             const schedule::Schedule& schedule) {
  std::vector<std::vector<std::size_t>> units(instance.problem->units().size());
  for (std::size_t op = 0; op < instance.op_count(); ++op) {
    const bool has_rounds = instance.tasks[op].unit && !instance.problem->ops()[op].streaming;
    if (has_rounds && schedule.ops[op].exists) units[*instance.tasks[op].unit].push_back(op);
  }
  const auto slot = [&](std::size_t op) {
    return schedule.ops[op].issue % schedule.initiation_interval;
  };
  for (auto& ops : units) {
    std::sort(ops.begin(), ops.end(),
              [&](std::size_t a, std::size_t b) { return slot(a) < slot(b); });
  }
  return units;
}

}  // namespace

/// Demands that some op is in another group, or that on some unit an op has another round after its
/// predecessor.
///
/// Rounds of neighbours suffice. Let D(i) be M(next) - M(i) - k(i) * II for the excluded rounds
/// k(i). All D(i) together are one II. Where each D(i) is at least 0, none exceeds II, and the
/// rounds of any two ops are sums of the k(i) between them. In the same groups the same ops exist.
/// An op that does not exist has a home whose group differs, and its round is about free nodes.
void Encoding::rule_out(const schedule::Schedule& schedule) {
  TWILL_CHECK(proof_ == nullptr, "structures are excluded without proofs");
  Guards differs;
  const std::vector<std::size_t> groups = ordered_groups(instance_, schedule);
  for (std::size_t op = 0; op < groups.size(); ++op) {
    if (instance_.tasks[op].always()) differs.push_back(~in_group_[op][groups[op]]);
  }
  for (const std::vector<std::size_t>& ops : served(instance_, schedule)) {
    for (std::size_t i = 0; i < ops.size() && ops.size() > 1; ++i) {
      const std::size_t op = ops[i];
      const std::size_t next = ops[(i + 1) % ops.size()];
      const Cycles apart = schedule.ops[next].issue - schedule.ops[op].issue;
      const Cycles round = floor_divide(apart, schedule.initiation_interval);
      const Literal turned = engine_.add_literal();
      require_after(op, next, instance_.tasks[next].occupancy - round * ii_, {~turned});
      differs.push_back(turned);
    }
  }
  engine_.add_clause(differs);
  fits();
}

void Encoding::keep_in_turn(const SubTiles& sub_tiles) {
  TWILL_CHECK(proof_ == nullptr, "what is kept in turn is no rule");
  const auto count = static_cast<Cycles>(sub_tiles.ops.size());
  const auto with_first = [&](std::size_t tile) -> const Exchange& {
    return sub_tiles.exchanges[tile * (tile - 1) / 2];
  };
  for (std::size_t op = 0; op < instance_.op_count(); ++op) {
    const bool of_first = with_first(1)[op] != op && with_first(2)[op] != op;
    for (std::size_t tile = 1; of_first && tile < sub_tiles.ops.size(); ++tile) {
      const Cycles later = static_cast<Cycles>(tile) * ii_ / count;
      require_after(with_first(tile)[op], op, later, {});
      require_after(op, with_first(tile)[op], -later, {});
    }
  }
  fits();
}

}  // namespace twill::solve
