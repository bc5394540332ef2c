#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/certify/certificate.h"
#include "twill/certify/facts.h"
#include "twill/certify/symmetry.h"
#include "twill/certify/witness.h"
#include "twill/problem/problem.h"
#include "twill/problem/staging.h"
#include "twill/schedule/loop_text.h"
#include "twill/verify/verify.h"

namespace twill::certify {
namespace {

using problem::Problem;
using schedule::Schedule;
using schedule::Verdict;
using Kind = Predicate::Kind;

/// Most combinations of alternatives, times ops, that are enumerated.
constexpr std::size_t kMostCombined = 20'000'000;

Kind limit_kind(const std::string& level) {
  if (level == "groups") return Kind::groups;
  return level == "crossings" ? Kind::crossings : Kind::length;
}

/// Value of the schedule at a level.
std::int64_t measure(const Problem& problem, const Schedule& schedule, const std::string& level) {
  if (level == "interval") return schedule.initiation_interval;
  if (level == "length") return schedule::length_of(problem, schedule);
  std::set<std::size_t> groups;
  for (const schedule::Placement& at : schedule.ops) groups.insert(at.group.index());
  if (level == "groups") return static_cast<std::int64_t>(groups.size());
  std::set<std::pair<std::size_t, std::size_t>> crossings;  // value and receiving group
  for (const problem::Dependence& it : problem.dependences()) {
    const std::size_t away = schedule.ops[it.to.index()].group.index();
    const bool crosses = it.carries_value && problem[it.from].registers > 0 &&
                         schedule.ops[it.from.index()].group.index() != away;
    if (crosses) crossings.emplace(it.from.index(), away);
  }
  return static_cast<std::int64_t>(crossings.size());
}

class Checker {
 public:
  explicit Checker(const Certificate& certificate)
      : certificate_(certificate),
        problem_(certificate.problem),
        claims_(certificate.claims),
        levels_(levels_of(problem_)) {}

  Checked check() {
    Checked out;
    out.verdict = claims_.verdict;
    const bool fine = check_head() && check_schedule() && check_cases() && check_verdict();
    if (!fine) {
      out.rejection = std::move(rejection_);
      return out;
    }
    std::vector<std::int64_t>& values = has_schedule() ? out.values : out.nothing_below;
    for (const auto& [level, value] : claims_.values) values.push_back(value);
    out.interval_bound = interval_bound();
    out.bound_with_room = interval_bound(true);
    out.wanted_groups = problem_.minimum_compute_groups();
    out.most_groups = most_groups();
    out.hash = claims_.hash;
    if (certificate_.schedule) out.compute_groups = compute_groups(*certificate_.schedule);
    out.lines = lines();
    return out;
  }

 private:
  bool reject(std::string file, int line, std::string reason) {
    rejection_ = {std::move(file), line, std::move(reason)};
    return false;
  }
  bool reject(std::string reason) { return reject(std::string(kClaimsFile), 0, std::move(reason)); }

  bool has_schedule() const {
    return claims_.verdict == Verdict::optimal || claims_.verdict == Verdict::feasible;
  }
  Cycles interval() const { return claims_.values.empty() ? 0 : claims_.values.front().second; }

  bool check_head() {
    const std::string hash = schedule::problem_hash(problem_);
    if (claims_.problem != problem_.name() || claims_.hash != hash) {
      return reject(fmt::format("the claims are about {} {}, the problem is {} {}", claims_.problem,
                                claims_.hash, problem_.name(), hash));
    }
    if (claims_.rules != rules_of(problem_)) {
      return reject(fmt::format("the rules in force are {}", fmt::join(rules_of(problem_), " ")));
    }
    for (int rule = 0; rule < problem::kRuleCount; ++rule) {
      const auto it = static_cast<problem::Rule>(rule);
      if (!problem_.in_force(it) || survives_stretching(it)) continue;
      return reject(
          fmt::format("the stretch lemma is not proven for the rule {}", problem::name_of(it)));
    }
    for (const Exchange& exchange : claims_.exchanges) {
      const std::string objection = objection_to(problem_, exchange);
      if (!objection.empty()) return reject(objection);
    }
    return true;
  }

