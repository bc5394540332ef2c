#include "twill/prove/prove.h"

#include <utility>

#include <fmt/format.h>

#include "twill/certify/facts.h"
#include "twill/problem/problem.h"
#include "twill/prove/reasons.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/loop_text.h"
#include "twill/solve/candidate.h"
#include "twill/solve/confirm.h"

namespace twill::prove {
namespace {

using certify::AtLeast;
using certify::Case;
using certify::Certificate;
using certify::Proof;
using certify::Reason;
using problem::Objective;
using problem::Problem;
using schedule::Answer;
using schedule::Verdict;
using LimitKind = certify::Predicate::Kind;

LimitKind limit_kind(Objective objective) {
  switch (objective) {
    case Objective::groups:
      return LimitKind::groups;
    case Objective::crossings:
      return LimitKind::crossings;
    case Objective::length:
      return LimitKind::length;
  }
  return LimitKind::length;
}

Certificate empty_certificate(const Problem& problem) {
  Certificate out{problem, std::nullopt, {}, {}};
  out.claims.problem = problem.name();
  out.claims.hash = schedule::problem_hash(problem);
  out.claims.rules = certify::rules_of(problem);
  return out;
}

class Writer {
 public:
  Writer(const Problem& problem, const Answer& answer, const Recorder& recorder)
      : problem_(problem),
        answer_(answer),
        recorder_(recorder),
        certificate_(empty_certificate(problem)) {}

  tl::expected<Written, std::string> write(std::size_t most_combinations) {
    certificate_.schedule = answer_.schedule;
    certificate_.claims.verdict = answer_.verdict;
    for (const schedule::ObjectiveValue& level : answer_.objectives) {
      const bool first = certificate_.claims.values.empty();
      certificate_.claims.values.emplace_back(first ? "interval" : level.name, level.value);
    }
    if (std::optional<Reason> reason = answer_.schedule ? std::nullopt : never(problem_)) {
      certificate_.claims.verdict = Verdict::infeasible;
      certificate_.claims.values.clear();
      Case& it = certificate_.claims.cases.emplace_back();
      it.any = true;
      it.never = std::move(reason);
    } else {
      write_cases(most_combinations);
    }
    if (!wrong_.empty()) return tl::unexpected(wrong_);
    Written out{std::move(certificate_), {}, true};
    out.checked = certify::check_certificate(out.certificate);
    if (!out.checked.rejection) return out;
    return tl::unexpected(
        fmt::format("{}: {}", out.checked.rejection->file, out.checked.rejection->reason));
  }

 private:
  void write_cases(std::size_t most_combinations) {
    const solve::SubTiles sub_tiles = solve::find_sub_tiles(problem_);
    const solve::Candidates candidates =
        solve::candidates_of(problem_, sub_tiles, most_combinations);
    if (!candidates.all) {
      Case& it = certificate_.claims.cases.emplace_back();
      it.any = true;
      it.bounds.push_back(interval_bound(problem_));
      return;
    }
    single_ = candidates.tried.size() == 1;
    if (!single_) add_exchanges(sub_tiles);
    for (const solve::Candidate& it : candidates.tried) {
      certificate_.claims.cases.push_back(case_of(it));
    }
  }

  void add_exchanges(const solve::SubTiles& sub_tiles) {
    for (const solve::Exchange& map : sub_tiles.exchanges) {
      certify::Exchange& exchange = certificate_.claims.exchanges.emplace_back();
      for (std::size_t op = 0; op < map.size(); ++op) {
        if (op < map[op]) exchange.emplace_back(op, map[op]);
      }
    }
  }

