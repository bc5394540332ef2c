#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/emit/smtlib.h"
#include "twill/emit/smtlib/script.h"
#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"

// Figures 4 to 6 of the paper, constraint by constraint under its names. Three shorter forms do not
// change the solutions. `before` (issued before that cycle) replaces the ranges of t' and s. `busy`
// replaces the range of t' in Concurrency. The four liveness rules give live[t - 1] for every value
// of live[t], op[t] and the uses at t: together they are one equation.

namespace twill::emit {
namespace {

using namespace problem;

class Literal {
 public:
  Literal(const Problem& problem, const StraightLine& shape)
      : problem_(problem),
        shape_(shape),
        copies_((shape.length + shape.ii - 1) / shape.ii),
        total_(total_of(shape)) {}

  std::string text() && {
    head();
    for (std::size_t v = 0; v < count(); ++v) {
      uniqueness(v);
      consistency(v);
      completion(v);
      warps(v);
    }
    if (problem_.in_force(Rule::dependence)) dependences();
    capacity();
    for (std::size_t v = 0; v < count(); ++v) {
      if (op(v).registers > 0 || !op(v).footprint.empty()) liveness(v);
    }
    if (problem_.in_force(Rule::memory)) memory();
    if (problem_.in_force(Rule::registers)) registers();
    if (problem_.in_force(Rule::blocking)) concurrency();
    return std::move(script_).finish();
  }

 private:
  std::size_t count() const { return problem_.ops().size(); }
  const Op& op(std::size_t v) const { return problem_.ops()[v]; }
  const Alternative& alternative(std::size_t v) const { return op(v).alternatives.front(); }
  Cycles delay(const Dependence& it) const {
    return delay_of(it, problem_[it.from], alternative(it.from.index()));
  }

  void head() {
    script_.comment(
        fmt::format("The Twill paper, Figures 4 to 6, for the loop {}: I = {}, L = {}, {} copies, "
                    "T = {}",
                    problem_.name(), shape_.ii, shape_.length, copies_, total_));
    script_.comment(
        "A solution need not be a schedule, nor a schedule a solution: see docs/paper.md.");
    script_.comment("problem " + schedule::problem_hash(problem_));
    script_.set_logic();
  }

  // Variables. A variable outside [0, T) is false.

  Term issues(std::size_t v, Cycles copy, Cycles t) const {
    if (t < 0 || t >= total_) return kFalse;
    return fmt::format("op!{}!{}!{}", op(v).name, copy, t);
  }

  /// op[v, copy, t'] for some t' < t.
  Term before(std::size_t v, Cycles copy, Cycles t) const {
    if (t <= 0) return kFalse;
    if (t >= total_) return kTrue;
    return fmt::format("before!{}!{}!{}", op(v).name, copy, t);
  }

  /// op[v, copy, t'] for some t' in (t - cycles, t].
  Term runs(std::size_t v, Cycles copy, Cycles t, Cycles cycles) const {
    return all_of({before(v, copy, t + 1), negation(before(v, copy, t + 1 - cycles))});
  }

  Term live(std::size_t v, Cycles copy, Cycles t) const {
    return fmt::format("live!{}!{}!{}", op(v).name, copy, t);
  }

  Term on(std::size_t v, std::size_t w) const {
    const Group& group = problem_.groups()[w];
    if (problem_.in_force(Rule::width) && group.warps != op(v).warps) return kFalse;
    const bool variable = op(v).variable_latency;
    if (problem_.in_force(Rule::load_group) && group.loads != variable) return kFalse;
    return fmt::format("opw!{}!{}", op(v).name, group.name);
  }

  Term same_warp(std::size_t u, std::size_t v) const {
    if (u == v) return kTrue;
    std::vector<Term> any;
    for (std::size_t w = 0; w < problem_.groups().size(); ++w) {
      any.push_back(all_of({on(u, w), on(v, w)}));
    }
    return any_of(any);
  }

  // Figure 4.

  void uniqueness(std::size_t v) {
    for (Cycles i = 0; i < copies_; ++i) {
      std::vector<Term> ones;
      for (Cycles t = 0; t < total_; ++t) {
        script_.declare(issues(v, i, t), "Bool");
        ones.push_back(if_then(issues(v, i, t), number(1)));
      }
      script_.claim(fmt::format("(= {} 1)", sum_of(ones)));
      for (Cycles t = 1; t < total_; ++t) {
        script_.declare(before(v, i, t), "Bool");
        const Term earlier = any_of({before(v, i, t - 1), issues(v, i, t - 1)});
        script_.claim(fmt::format("(= {} {})", before(v, i, t), earlier));
      }
    }
  }

