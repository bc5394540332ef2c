#include "twill/driver/transfers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/driver/answers.h"
#include "twill/problem/staging.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/bounds.h"
#include "twill/solve/decide.h"

namespace twill::driver {
namespace {

using problem::Dependence;
using problem::GroupId;
using problem::OpId;
using problem::Parts;
using problem::Problem;
using problem::Rule;

/// Work for the question whether transfer ops leave any schedule, beyond the request's work.
constexpr std::uint64_t kQuestion = 2'000'000;

/// Work for the question whether a pool is cramped.
constexpr std::uint64_t kRefutation = 8'000'000;

/// Work for the bound on schedules with room.
constexpr std::uint64_t kWithRoom = 4'000'000;

bool is_in_registers(const Problem& problem, const Dependence& it) {
  return it.carries_value && it.from != it.to && problem[it.from].registers > 0;
}

/// By op: the first of the ops that must share its group.
std::vector<std::size_t> tied(const Problem& problem) {
  std::vector<std::size_t> least(problem.ops().size());
  std::iota(least.begin(), least.end(), std::size_t{0});
  const auto root = [&](std::size_t op) {
    while (least[op] != op) op = least[op];
    return op;
  };
  const auto tie = [&](OpId a, OpId b) {
    const auto [first, second] = std::minmax({root(a.index()), root(b.index())});
    least[second] = first;
  };
  for (const std::vector<OpId>& set : problem.same_group()) {
    for (const OpId op : set) tie(set.front(), op);
  }
  const auto transfer_ops = problem::transfer_ops_of(problem);
  for (const Dependence& it : problem.dependences()) {
    const bool made = transfer_ops[it.from.index()] || transfer_ops[it.to.index()];
    const bool loads = problem[it.from].variable_latency || problem[it.to].variable_latency;
    const bool wide = problem[it.from].warps == problem[it.to].warps;
    if (!made && !loads && wide && is_in_registers(problem, it)) tie(it.from, it.to);
  }
  for (std::size_t op = 0; op < least.size(); ++op) least[op] = root(op);
  return least;
}

/// Extends the groups of a schedule of the Problem without transfers to the Problem with transfer
/// ops.
std::vector<GroupId> with_transfer_ops(const Problem& whole, std::vector<GroupId> groups) {
  groups.resize(whole.ops().size());
  const auto transfer_ops = problem::transfer_ops_of(whole);
  for (std::size_t i = 0; i < transfer_ops.size(); ++i) {
    if (transfer_ops[i]) groups[i] = groups[transfer_ops[i]->home.index()];
  }
  return groups;
}

/// Residual Problem for these groups. Gives each group a width of its own, so that ops have no
/// other choice.
Problem pinned(const Problem& whole, const std::vector<GroupId>& groups) {
  const problem::Residual left = problem::residual_of(whole, groups);
  Parts parts = left.problem.parts();
  for (std::size_t g = 0; g < parts.groups.size(); ++g) {
    parts.groups[g].warps = static_cast<int>(g) + 1;
  }
  for (std::size_t i = 0; i < parts.ops.size(); ++i) {
    parts.ops[i].warps = static_cast<int>(groups[left.ops[i].index()].index()) + 1;
  }
  std::erase(parts.relaxed, Rule::width);
  parts.minimum_compute_groups = 0;
  parts.objectives.clear();
  return problem::pose(std::move(parts)).value();  // only the widths differ
}

/// Demands addresses for rings, as every plan does, also in a text that relaxes these rules.
void keep_whole_rings(Parts& parts) {
  std::erase(parts.relaxed, Rule::memory);
  std::erase(parts.relaxed, Rule::placement);
}

/// Whether none of the times is shorter than the other's. Then it gets the other's times.
bool take_shorter(problem::Alternative& times, const problem::Alternative& other) {
  bool slower = times.occupancy >= other.occupancy && times.latency >= other.latency &&
                times.issue >= other.issue && times.pipes.size() == other.pipes.size();
  for (std::size_t i = 0; slower && i < times.pipes.size(); ++i) {
    slower = times.pipes[i].demand >= other.pipes[i].demand;
    times.pipes[i].demand = other.pipes[i].demand;
  }
  times.occupancy = other.occupancy;
  times.latency = other.latency;
  times.issue = other.issue;
  return slower;
}

bool take_shorter(Dependence& times, const Dependence& other) {
  const auto no_less = [](std::optional<Cycles> a, std::optional<Cycles> b) {
    return a.has_value() == b.has_value() && (!a || *a >= *b);
  };
  const bool slower = no_less(times.delay, other.delay) && times.transfer >= other.transfer &&
                      no_less(times.read_hold, other.read_hold);
  times.delay = other.delay;
  times.transfer = other.transfer;
  times.read_hold = other.read_hold;
  return slower;
}

}  // namespace

bool transfers_values(const Problem& problem, const schedule::Schedule& schedule) {
  const auto dependences = problem.dependences();
  return std::any_of(dependences.begin(), dependences.end(), [&](const Dependence& it) {
    return is_in_registers(problem, it) &&
           schedule.ops[it.from.index()].group != schedule.ops[it.to.index()].group;
  });
}

std::optional<Problem> without_transfers(const Problem& problem) {
  const std::vector<std::size_t> least = tied(problem);
  std::map<std::size_t, std::vector<OpId>> sets;
  for (std::size_t op = 0; op < least.size(); ++op) sets[least[op]].emplace_back(op);
  Parts parts = problem.parts();
  parts.same_group.clear();
  for (auto& [first, set] : sets) {
    if (set.size() > 1) parts.same_group.push_back(std::move(set));
  }
  keep_whole_rings(parts);
  auto posed = problem::pose(std::move(parts));
  if (!posed || *posed == problem) return std::nullopt;
  return *std::move(posed);
}

Amount transferred_bytes(const Problem& problem, const schedule::Schedule& schedule) {
  const Cycles interval = schedule.initiation_interval;
  const auto alternative_of = [&](OpId op) -> const problem::Alternative& {
    return problem[op].alternatives[static_cast<std::size_t>(schedule.ops[op.index()].alternative)];
  };
  // Interval [from, to) in which the value of iteration 0 waits.
  std::map<OpId, std::pair<Cycles, Cycles>> waits;
  for (const Dependence& it : problem.dependences()) {
    const schedule::Placement& from = schedule.ops[it.from.index()];
    const schedule::Placement& to = schedule.ops[it.to.index()];
    if (!is_in_registers(problem, it) || from.group == to.group) continue;
    const Cycles made = from.issue + alternative_of(it.from).latency;
    const Cycles read = to.issue + it.distance * interval;
    const Cycles hold = problem::read_hold_of(it, problem[it.to], alternative_of(it.to));
    const auto [at, fresh] = waits.try_emplace(it.from, made, made);
    at->second.first = std::min(at->second.first, read);
    at->second.second = std::max(at->second.second, read + hold);
  }
  Amount bytes = 0;
  for (const auto& [value, wait] : waits) {
    const int warps = problem[schedule.ops[value.index()].group].warps;
    bytes +=
        problem::staged_bytes(problem[value], warps) * ((wait.second - wait.first) / interval + 1);
  }
  return bytes;
}

bool leave_share(const Problem& problem, const schedule::Schedule& schedule, double share) {
  const Amount bytes = transferred_bytes(problem, schedule);
  if (bytes == 0) return true;
  const auto memory = problem::staging_memory(problem);
  if (!memory) return false;
  const auto capacity = static_cast<double>(problem[*memory].capacity);
  return static_cast<double>(bytes) <= (1 - share) * capacity;
}

std::optional<Problem> with_room(const Problem& problem, Amount bytes) {
  const auto memory = problem::staging_memory(problem);
  if (!memory || problem[*memory].capacity <= bytes) return std::nullopt;
  Parts parts = problem.parts();
  parts.memories[memory->index()].capacity -= bytes;
  keep_whole_rings(parts);
  auto posed = problem::pose(std::move(parts));
  if (!posed || *posed == problem) return std::nullopt;
  return *std::move(posed);
}

bool is_cramped(const Problem& problem, const solve::Options& limits, std::uint64_t& spent) {
  solve::Options few = solve::left_of(limits, spent);
  few.work_limit = std::min(kRefutation, few.work_limit);
  few.room_for_staging = true;
  const solve::Decision any = solve::refute_all(problem, few);
  spent += any.work;
  return any.decided == solve::Decided::infeasible;
}

bool is_slowed_down(const Problem& slow, const Problem& fast) {
  Parts parts = slow.parts();
  const Parts& other = fast.parts();
  if (parts.ops.size() != other.ops.size()) return false;
  if (parts.dependences.size() != other.dependences.size()) return false;
  for (std::size_t op = 0; op < parts.ops.size(); ++op) {
    std::vector<problem::Alternative>& times = parts.ops[op].alternatives;
    const std::vector<problem::Alternative>& shorter = other.ops[op].alternatives;
    if (times.size() != shorter.size()) return false;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (!take_shorter(times[i], shorter[i])) return false;
    }
  }
  for (std::size_t i = 0; i < parts.dependences.size(); ++i) {
    if (!take_shorter(parts.dependences[i], other.dependences[i])) return false;
  }
  return parts == other;
}

