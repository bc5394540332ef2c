#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/emit/smtlib.h"
#include "twill/emit/smtlib/script.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/loop_text.h"

// The rules, section by section of docs/reference/rules.md. An issue cycle is II * stage + slot
// with 0 <= slot < II. So "the next issue of b after one of a" and "copies alive" are statements
// about differences of two variables.

namespace twill::emit {
namespace {

using namespace problem;

class Modulo {
 public:
  Modulo(const Problem& problem, Cycles ii)
      : problem_(problem),
        ii_(ii),
        transfer_ops_(transfer_ops_of(problem)),
        exists_(problem.ops().size(), kTrue) {}

  std::string text() && {
    head();
    declare_ops();
    transfers();
    if (problem_.in_force(Rule::dependence)) dependences();
    for (std::size_t a = 0; a < count(); ++a) {
      alone(a);
      for (std::size_t b = 0; b < count(); ++b) {
        if (a != b) pair(a, b);
      }
    }
    if (problem_.in_force(Rule::unit)) unit_totals();
    if (problem_.in_force(Rule::pipe)) pipes();
    if (problem_.in_force(Rule::memory)) memories();
    if (problem_.in_force(Rule::placement)) placement();
    if (problem_.in_force(Rule::registers)) registers();
    minimum_groups();
    share_groups();
    return std::move(script_).finish();
  }

 private:
  std::size_t count() const { return problem_.ops().size(); }
  const Op& op(std::size_t v) const { return problem_.ops()[v]; }

  void head() {
    script_.comment(
        fmt::format("Has the loop {} a schedule with an initiation interval of {} cycles?",
                    problem_.name(), ii_));
    script_.comment(
        "sat: yes, the model is one. unsat: no, and none at a smaller interval either.");
    script_.comment("problem " + schedule::problem_hash(problem_));
    script_.set_logic();
  }

  // Variables.

  Term stage(std::size_t v) const { return "stage!" + op(v).name; }
  Term slot(std::size_t v) const { return "slot!" + op(v).name; }

  /// v is carried out by that alternative.
  Term by(std::size_t v, const Alternative& alternative) const {
    return op(v).alternatives.size() == 1
               ? kTrue
               : fmt::format("alternative!{}!{}", op(v).name, alternative.name);
  }

  /// v runs in that group.
  Term in(std::size_t v, std::size_t h) const {
    const Group& group = problem_.groups()[h];
    if (problem_.in_force(Rule::width) && group.warps != op(v).warps) return kFalse;
    const bool load = op(v).variable_latency;
    if (problem_.in_force(Rule::load_group) && group.loads != load) return kFalse;
    return fmt::format("in!{}!{}", op(v).name, group.name);
  }

  Term same_group(std::size_t u, std::size_t v) const {
    if (u == v) return kTrue;
    std::vector<Term> any;
    for (std::size_t h = 0; h < problem_.groups().size(); ++h) {
      any.push_back(all_of({in(u, h), in(v, h)}));
    }
    return any_of(any);
  }

  /// Both u and v exist.
  Term exist(std::size_t u, std::size_t v) const { return all_of({exists_[u], exists_[v]}); }

  /// The value is transferred: where the two groups differ, the reader has a load instead of
  /// reading the value directly.
  bool is_transferred(const Dependence& it) const {
    return std::any_of(
        problem_.transfers().begin(), problem_.transfers().end(), [&](const Transfer& transfer) {
          return transfer.value == it.from && it.carries_value &&
                 std::any_of(transfer.loads.begin(), transfer.loads.end(),
                             [&](const Transfer::Load& load) { return load.reader == it.to; });
        });
  }

  /// Defines transfer ops: stores and loads exist if a pair of groups differs. A transfer op that
  /// does not exist gets the group that it would have.
  void transfers() {
    for (std::size_t v = 0; v < count(); ++v) {
      if (!transfer_ops_[v]) continue;
      script_.claim(same_group(v, transfer_ops_[v]->home.index()));
      std::vector<Term> any;
      for (const auto& [value, reader] : transfer_ops_[v]->moves) {
        any.push_back(negation(same_group(value.index(), reader.index())));
      }
      exists_[v] = any_of(any);
      if (exists_[v] == kTrue || exists_[v] == kFalse) continue;
      script_.define("exists!" + op(v).name, "Bool", exists_[v]);
      exists_[v] = "exists!" + op(v).name;
    }
  }