  void consistency(std::size_t v) {
    for (Cycles i = 1; i < copies_; ++i) {
      for (Cycles t = 0; t < total_; ++t) {
        script_.claim(implies(issues(v, 0, t), issues(v, i, t + i * shape_.ii)));
      }
    }
  }

  /// cycles(v) of the paper: the rows of its reservation table.
  Cycles cycles(std::size_t v) const {
    Cycles rows = span_of(alternative(v));
    for (const PipeUse& use : alternative(v).pipes) rows = std::max(rows, use.demand);
    return rows;
  }

  void completion(std::size_t v) {
    for (Cycles i = 0; i < copies_; ++i) {
      for (Cycles t = std::max<Cycles>(0, total_ - cycles(v) + 1); t < total_; ++t) {
        script_.claim(negation(issues(v, i, t)));
      }
    }
  }

  /// Dependence of Figure 4, and Cross-Warp Spills of Figure 6.
  void dependences() {
    for (const Dependence& it : problem_.dependences()) {
      const std::size_t u = it.from.index();
      const std::size_t v = it.to.index();
      const Term crossing = negation(same_warp(u, v));
      for (Cycles i = 0; i + it.distance < copies_; ++i) {
        for (Cycles t = 0; t < total_; ++t) {
          const Cycles ready = t + delay(it);
          const Cycles copy = i + it.distance;
          script_.claim(implies(issues(u, i, t), negation(before(v, copy, ready))));
          if (it.transfer == 0) continue;
          script_.claim(implies(all_of({issues(u, i, t), crossing}),
                                negation(before(v, copy, ready + it.transfer))));
        }
      }
    }
  }

  /// Units, and pipes as units: in the paper every functional unit is exclusive.
  void capacity() {
    for (std::size_t f = 0; f < problem_.units().size(); ++f) {
      std::vector<std::pair<std::size_t, Cycles>> users;
      for (std::size_t v = 0; v < count(); ++v) {
        if (alternative(v).unit && alternative(v).unit->index() == f)
          users.emplace_back(v, alternative(v).occupancy);
      }
      if (problem_.in_force(Rule::unit)) at_most_one(users);
    }
    for (std::size_t p = 0; p < problem_.pipes().size(); ++p) {
      std::vector<std::pair<std::size_t, Cycles>> users;
      for (std::size_t v = 0; v < count(); ++v) {
        for (const PipeUse& use : alternative(v).pipes) {
          if (use.pipe.index() == p) users.emplace_back(v, use.demand);
        }
      }
      if (problem_.in_force(Rule::pipe)) at_most_one(users);
    }
  }

  void at_most_one(const std::vector<std::pair<std::size_t, Cycles>>& users) {
    for (Cycles t = 0; t < total_ && !users.empty(); ++t) {
      std::vector<Term> held;
      for (const auto& [v, cycles] : users) {
        for (Cycles i = 0; i < copies_; ++i)
          held.push_back(if_then(runs(v, i, t, cycles), number(1)));
      }
      script_.claim(at_most(sum_of(held), number(1)));
    }
  }

  // Figure 5.

  bool is_carried(std::size_t v) const {
    return std::any_of(problem_.dependences().begin(), problem_.dependences().end(),
                       [&](const Dependence& it) {
                         return it.from.index() == v && it.carries_value && it.distance > 0;
                       });
  }

  Term is_used(std::size_t v, Cycles copy, Cycles t) const {
    std::vector<Term> uses;
    for (const Dependence& it : problem_.dependences()) {
      if (it.from.index() != v || !it.carries_value || copy + it.distance >= copies_) continue;
      uses.push_back(issues(it.to.index(), copy + it.distance, t));
    }
    return any_of(uses);
  }

  void liveness(std::size_t v) {
    for (Cycles i = 0; i < copies_; ++i) {
      for (Cycles t = 0; t <= total_; ++t) script_.declare(live(v, i, t), "Bool");
      const bool at_the_end = i == copies_ - 1 && is_carried(v);
      script_.claim(at_the_end ? live(v, i, total_) : negation(live(v, i, total_)));
      for (Cycles t = total_; t >= 1; --t) {
        script_.claim(fmt::format("(= {} (ite {} {} {}))", live(v, i, t - 1), live(v, i, t),
                                  negation(issues(v, i, t)), is_used(v, i, t)));
      }
    }
  }