std::optional<schedule::Bound> bound_with_room(const Request& request,
                                               const report::Outcome& outcome,
                                               std::optional<double> simulated) {
  const bool answers_loop = request.strategy.strategy == strategy::Strategy::twill &&
                            outcome.rate.empty() && outcome.strategy == "twill";
  if (!simulated || !answers_loop || request.names_schedule() || request.normalize) return {};
  const bool refused = std::any_of(outcome.candidates.begin(), outcome.candidates.end(),
                                   [](const auto& it) { return it.refused.starts_with("plan: "); });
  const Cycles known = outcome.answer.lower_bound.value;
  const Cycles interval = outcome.answer.schedule->initiation_interval;
  const Cycles most = std::min(interval, static_cast<Cycles>(*simulated));
  const Problem& problem = outcome.problem;
  const bool counts = problem.in_force(Rule::memory) && problem.transfers().empty();
  if (!refused || !counts || most <= known || !problem::staging_memory(problem)) return {};
  Parts parts = problem.parts();
  parts.objectives.clear();
  solve::Options few = request.limits;
  few.work_limit = std::min(kWithRoom, few.work_limit);
  few.hurry_after = 0;
  few.room_for_staging = true;
  few.least_interval = known;
  few.most_interval = most;
  if (interval == most) few.start = outcome.answer.schedule;
  const schedule::Answer answer = solve_with(request.answers, problem::pose(parts).value(), few);
  schedule::Bound bound = answer.lower_bound;
  bound.value = std::min(bound.value, most);
  if (bound.value <= known) return {};
  bound.witness = fmt::format(
      "an exhaustive search finds no schedule at an II of {} or less that leaves memory for a copy "
      "of each value that changes groups",
      bound.value - 1);
  return bound;
}