  bool check_schedule() {
    const std::string file(kProblemFile);
    if (!has_schedule()) {
      if (certificate_.schedule) return reject("there is a schedule, but the verdict is none");
      return check_values_to_beat();
    }
    if (!certificate_.schedule) return reject(file, 0, "there is no schedule in it");
    const auto verified = verify::verify(problem_, *certificate_.schedule);
    if (!verified) return reject(file, 0, verified.error().front().message);
    if (claims_.values.size() != levels_.size()) return reject("not every level has a value");
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const auto& [level, value] = claims_.values[i];
      if (level != levels_[i]) {
        return reject(fmt::format("level {} is {}, not {}", i + 1, levels_[i], level));
      }
      const std::int64_t measured = measure(problem_, *certificate_.schedule, level);
      if (measured == value) continue;
      return reject(fmt::format("{} of the schedule is {}, not {}", level, measured, value));
    }
    return true;
  }

  /// Checks the values of a claim without a schedule: no schedule is better.
  bool check_values_to_beat() {
    if (claims_.values.empty()) return true;
    if (claims_.verdict != Verdict::undecided) return reject("there are values, but no schedule");
    if (claims_.values.size() > levels_.size()) return reject("there are more values than levels");
    for (std::size_t i = 0; i < claims_.values.size(); ++i) {
      if (claims_.values[i].first == levels_[i]) continue;
      return reject(
          fmt::format("level {} is {}, not {}", i + 1, levels_[i], claims_.values[i].first));
    }
    return true;
  }

  /// Checks the reasons of every case.
  bool check_cases() {
    for (std::size_t i = 0; i < claims_.cases.size(); ++i) {
      const Case& it = claims_.cases[i];
      auto chosen = problem_of(it);
      if (!chosen) return reject(fmt::format("case {}: {}", i + 1, chosen.error()));
      for (std::size_t level = 0; level < it.bounds.size(); ++level) {
        if (!check_bound(*chosen, it, level)) return false;
      }
      if (it.with_room && !check_with_room(*chosen, it)) return false;
      if (it.never && !check_never(*chosen, *it.never)) return false;
    }
    return true;
  }

  /// Makes the Problem with the alternatives of the case only.
  tl::expected<Problem, std::string> problem_of(const Case& it) {
    if (it.any) return problem_;
    problem::Parts parts = problem_.parts();
    std::size_t several = 0;
    for (const problem::Op& op : parts.ops) several += op.alternatives.size() > 1 ? 1U : 0U;
    for (const auto& [op, alternative] : it.alternatives) {
      auto& alternatives = parts.ops[op].alternatives;
      if (alternative >= alternatives.size() || alternatives.size() < 2) {
        return tl::unexpected(fmt::format("{} has nothing to choose", parts.ops[op].name));
      }
      alternatives = {problem::Alternative(alternatives[alternative])};
    }
    if (several != it.alternatives.size())
      return tl::unexpected(std::string("an op has no alternative"));
    auto posed = problem::pose(std::move(parts));
    if (!posed) return tl::unexpected(posed.error().message);
    return *std::move(posed);
  }

  bool check_bound(const Problem& chosen, const Case& it, std::size_t index) {
    const AtLeast& bound = it.bounds[index];
    if (index >= levels_.size() || bound.level != levels_[index]) {
      return reject(fmt::format("a bound of {} stands in the wrong place", bound.level));
    }
    if (index > 0 && index >= claims_.values.size()) {
      return reject("a bound is of a level that has no value");
    }
    if (bound.reason.kind == Reason::Kind::proof) {
      Subject subject;
      if (index == 0) {
        subject.interval = bound.value - 1;
      } else {
        subject.interval = interval();
        subject.refuted = Predicate{limit_kind(bound.level), 0, 0, bound.value - 1};
      }
      return check_refutation(chosen, bound.reason.file, subject, index, it.any);
    }
    const auto weight = weight_of(chosen, bound.level, bound.reason, interval());
    if (!weight) return reject(fmt::format("{} {}: {}", bound.level, bound.value, weight.error()));
    if (*weight >= bound.value) return true;
    return reject(
        fmt::format("{}: the reason shows at least {}, not {}", bound.level, *weight, bound.value));
  }

  bool check_with_room(const Problem& chosen, const Case& it) {
    const AtLeast& bound = *it.with_room;
    if (bound.level != "interval" || bound.reason.kind != Reason::Kind::proof) {
      return reject("a claim about schedules with room must be an interval with a proof");
    }
    const bool counts = problem_.in_force(problem::Rule::memory) && problem_.transfers().empty();
    if (!counts || !problem::staging_memory(problem_)) {
      return reject(
          "there is a claim about schedules with room, but no value waits in a memory here");
    }
    Subject subject;
    subject.interval = bound.value - 1;
    subject.with_room = true;
    return check_refutation(chosen, bound.reason.file, subject, 0, it.any);
  }