  Case case_of(const solve::Candidate& candidate) {
    ++number_;
    Case out;
    for (std::size_t op = 0; op < candidate.alternatives.size(); ++op) {
      if (problem_.ops()[op].alternatives.size() < 2) continue;
      out.alternatives.emplace_back(op, static_cast<std::size_t>(candidate.alternatives[op]));
    }
    AtLeast bound = interval_bound(candidate.problem);
    const auto proof = recorder_.interval(candidate.alternatives);
    if (proof && proof->subject.interval >= decisive(candidate.problem)) {
      out.never = proven(candidate.problem, *proof, "never");
      return out;
    }
    if (proof && proof->subject.interval >= bound.value) {
      bound.value = proof->subject.interval + 1;
      bound.reason = proven(candidate.problem, *proof, "interval");
    }
    out.bounds.push_back(bound);
    const bool claimed = !answer_.objectives.empty() &&
                         bound.value <= answer_.objectives.front().value &&
                         (answer_.verdict != Verdict::feasible || single_);
    if (claimed) add_objectives(candidate, out);
    return out;
  }

  static Cycles decisive(const Problem& problem) {
    return certify::decisive_interval(problem, certify::facts_of(problem));
  }

  /// Adds the bounds of the other levels, up to the first that exceeds the schedule's value.
  void add_objectives(const solve::Candidate& candidate, Case& out) {
    const Cycles interval = answer_.objectives.front().value;
    for (std::size_t i = 0; i + 1 < answer_.objectives.size(); ++i) {
      const Objective objective = problem_.objectives()[i];
      AtLeast bound = objective_bound(candidate.problem, objective, interval);
      const auto proof = recorder_.limit(candidate.alternatives, interval, limit_kind(objective));
      if (proof && proof->subject.refuted->number >= bound.value) {
        bound.value = proof->subject.refuted->number + 1;
        bound.reason = proven(candidate.problem, *proof, problem::name_of(objective));
      }
      out.bounds.push_back(bound);
      if (bound.value > answer_.objectives[i + 1].value) return;
    }
  }

  Reason proven(const Problem& problem, const Proof& proof, std::string_view what) {
    Reason reason;
    reason.kind = Reason::Kind::proof;
    reason.file =
        single_ ? fmt::format("{}.proof", what) : fmt::format("case-{}-{}.proof", number_, what);
    auto trimmed = certify::trim_proof(problem, proof);
    if (trimmed) {
      certificate_.proofs.emplace(reason.file, *std::move(trimmed));
    } else if (wrong_.empty()) {
      wrong_ = fmt::format("{}: {}", reason.file, trimmed.error().reason);
    }
    return reason;
  }