std::optional<std::string> why_no_transfer(const Request& request, const Reading& reading,
                                           const report::Outcome& outcome) {
  if (kernel_of(reading, outcome) == nullptr || !outcome.problem.transfers().empty()) return {};
  if (request.strategy.strategy != strategy::Strategy::twill) return {};
  if (!transfers_values(outcome.problem, *outcome.answer.schedule)) return {};
  Request with = request;
  with.transfers = true;
  with.on_step = {};  // extracted again, for this question only
  const bool slowest = outcome.rate == report::name_of(machine::Rate::slowest);
  const auto posed = pose_kernel(with_pool(*reading.kernel, outcome.pool), with,
                                 slowest ? machine::Rate::slowest : machine::Rate::fastest);
  if (!posed) return {};
  const Problem& whole = posed->pools.front().problem;
  const auto groups = with_transfer_ops(whole, schedule::groups_of(*outcome.answer.schedule));
  const Problem left = pinned(whole, groups);
  if (auto why = schedule::never_feasible(left)) return why;
  solve::Options limits;
  limits.work_limit = std::min(request.limits.work_limit, kQuestion);
  const schedule::Answer answer = solve_with(request.answers, left, limits);
  if (answer.verdict != schedule::Verdict::infeasible) return {};
  return answer.argument;
}

}  // namespace twill::driver
