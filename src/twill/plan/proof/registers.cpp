#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "twill/plan/proof.h"

namespace twill::plan {
namespace {

/// A copy of a register buffer: its buffer and iteration.
using Copy = std::pair<BufferId, std::int64_t>;

/// Follows the values of one role through its steps.
class Liveness {
 public:
  Liveness(const Plan& plan, RoleId role) : plan_(plan), role_(role) {
    const std::int64_t trips = 3 * std::int64_t{plan[role].sections.spread} + 8;
    for (const PlacedStep& placed : unrolled(plan[role].sections, trips)) steps_.push_back(placed);
    for (std::size_t at = 0; at < steps_.size(); ++at) note(at);
  }

  /// The most registers at any step. Each copy counts between its first write and its last use.
  int most() const {
    std::map<std::size_t, std::int64_t> change;
    for (const auto& [copy, life] : lives_) {
      if (life.second <= life.first) continue;  // a copy without a reader
      change[life.first] += plan_[copy.first].size;
      change[life.second] -= plan_[copy.first].size;
    }
    std::int64_t now = 0;
    std::int64_t peak = 0;
    for (const auto& [at, by] : change) {
      now += by;
      peak = std::max(peak, now);
    }
    return static_cast<int>(std::min<std::int64_t>(peak, std::numeric_limits<int>::max()));
  }

 private:
  bool mine(std::optional<BufferId> buffer) const {
    return buffer && plan_[*buffer].residence == Residence::registers &&
           plan_[*buffer].role == role_;
  }

  void note(std::size_t at) {
    const Step& step = *steps_[at].step;
    const std::int64_t iteration = steps_[at].iteration;
    if (step.kind == StepKind::drain_groups) return finish(at, step);
    if (!step.op) return;
    const auto home = plan_.values[step.op->index()].home;
    if (step.kind == StepKind::stage) {
      if (mine(home)) use({*home, iteration}, at);
      return;
    }
    read_operands(at, *step.op, iteration);
    if (!mine(home)) return;
    const auto [life, fresh] = lives_.emplace(Copy{*home, iteration}, std::pair{at, at});
    if (!fresh) life->second.second = std::max(life->second.second, at);
  }

  void read_operands(std::size_t at, OpId op, std::int64_t iteration) {
    const Mechanism how = plan_.mechanisms[op.index()];
    std::vector<Copy> read;
    for (const problem::Dependence& d : plan_.problem.dependences()) {
      if (d.to != op || !d.carries_value || iteration < d.distance) continue;
      const auto buffer = plan_.values[d.from.index()].home;
      if (!mine(buffer)) continue;
      use({*buffer, iteration - d.distance}, at);
      if (!d.in_place) read.emplace_back(*buffer, iteration - d.distance);
    }
    if (how == Mechanism::wgmma || how == Mechanism::bulk_store) {
      flying_[how].push_back(std::move(read));
    }
  }

  void use(const Copy& copy, std::size_t at) {
    if (const auto life = lives_.find(copy); life != lives_.end()) {
      life->second.second = std::max(life->second.second, at);
    }
  }

  /// Extends the life of operands of asynchronous work to the drain that ends it.
  void finish(std::size_t at, const Step& step) {
    auto& groups = flying_[step.queue];
    while (groups.size() > static_cast<std::size_t>(step.pending)) {
      for (const Copy& copy : groups.front()) use(copy, at);
      groups.erase(groups.begin());
    }
  }

  const Plan& plan_;
  RoleId role_;
  std::vector<PlacedStep> steps_;
  std::map<Copy, std::pair<std::size_t, std::size_t>> lives_;
  std::map<Mechanism, std::vector<std::vector<Copy>>> flying_;
};

}  // namespace

std::vector<int> registers_needed(const Plan& plan) {
  std::vector<int> needed;
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    needed.push_back(Liveness(plan, RoleId(r)).most());
  }
  return needed;
}

}  // namespace twill::plan