  void declare_ops() {
    for (std::size_t v = 0; v < count(); ++v) {
      script_.declare(stage(v), "Int");
      script_.declare(slot(v), "Int");
      script_.claim(at_least(stage(v), number(0)));
      script_.claim(at_least(slot(v), number(0)));
      script_.claim(at_most(slot(v), number(ii_ - 1)));
      std::vector<Term> groups;
      for (std::size_t h = 0; h < problem_.groups().size(); ++h) {
        groups.push_back(in(v, h));
        if (groups.back() != kFalse) script_.declare(groups.back(), "Bool");
      }
      script_.claim_one_of(groups);
      if (op(v).alternatives.size() == 1) continue;
      std::vector<Term> alternatives;
      for (const Alternative& alternative : op(v).alternatives) {
        alternatives.push_back(by(v, alternative));
        script_.declare(alternatives.back(), "Bool");
      }
      script_.claim_one_of(alternatives);
    }
  }

  // Times.

  /// II * quotient + rest, 0 <= rest < II.
  std::pair<Cycles, Cycles> split(Cycles cycles) const {
    const Cycles rest = ((cycles % ii_) + ii_) % ii_;
    return {(cycles - rest) / ii_, rest};
  }

  /// M(v) - M(u) >= cycles.
  Term after(std::size_t u, std::size_t v, Cycles cycles) const {
    if (u == v) return cycles <= 0 ? kTrue : kFalse;
    const auto [quotient, rest] = split(cycles);
    const Term stages = difference(stage(v), stage(u));
    const Term slots = difference(slot(v), slot(u));
    const Term within = all_of({at_least(stages, number(quotient)), at_least(slots, number(rest))});
    if (rest == 0) return any_of({at_least(stages, number(quotient + 1)), within});
    return any_of(
        {at_least(stages, number(quotient + 2)),
         all_of({at_least(stages, number(quotient + 1)), at_least(slots, number(rest - ii_))}),
         within});
  }

  /// From an issue of a to the next issue of b there are at least this many cycles, in all
  /// iterations.
  Term apart(std::size_t a, std::size_t b, Cycles cycles) const {
    if (cycles <= 0) return kTrue;
    if (cycles >= ii_) return kFalse;
    const Term slots = difference(slot(b), slot(a));
    return any_of({at_least(slots, number(cycles)),
                   all_of({at_most(slots, number(-1)), at_least(slots, number(cycles - ii_))})});
  }

  // Rules.

  void dependences() {
    for (const Dependence& it : problem_.dependences()) {
      const std::size_t u = it.from.index();
      const std::size_t v = it.to.index();
      const Term crossing = negation(same_group(u, v));
      for (const Alternative& alternative : op(u).alternatives) {
        const Cycles delay = delay_of(it, op(u), alternative) - it.distance * ii_;
        const Term done = all_of({exist(u, v), by(u, alternative)});
        script_.claim(implies(done, after(u, v, delay)));
        if (it.transfer == 0) continue;
        script_.claim(implies(all_of({done, crossing}), after(u, v, delay + it.transfer)));
      }
    }
  }

  /// Adds the limits of a single op, which hold for all schedules of the other ops.
  void alone(std::size_t v) {
    for (const Alternative& alternative : op(v).alternatives) {
      const bool unit = problem_.in_force(Rule::unit) && alternative.occupancy > ii_;
      const bool issue = problem_.in_force(Rule::one_stream) && alternative.issue > ii_;
      if (unit || issue) script_.claim(negation(all_of({exists_[v], by(v, alternative)})));
    }
  }