  const Problem& problem_;
  const Answer& answer_;
  const Recorder& recorder_;
  Certificate certificate_;
  std::string wrong_;
  bool single_ = true;  ///< there is one combination of alternatives
  int number_ = 0;      ///< number of the case
};

/// Makes the Problem with the alternatives of a case only.
Problem problem_of(const Problem& problem, const Case& it) {
  problem::Parts parts = problem.parts();
  for (const auto& [op, alternative] : it.alternatives) {
    auto& alternatives = parts.ops[op].alternatives;
    alternatives = {problem::Alternative(alternatives[alternative])};
  }
  return problem::pose(std::move(parts)).value();  // well-formed, since it only has fewer choices
}

/// Adds to a case the refuted interval of its schedules with room, if it is above the bound for all
/// schedules. Returns why the proof is wrong; empty if it is right.
std::string add_with_room(const Problem& problem, const Recorder& recorder, std::size_t number,
                          Certificate& certificate) {
  Case& it = certificate.claims.cases[number];
  if (it.any || it.never) return "";
  std::vector<int> alternatives(problem.ops().size(), 0);
  for (const auto& [op, chosen] : it.alternatives) alternatives[op] = static_cast<int>(chosen);
  std::optional<Proof> proof = recorder.interval(alternatives);
  if (!proof || proof->subject.interval < it.bounds.front().value) return "";
  proof->subject.with_room = true;
  auto trimmed = certify::trim_proof(problem_of(problem, it), *proof);
  if (!trimmed) return trimmed.error().reason;
  AtLeast& bound = it.with_room.emplace();
  bound.level = "interval";
  bound.value = proof->subject.interval + 1;
  bound.reason.kind = Reason::Kind::proof;
  const bool single = certificate.claims.cases.size() == 1;
  bound.reason.file =
      single ? "with-room.proof" : fmt::format("case-{}-with-room.proof", number + 1);
  certificate.proofs.emplace(bound.reason.file, *std::move(trimmed));
  return "";
}

/// Levels of an answer that have to be refuted anew, as `solve::confirm` takes them.
std::vector<schedule::ObjectiveValue> levels_of(const Answer& answer) {
  if (!answer.objectives.empty()) return answer.objectives;
  const Cycles bound = answer.lower_bound.value;
  return {{"initiation_interval", bound, bound, true}};
}

/// Weakens an answer whose refutations were not all found again.
void weaken(Answer& answer) {
  answer.verdict = answer.schedule ? Verdict::feasible : Verdict::undecided;
  if (!answer.schedule) answer.objectives.clear();
}

}  // namespace

tl::expected<Written, std::string> certify(const Problem& problem, const Answer& answer,
                                           const solve::Options& options) {
  Recorder recorder(problem.ops().size());
  solve::Options recorded = options;
  recorded.proof = &recorder;
  recorded.start = answer.schedule;
  const solve::Decision decision = answer.verdict == Verdict::infeasible
                                       ? solve::confirm_infeasible(problem, recorded)
                                       : solve::confirm(problem, levels_of(answer), recorded);
  if (decision.decided == solve::Decided::feasible) {
    return tl::unexpected(std::string("there is a schedule that the answer claims impossible"));
  }
  const bool complete = decision.decided == solve::Decided::infeasible;
  Answer claimed = answer;
  if (!complete) weaken(claimed);
  auto written = Writer(problem, claimed, recorder).write(options.most_combinations);
  if (written) written->complete = complete;
  return written;
}

tl::expected<Written, std::string> certify_nothing_better(const Problem& problem,
                                                          std::span<const std::int64_t> values,
                                                          const solve::Options& options) {
  Answer nothing;  // claims that no schedule is better
  nothing.lower_bound.value = values.front();
  const std::vector<std::string> levels = certify::levels_of(problem);
  for (std::size_t i = 0; i < values.size(); ++i) {
    nothing.objectives.push_back({levels[i], values[i], values[i], true});
  }
  return certify(problem, nothing, options);
}

tl::expected<Written, std::string> with_room(Written written, Cycles bound,
                                             const solve::Options& options) {
  Certificate& certificate = written.certificate;
  Recorder recorder(certificate.problem.ops().size());
  solve::Options recorded = options;
  recorded.proof = &recorder;
  recorded.room_for_staging = true;
  const schedule::ObjectiveValue interval = {"initiation_interval", bound, bound, true};
  const auto decided = solve::confirm(certificate.problem, std::span(&interval, 1), recorded);
  if (decided.decided == solve::Decided::feasible) {
    return tl::unexpected(std::string("there is a schedule with room that is claimed impossible"));
  }
  Written out = written;
  for (std::size_t i = 0; i < out.certificate.claims.cases.size(); ++i) {
    std::string wrong = add_with_room(certificate.problem, recorder, i, out.certificate);
    if (!wrong.empty()) return tl::unexpected(std::move(wrong));
  }
  out.checked = certify::check_certificate(out.certificate);
  if (out.checked.rejection) return tl::unexpected(out.checked.rejection->reason);
  out.complete = out.complete && out.checked.bound_with_room >= bound;
  return out;
}

tl::expected<Written, std::string> certify_interval(const Problem& problem, Cycles bound,
                                                    const solve::Options& options) {
  Answer nothing;
  nothing.lower_bound.value = bound;
  return certify(problem, nothing, options);
}

tl::expected<Proven, std::string> prove(const Problem& problem, const solve::Options& options) {
  Answer answer = solve::solve(problem, options);
  auto written = certify(problem, answer, options);
  if (!written) return tl::unexpected(std::move(written).error());
  return Proven{std::move(answer), std::move(written->certificate)};
}

}  // namespace twill::prove