  /// Checks that the proof in `file` refutes exactly `wanted`. The limits must hold for schedules
  /// with the claimed values in the levels before `level`.
  bool check_refutation(const Problem& chosen, const std::string& file, const Subject& wanted,
                        std::size_t level, bool any) {
    const auto found = certificate_.proofs.find(file);
    if (found == certificate_.proofs.end()) return reject("there is no proof " + file);
    if (any) return reject("a proof is about one combination of alternatives");
    const Subject& subject = found->second.subject;
    if (subject.interval != wanted.interval) {
      return reject(file, 0,
                    fmt::format("the proof is about an interval of {}, the claim needs {}",
                                subject.interval, wanted.interval));
    }
    if (subject.with_room && !wanted.with_room) {
      return reject(file, 0, "the proof is about schedules with room only, the claim about all");
    }
    if (subject.refuted != wanted.refuted) {
      return reject(file, 0, "the proof refutes another statement than the claim needs");
    }
    for (const Predicate& given : subject.given) {
      const bool kept = [&] {
        for (std::size_t i = 1; i < level; ++i) {
          if (limit_kind(levels_[i]) == given.kind) return claims_.values[i].second <= given.number;
        }
        return false;
      }();
      if (!kept) {
        return reject(file, 0,
                      "the proof has an assumption that the claim does not have: " +
                          text_of(given, problem_));
      }
    }
    auto checked = check_proof(chosen, found->second);
    if (checked) return true;
    return reject(file, checked.error().line, std::move(checked.error().reason));
  }

  bool check_never(const Problem& chosen, const Reason& reason) {
    if (reason.kind != Reason::Kind::proof) {
      const std::string objection = objection_to_never(chosen, reason);
      return objection.empty() || reject("never: " + objection);
    }
    for (const problem::Op& op : chosen.ops()) {
      if (op.alternatives.size() > 1)
        return reject("a proof is about one combination of alternatives");
    }
    const auto found = certificate_.proofs.find(reason.file);
    if (found == certificate_.proofs.end()) return reject("there is no proof " + reason.file);
    const Cycles decisive = decisive_interval(chosen, facts_of(chosen));
    Subject wanted;
    wanted.interval = found->second.subject.interval;
    if (wanted.interval < decisive) {
      return reject(reason.file, 0,
                    fmt::format("an interval of {} decides nothing, one of {} would",
                                wanted.interval, decisive));
    }
    return check_refutation(chosen, reason.file, wanted, 0, false);
  }

  bool check_verdict() {
    if (!check_coverage()) return false;
    for (std::size_t i = 0; i < claims_.cases.size(); ++i) {
      const Case& it = claims_.cases[i];
      if (claims_.verdict == Verdict::infeasible && !it.never) {
        return reject(fmt::format("case {}: no reason shows that there is no schedule", i + 1));
      }
      const bool nothing_better =
          claims_.verdict == Verdict::optimal || (!has_schedule() && !claims_.values.empty());
      if (nothing_better && !it.never && !is_no_better(it)) {
        return reject(fmt::format("case {}: a better schedule is not ruled out", i + 1));
      }
    }
    return true;
  }

  /// Whether every schedule of the case is, level by level, at least as large as the claimed
  /// values.
  bool is_no_better(const Case& it) const {
    for (std::size_t level = 0; level < claims_.values.size(); ++level) {
      if (level >= it.bounds.size()) return false;
      const std::int64_t claimed = claims_.values[level].second;
      if (it.bounds[level].value > claimed) return true;
      if (it.bounds[level].value < claimed) return false;
    }
    return true;
  }

  /// Checks that every combination of alternatives is in a case, or that an exchange turns it into
  /// an earlier combination.
  bool check_coverage() {
    std::set<std::vector<std::size_t>> covered;
    for (const Case& it : claims_.cases) {
      if (it.any) return true;
      std::vector<std::size_t> alternatives(problem_.ops().size(), 0);
      for (const auto& [op, alternative] : it.alternatives) alternatives[op] = alternative;
      covered.insert(std::move(alternatives));
    }
    std::vector<std::vector<std::size_t>> maps;
    for (const Exchange& it : claims_.exchanges) maps.push_back(map_of(problem_, it));
    std::vector<std::size_t> alternatives(problem_.ops().size(), 0);
    std::size_t count = 0;
    do {
      if (++count * alternatives.size() > kMostCombined) {
        return reject("there are too many combinations of alternatives");
      }
      if (covered.contains(alternatives)) continue;
      const bool alike = std::any_of(maps.begin(), maps.end(), [&](const auto& map) {
        std::vector<std::size_t> moved(alternatives.size());
        for (std::size_t op = 0; op < alternatives.size(); ++op) moved[op] = alternatives[map[op]];
        return moved < alternatives;
      });
      if (!alike) return reject("a combination of alternatives is in no case");
    } while (advance(alternatives));
    return true;
  }