  void pair(std::size_t a, std::size_t b) {
    const Term together = same_group(a, b);
    const Term waits = problem_.in_force(Rule::blocking) ? blocks(b) : kFalse;
    for (const Alternative& alternative : op(a).alternatives) {
      const Term window = apart(a, b, alternative.issue);
      script_.claim(implies(all_of({exist(a, b), by(a, alternative), together, waits}), window));
      for (const Alternative& other : op(b).alternatives) {
        const Term both = all_of({exist(a, b), by(a, alternative), by(b, other)});
        if (problem_.in_force(Rule::unit) && alternative.unit && alternative.unit == other.unit) {
          script_.claim(implies(both, apart(a, b, alternative.occupancy)));
        }
        if (problem_.in_force(Rule::one_stream) && other.issue > 0) {
          script_.claim(implies(all_of({both, together}), window));
        }
      }
    }
  }

  /// v waits on a barrier or counter.
  Term blocks(std::size_t v) const {
    std::vector<Term> any;
    for (const Dependence& it : problem_.dependences()) {
      if (it.to.index() != v) continue;
      if (it.blocking) return kTrue;
      if (!it.carries_value || problem_[it.from].registers == 0 || is_transferred(it)) continue;
      any.push_back(negation(same_group(it.from.index(), v)));
    }
    return any_of(any);
  }

  /// Implied by the constraints on pairs, and added since known solvers do not derive it. Without
  /// it, Z3 takes minutes to find that a unit is overloaded.
  void unit_totals() {
    for (std::size_t f = 0; f < problem_.units().size(); ++f) {
      std::vector<Term> held;
      for (std::size_t v = 0; v < count(); ++v) {
        for (const Alternative& alternative : op(v).alternatives) {
          if (!alternative.unit || alternative.unit->index() != f) continue;
          held.push_back(
              if_then(all_of({exists_[v], by(v, alternative)}), number(alternative.occupancy)));
        }
      }
      if (held.size() > 1) script_.claim(at_most(sum_of(held), number(ii_)));
    }
  }

  void pipes() {
    for (std::size_t p = 0; p < problem_.pipes().size(); ++p) {
      std::vector<Term> demands;
      for (std::size_t v = 0; v < count(); ++v) {
        for (const Alternative& alternative : op(v).alternatives) {
          for (const PipeUse& use : alternative.pipes) {
            if (use.pipe.index() != p) continue;
            demands.push_back(
                if_then(all_of({exists_[v], by(v, alternative)}), number(use.demand)));
          }
        }
      }
      if (!demands.empty()) script_.claim(at_most(sum_of(demands), number(ii_)));
    }
  }

  // Values. A sum of lives is largest where a life begins, so it is computed there.

  bool is_read(std::size_t w) const {
    return std::any_of(
        problem_.dependences().begin(), problem_.dependences().end(),
        [&](const Dependence& it) { return it.from.index() == w && it.carries_value; });
  }

  /// At least the copies of w alive when v issues: begun so far, less those that ended.
  Term copies(std::size_t w, std::size_t v) {
    const Term name = fmt::format("copies!{}!{}", op(w).name, op(v).name);
    if (!counted_.emplace(w, v).second) return name;
    script_.declare(name, "Int");
    script_.claim(at_least(name, number(0)));
    for (const Dependence& it : problem_.dependences()) {
      if (it.from.index() != w || !it.carries_value) continue;
      const std::size_t u = it.to.index();
      const Term here = is_transferred(it) ? same_group(w, u) : kTrue;
      for (const Alternative& alternative : op(u).alternatives) {
        const auto [quotient, rest] = split(read_hold_of(it, op(u), alternative));
        const Term since = difference(slot(v), slot(u));
        const Term held = fmt::format("(ite {} 0 (ite {} 1 2))", at_least(since, number(rest)),
                                      at_least(since, number(rest - ii_)));
        const Term begun =
            w == v ? number(0) : fmt::format("(ite (< {} {}) (- 1) 0)", slot(v), slot(w));
        const Term count =
            sum_of({difference(stage(u), stage(w)), number(it.distance + quotient), held, begun});
        script_.claim(
            implies(all_of({exist(w, u), here, by(u, alternative)}), at_least(name, count)));
      }
    }
    return name;
  }