  void memory() {
    for (std::size_t m = 0; m < problem_.memories().size(); ++m) {
      for (Cycles t = 0; t < total_; ++t) {
        std::vector<Term> held;
        for (std::size_t v = 0; v < count(); ++v) {
          for (const Footprint& it : op(v).footprint) {
            if (it.memory.index() != m) continue;
            for (Cycles i = 0; i < copies_; ++i) {
              held.push_back(if_then(live(v, i, t), number(it.amount)));
            }
          }
        }
        if (held.empty()) break;
        script_.claim(at_most(sum_of(held), number(problem_.memories()[m].capacity)));
      }
    }
  }

  // Figure 6.

  void warps(std::size_t v) {
    std::vector<Term> any;
    for (std::size_t w = 0; w < problem_.groups().size(); ++w) {
      any.push_back(on(v, w));
      if (any.back() != kFalse) script_.declare(any.back(), "Bool");
    }
    script_.claim_one_of(any);
  }

  void registers() {
    for (std::size_t w = 0; w < problem_.groups().size(); ++w) {
      for (Cycles t = 0; t < total_; ++t) {
        std::vector<Term> held;
        for (std::size_t v = 0; v < count(); ++v) {
          if (op(v).registers == 0 || on(v, w) == kFalse) continue;
          for (Cycles i = 0; i < copies_; ++i) {
            held.push_back(if_then(all_of({live(v, i, t), on(v, w)}), number(op(v).registers)));
          }
        }
        if (held.empty()) break;
        script_.claim(at_most(sum_of(held), number(problem_.groups()[w].registers)));
      }
    }
  }

  /// v waits: for an edge declared blocking, or for registers of another warp, which the paper has
  /// "elided for brevity".
  Term waits(std::size_t v) const {
    std::vector<Term> any;
    for (const Dependence& it : problem_.dependences()) {
      if (it.to.index() != v) continue;
      if (it.blocking) return kTrue;
      if (!it.carries_value || problem_[it.from].registers == 0) continue;
      any.push_back(negation(same_warp(it.from.index(), v)));
    }
    return any_of(any);
  }

  Term busy(std::size_t o, Cycles t) const { return fmt::format("busy!{}!{}", op(o).name, t); }

  void concurrency() {
    for (std::size_t o = 0; o < count(); ++o) {
      for (Cycles t = 0; t < total_; ++t) {
        std::vector<Term> any;
        for (Cycles i = 0; i < copies_; ++i) any.push_back(runs(o, i, t, cycles(o)));
        script_.define(busy(o, t), "Bool", any_of(any));
      }
    }
    for (std::size_t v = 0; v < count(); ++v) {
      const Term waiting = waits(v);
      for (std::size_t o = 0; o < count(); ++o) {
        const Term clash = all_of({waiting, o == v ? kFalse : same_warp(o, v)});
        if (clash == kFalse) continue;
        const Term name = fmt::format("clash!{}!{}", op(v).name, op(o).name);
        script_.define(name, "Bool", clash);
        for (Cycles i = 0; i < copies_; ++i) {
          for (Cycles t = 0; t < total_; ++t) {
            script_.claim(implies(all_of({issues(v, i, t), name}), negation(busy(o, t))));
          }
        }
      }
    }
  }

  const Problem& problem_;
  StraightLine shape_;
  Cycles copies_;
  Cycles total_;
  Script script_;
};

}  // namespace

Cycles total_of(const StraightLine& shape) {
  const Cycles copies = (shape.length + shape.ii - 1) / shape.ii;
  return (copies - 1) * shape.ii + shape.length;
}

Result<std::string> smtlib_literal(const Problem& problem, const StraightLine& shape) {
  for (const Op& op : problem.ops()) {
    if (op.alternatives.size() > 1) {
      return fail({},
                  fmt::format("op {} has several alternatives, but the paper has one", op.name));
    }
  }
  if (!problem.transfers().empty()) {
    return fail({}, "the paper has no transfer ops: there, transfers are a delay without a cost",
                "ask of the loop with transfers, or without --literal");
  }
  if (problem.in_force(Rule::registers) && !problem.register_budgets().empty()) {
    return fail({}, "groups share a register budget, but in the paper each has its own limit",
                "leave the register budgets out, or relax registers");
  }
  const auto ops = static_cast<double>(problem.ops().size());
  const auto total = static_cast<double>(total_of(shape));
  const double copies = static_cast<double>(shape.length) / static_cast<double>(shape.ii) + 1;
  // Lines for an op, copy and cycle, without the lines for pairs of ops.
  constexpr double kOwn = 10;
  if (ops * (ops + kOwn) * copies * total > kMostLiteralTerms) {
    return fail({},
                fmt::format("the paper's model of {} ops over {} cycles is too large to print",
                            problem.ops().size(), total_of(shape)),
                "make the cycle counts smaller with --normalize 300");
  }
  return Literal(problem, shape).text();
}

}  // namespace twill::emit