  bool advance(std::vector<std::size_t>& alternatives) const {
    for (std::size_t op = alternatives.size(); op-- > 0;) {
      if (++alternatives[op] < problem_.ops()[op].alternatives.size()) return true;
      alternatives[op] = 0;
    }
    return false;
  }

  Cycles interval_bound(bool with_room = false) const {
    std::optional<Cycles> least;
    for (const Case& it : claims_.cases) {
      if (it.never) continue;
      Cycles bound = it.bounds.empty() ? 1 : it.bounds.front().value;
      if (with_room && it.with_room) bound = std::max(bound, it.with_room->value);
      least = std::min(least.value_or(bound), bound);
    }
    return least.value_or(1);
  }

  /// Compute groups of the pool.
  int most_groups() const {
    int count = 0;
    for (std::size_t i = 0; i < problem_.groups().size(); ++i)
      count += computes(problem_, i) ? 1 : 0;
    return count;
  }

  int compute_groups(const Schedule& schedule) const {
    std::set<std::size_t> groups;
    for (const schedule::Placement& at : schedule.ops) {
      if (computes(problem_, at.group.index())) groups.insert(at.group.index());
    }
    return static_cast<int>(groups.size());
  }

  std::vector<std::string> lines() const;

  const Certificate& certificate_;
  const Problem& problem_;
  const Claims& claims_;
  const std::vector<std::string> levels_;
  Rejection rejection_;
};

std::vector<std::string> Checker::lines() const {
  std::vector<std::string> out;
  out.push_back(fmt::format("problem    {}, SHA-256 {}", problem_.name(), claims_.hash));
  out.push_back(fmt::format("rules      {}: simulated, and kept when a schedule is stretched",
                            fmt::join(claims_.rules, ", ")));
  if (claims_.verdict == Verdict::infeasible) {
    out.push_back("infeasible no schedule at any interval");
  }
  for (std::size_t i = 0; i < claims_.values.size(); ++i) {
    const auto& [level, value] = claims_.values[i];
    const bool single = claims_.cases.size() == 1;
    std::string proven = "no less is claimed impossible";
    if (!has_schedule()) {
      proven = i == 0 ? "nothing is better" : "nothing is better with the values above";
    } else if (claims_.verdict == Verdict::optimal) {
      proven = i == 0 ? "proven least" : "proven least with the values above";
    } else if (i == 0) {
      proven = fmt::format("proven to be at least {}", interval_bound());
    } else if (single && i < claims_.cases.front().bounds.size()) {
      proven = fmt::format("proven to be at least {} with the values above",
                           claims_.cases.front().bounds[i].value);
    }
    out.push_back(fmt::format("{:<10} {}, {}", level, value, proven));
  }
  if (claims_.verdict == Verdict::undecided) {
    out.push_back(fmt::format("interval   proven to be at least {}; no schedule is claimed",
                              interval_bound()));
  }
  if (interval_bound(true) > interval_bound()) {
    const auto memory = problem::staging_memory(problem_);
    out.push_back(
        fmt::format("with room  at least {}, proven of the intervals of schedules that "
                    "leave room in {} for a copy of each value that changes groups",
                    interval_bound(true), problem_[*memory].name));
  }
  if (!certificate_.proofs.empty()) {
    std::size_t steps = 0;
    for (const auto& [file, proof] : certificate_.proofs) steps += proof.steps.size();
    out.push_back(
        fmt::format("proofs     {}, of {} steps together", certificate_.proofs.size(), steps));
  }
  return out;
}

}  // namespace

std::vector<std::string> levels_of(const Problem& problem) {
  std::vector<std::string> levels = {"interval"};
  for (const problem::Objective it : problem.objectives()) {
    levels.emplace_back(problem::name_of(it));
  }
  return levels;
}

std::vector<std::string> rules_of(const Problem& problem) {
  std::vector<std::string> rules;
  for (int rule = 0; rule < problem::kRuleCount; ++rule) {
    const auto it = static_cast<problem::Rule>(rule);
    if (problem.in_force(it)) rules.emplace_back(problem::name_of(it));
  }
  rules.emplace_back("minimum-groups");
  if (!problem.transfers().empty()) rules.emplace_back("transfer-op");
  const bool budgets = problem.in_force(problem::Rule::registers);
  if (budgets && !problem.register_budgets().empty()) rules.emplace_back("register-budget");
  return rules;
}

Checked check_certificate(const Certificate& certificate) { return Checker(certificate).check(); }

}  // namespace twill::certify