  Term times(Amount amount, const Term& term) const {
    return amount == 1 ? term : fmt::format("(* {} {})", number(amount), term);
  }

  void memories() {
    for (std::size_t m = 0; m < problem_.memories().size(); ++m) {
      std::vector<std::pair<std::size_t, Amount>> values;
      for (std::size_t v = 0; v < count(); ++v) {
        for (const Footprint& it : op(v).footprint) {
          if (it.memory.index() == m && it.amount > 0 && is_read(v))
            values.emplace_back(v, it.amount);
        }
      }
      for (const auto& [v, own] : values) {
        std::vector<Term> alive;
        for (const auto& [w, amount] : values) alive.push_back(times(amount, copies(w, v)));
        const Term fits = at_most(sum_of(alive), number(problem_.memories()[m].capacity));
        script_.claim(implies(exists_[v], fits));
      }
    }
  }

  Amount amount_in(std::size_t v, std::size_t m) const {
    for (const Footprint& it : op(v).footprint) {
      if (it.memory.index() == m) return it.amount;
    }
    return 0;
  }

  /// The ops whose values lie in a memory, by buffer: ops connected by in-place dependences share a
  /// buffer.
  std::vector<std::vector<std::size_t>> buffers_in(std::size_t m) const {
    std::vector<std::size_t> number(count());
    for (std::size_t v = 0; v < count(); ++v) number[v] = v;
    for (const Dependence& it : problem_.dependences()) {
      const std::size_t u = it.from.index();
      const std::size_t v = it.to.index();
      if (!it.in_place || amount_in(u, m) == 0 || amount_in(v, m) == 0) continue;
      const std::size_t before = number[u];
      for (std::size_t& each : number) each = each == before ? number[v] : each;
    }
    std::map<std::size_t, std::vector<std::size_t>> buffers;
    for (std::size_t v = 0; v < count(); ++v) {
      if (amount_in(v, m) > 0 && is_read(v)) buffers[number[v]].push_back(v);
    }
    std::vector<std::vector<std::size_t>> out;
    for (auto& [number_of, ops] : buffers) out.push_back(std::move(ops));
    return out;
  }

  /// The first address of a buffer, and the first address after it.
  Term offset(const std::vector<std::size_t>& buffer, std::size_t m) const {
    return fmt::format("offset!{}!{}", problem_.memories()[m].name, op(buffer.front()).name);
  }
  Term end(const std::vector<std::size_t>& buffer, std::size_t m) const {
    Amount size = 0;
    for (const std::size_t v : buffer) size = std::max(size, amount_in(v, m));
    const Term depth =
        fmt::format("depth!{}!{}", problem_.memories()[m].name, op(buffer.front()).name);
    return sum_of({offset(buffer, m), times(size, depth)});
  }

  /// Offsets: all copies of each buffer fit, and buffers that ever live together are disjoint. Two
  /// buffers live together if both are alive when a value of one of them is issued.
  void placement() {
    for (std::size_t m = 0; m < problem_.memories().size(); ++m) {
      const auto buffers = buffers_in(m);
      for (std::size_t b = 0; b < buffers.size(); ++b) {
        place(buffers[b], m);
        for (std::size_t a = 0; a < b; ++a) keep_apart(buffers[a], buffers[b], m);
      }
    }
  }

  void place(const std::vector<std::size_t>& buffer, std::size_t m) {
    const std::string& memory = problem_.memories()[m].name;
    const Term depth = fmt::format("depth!{}!{}", memory, op(buffer.front()).name);
    script_.declare(offset(buffer, m), "Int");
    script_.declare(depth, "Int");
    script_.claim(at_least(offset(buffer, m), number(0)));
    script_.claim(at_least(depth, number(0)));
    script_.claim(at_most(end(buffer, m), number(problem_.memories()[m].capacity)));
    for (const std::size_t v : buffer) {
      std::vector<Term> alive;
      for (const std::size_t w : buffer) alive.push_back(copies(w, v));
      script_.claim(implies(exists_[v], at_least(depth, sum_of(alive))));
    }
  }

