#include "twill/strategy/program.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "twill/problem/problem.h"

namespace twill::strategy {
namespace {

using problem::Dependence;
using problem::Parts;
using problem::Problem;
using problem::Rule;

void relax(Parts& parts, Rule rule, bool relaxed) {
  std::erase(parts.relaxed, rule);
  if (relaxed) parts.relaxed.push_back(rule);
  std::sort(parts.relaxed.begin(), parts.relaxed.end());
}

void pin_groups(Parts& parts, const std::vector<GroupId>& groups) {
  for (std::size_t g = 0; g < parts.groups.size(); ++g) {
    parts.groups[g].warps = static_cast<int>(g) + 1;
  }
  for (std::size_t v = 0; v < parts.ops.size(); ++v) {
    parts.ops[v].warps = static_cast<int>(groups[v].index()) + 1;
  }
  relax(parts, Rule::width, false);
  parts.minimum_compute_groups = 0;
}

/// Turns distances of iterations into distances of rounds. Fails if an op would have to wait for a
/// later round.
Result<void> count_rounds(Parts& parts, const std::vector<Cycles>& stages) {
  for (Dependence& it : parts.dependences) {
    const Cycles rounds = it.distance + stages[it.to.index()] - stages[it.from.index()];
    if (rounds < 0 || rounds > problem::kLargestDistance) {
      return fail({}, "the stages of '" + parts.ops[it.from.index()].name + "' and '" +
                          parts.ops[it.to.index()].name + "' do not fit their dependence");
    }
    it.distance = static_cast<int>(rounds);
  }
  return {};
}

/// Least cycles for which an op holds its group, where groups issue one op at a time.
Cycles issue_of(const Parts& parts, OpId op) {
  const bool one_by_one = std::find(parts.relaxed.begin(), parts.relaxed.end(), Rule::one_stream) ==
                          parts.relaxed.end();
  if (!one_by_one) return 0;
  Cycles least = std::numeric_limits<Cycles>::max();
  for (const problem::Alternative& alternative : parts.ops[op.index()].alternatives)
    least = std::min(least, alternative.issue);
  return least;
}

void chain(Parts& parts, const std::vector<OpId>& stream) {
  if (stream.size() < 2) return;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const bool last = i + 1 == stream.size();
    Dependence next;
    next.from = stream[i];
    next.to = last ? stream.front() : stream[i + 1];
    next.distance = last ? 1 : 0;
    next.delay = issue_of(parts, stream[i]);
    next.carries_value = false;
    parts.dependences.push_back(next);
  }
}

/// Turns cycles of rounds into cycles of iterations that begin at 0.
void count_iterations(schedule::Schedule& schedule, const std::vector<Cycles>& stages) {
  Cycles first = std::numeric_limits<Cycles>::max();
  for (std::size_t v = 0; v < stages.size(); ++v) {
    schedule.ops[v].issue += stages[v] * schedule.initiation_interval;
    first = std::min(first, schedule.ops[v].issue);
  }
  for (schedule::Placement& it : schedule.ops) it.issue -= first;
}

class SourceOrder {
 public:
  explicit SourceOrder(const Problem& problem)
      : problem_(problem), waits_(problem.ops().size(), 0), unread_(problem.ops().size(), 0) {
    for (const Dependence& it : problem.dependences()) {
      if (it.distance == 0) ++waits_[it.to.index()];
      if (it.carries_value) ++unread_[it.from.index()];
    }
    for (std::size_t v = 0; v < waits_.size(); ++v) {
      if (waits_[v] == 0) ready_.emplace(v);
    }
  }

  std::vector<OpId> run() {
    std::vector<OpId> order;
    while (!ready_.empty()) {
      const auto saves = [&](OpId op) { return saves_registers(op); };
      const auto saving = std::find_if(ready_.begin(), ready_.end(), saves);
      const OpId op = saving == ready_.end() ? *ready_.begin() : *saving;
      ready_.erase(op);
      order.push_back(op);
      place(op);
    }
    return order;
  }

 private:
  void place(OpId op) {
    for (const Dependence& it : problem_.dependences()) {
      if (it.to == op && it.carries_value) --unread_[it.from.index()];
      if (it.from == op && it.distance == 0 && --waits_[it.to.index()] == 0) ready_.insert(it.to);
    }
  }

  /// Whether the op is the last reader of a value, and its own result has fewer registers.
  bool saves_registers(OpId op) const {
    if (problem_[op].asynchronous || problem_[op].variable_latency) return false;
    for (const Dependence& it : problem_.dependences()) {
      if (it.to != op || it.distance > 0 || !it.carries_value) continue;
      const bool last = unread_[it.from.index()] == 1;
      if (last && problem_[op].registers < problem_[it.from].registers) return true;
    }
    return false;
  }

  const Problem& problem_;
  std::vector<int> waits_;   ///< by OpId: predecessors that are not placed yet
  std::vector<int> unread_;  ///< by OpId: readers that are not placed yet
  std::set<OpId> ready_;
};

}  // namespace

std::vector<OpId> source_order(const Problem& problem) { return SourceOrder(problem).run(); }

Result<schedule::Answer> run_program(const Problem& problem, const Program& program,
                                     const solve::Options& limits) {
  Parts parts = problem.parts();
  parts.dependences.insert(parts.dependences.end(), program.also.begin(), program.also.end());
  TWILL_TRY_VOID(count_rounds(parts, program.stages));
  for (const std::vector<OpId>& stream : program.streams) chain(parts, stream);
  pin_groups(parts, program.groups);
  TWILL_TRY(const Problem pinned, problem::pose(std::move(parts)));
  schedule::Answer answer = solve::solve(pinned, limits);
  if (answer.schedule) count_iterations(*answer.schedule, program.stages);
  return answer;
}

}  // namespace twill::strategy