  void keep_apart(const std::vector<std::size_t>& one, const std::vector<std::size_t>& other,
                  std::size_t m) {
    const Term apart =
        any_of({at_most(end(one, m), offset(other, m)), at_most(end(other, m), offset(one, m))});
    for (const std::size_t v : one) {
      for (const std::size_t w : other) {
        for (const auto& [event, value] : {std::pair(v, w), std::pair(w, v)}) {
          const Term meet = all_of({exists_[event], at_least(copies(event, event), number(1)),
                                    at_least(copies(value, event), number(1))});
          script_.claim(implies(meet, apart));
        }
      }
    }
  }

  void registers() {
    std::vector<std::size_t> values;
    for (std::size_t v = 0; v < count(); ++v) {
      if (op(v).registers > 0 && is_read(v)) values.push_back(v);
    }
    for (const RegisterBudget& budget : problem_.register_budgets()) share(budget);
    for (std::size_t h = 0; h < problem_.groups().size(); ++h) {
      const auto budget = problem_.budget_of(GroupId(h));
      for (const std::size_t v : values) {
        if (in(v, h) == kFalse) continue;
        std::vector<Term> alive;
        for (const std::size_t w : values) {
          if (in(w, h) == kFalse) continue;
          const Term own = times(op(w).registers, copies(w, v));
          alive.push_back(w == v ? own : if_then(in(w, h), own));
        }
        const Term fits = at_most(sum_of(alive), number(problem_.groups()[h].registers));
        const Term here = all_of({exists_[v], in(v, h)});
        script_.claim(implies(here, fits));
        if (!budget) continue;
        const RegisterBudget& it = problem_.register_budgets()[*budget];
        alive.push_back(number(it.reserve));
        script_.claim(implies(here, at_most(sum_of(alive), times(it.step, steps(h)))));
      }
    }
  }

  /// Steps that a group takes from its register budget.
  Term steps(std::size_t h) const { return "steps!" + problem_.groups()[h].name; }

  void share(const RegisterBudget& budget) {
    std::vector<Term> taken;
    for (const GroupId id : budget.groups) {
      taken.push_back(steps(id.index()));
      script_.declare(taken.back(), "Int");
      script_.claim(at_most(number(budget.reserve), times(budget.step, taken.back())));
    }
    script_.claim(at_most(sum_of(taken), number(budget.total / budget.step)));
  }

  void minimum_groups() {
    int width = 0;  // the widest group that is not for loads
    for (const problem::Group& it : problem_.groups()) {
      if (!it.loads && it.warps > width) width = it.warps;
    }
    std::vector<Term> used;
    for (std::size_t h = 0; h < problem_.groups().size(); ++h) {
      const problem::Group& group = problem_.groups()[h];
      if (group.loads || group.warps < width) continue;
      std::vector<Term> any;
      for (std::size_t v = 0; v < count(); ++v) any.push_back(in(v, h));
      used.push_back(if_then(any_of(any), number(1)));
    }
    Cycles computes = 0;
    for (std::size_t v = 0; v < count(); ++v) {
      if (!transfer_ops_[v] && !op(v).variable_latency && op(v).warps == width) ++computes;
    }
    const Cycles wanted = std::min({static_cast<Cycles>(problem_.minimum_compute_groups()),
                                    static_cast<Cycles>(used.size()), computes});
    if (wanted > 0) script_.claim(at_least(sum_of(used), number(wanted)));
  }

  void share_groups() {
    for (const std::vector<problem::OpId>& ops : problem_.same_group()) {
      for (std::size_t i = 1; i < ops.size(); ++i) {
        script_.claim(same_group(ops[0].index(), ops[i].index()));
      }
    }
  }

  const Problem& problem_;
  Cycles ii_;
  Script script_;
  std::vector<std::optional<TransferOp>> transfer_ops_;  ///< by op: stores and loads of transfers
  std::vector<Term> exists_;                             ///< by op: kTrue for all but transfer ops
  std::set<std::pair<std::size_t, std::size_t>> counted_;
};

}  // namespace

std::string smtlib(const Problem& problem, Cycles ii) { return Modulo(problem, ii).text(); }

}  // namespace twill::emit
