#include "solve/z3_oracle.h"

#include <algorithm>
#include <string>

#include <z3++.h>

#include "solve/z3_solver.h"
#include "twill/problem/transfer.h"

namespace twill::solve_test {
namespace {

using namespace problem;

class Oracle {
 public:
  Oracle(const Problem& problem, Cycles ii)
      : problem_(problem), ii_(ii), solver_(quick_solver(context_)) {
    for (std::size_t i = 0; i < problem.ops().size(); ++i) {
      issue_.push_back(context_.int_const(("m" + std::to_string(i)).c_str()));
      group_.push_back(context_.int_const(("g" + std::to_string(i)).c_str()));
      exists_.push_back(context_.bool_val(true));
    }
  }

  std::optional<bool> ask(const std::vector<std::int64_t>& values,
                          std::optional<std::int64_t> limit) {
    add_groups();
    add_transfers();
    if (problem_.in_force(Rule::dependence)) add_dependences();
    add_pairs();
    add_loads();
    add_storage();
    if (problem_.in_force(Rule::placement)) add_placement();
    for (std::size_t i = 0; i < values.size(); ++i) {
      solver_.add(objective(problem_.objectives()[i]) == number(values[i]));
    }
    if (limit) solver_.add(objective(problem_.objectives()[values.size()]) <= number(*limit));
    const std::optional<bool> answer = answer_of(solver_, 2'000'000);
    if (answer) return answer;
    z3::solver standard(context_);
    for (const z3::expr& it : solver_.assertions()) standard.add(it);
    return answer_of(standard, 1'000'000);
  }

 private:
  z3::expr number(std::int64_t value) { return context_.int_val(value); }
  z3::expr zero_one(const z3::expr& condition) { return z3::ite(condition, number(1), number(0)); }
  const Alternative& alternative(std::size_t op) const {
    return problem_.ops()[op].alternatives[0];
  }
  std::size_t count() const { return problem_.ops().size(); }

  void add_groups() {
    for (std::size_t i = 0; i < count(); ++i) {
      z3::expr allowed = context_.bool_val(false);
      for (std::size_t h = 0; h < problem_.groups().size(); ++h) {
        const Group& group = problem_.groups()[h];
        const Op& op = problem_.ops()[i];
        if (problem_.in_force(Rule::width) && group.warps != op.warps) continue;
        if (problem_.in_force(Rule::load_group) && group.loads != op.variable_latency) continue;
        allowed = allowed || group_[i] == static_cast<int>(h);
      }
      solver_.add(allowed);
    }
    for (const std::vector<OpId>& ops : problem_.same_group()) {
      for (const OpId op : ops) solver_.add(group_[op.index()] == group_[ops.front().index()]);
    }
    z3::expr compute = number(0);
    int pool = 0;
    int widest = 0;
    for (const auto& it : problem_.groups()) widest = std::max(widest, it.loads ? 0 : it.warps);
    for (std::size_t h = 0; h < problem_.groups().size(); ++h) {
      if (problem_.groups()[h].loads || problem_.groups()[h].warps != widest) continue;
      ++pool;
      compute = compute + zero_one(used(h));
    }
    int fixed_latency = 0;
    for (const Op& op : problem_.ops()) {
      fixed_latency += !op.variable_latency && op.warps == widest ? 1 : 0;
    }
    for (const Transfer& it : problem_.transfers()) {
      fixed_latency -= problem_[it.store].warps == widest ? 1 : 0;
      for (const Transfer::Load& load : it.loads) {
        fixed_latency -= problem_[load.op].warps == widest ? 1 : 0;
      }
    }
    solver_.add(compute >= std::min({problem_.minimum_compute_groups(), pool, fixed_latency}));
  }

  /// Adds the rule `transfer`, word by word.
  void add_transfers() {
    for (const Transfer& it : problem_.transfers()) {
      const auto group = [&](OpId op) { return group_[op.index()]; };
      z3::expr any = context_.bool_val(false);
      for (const Transfer::Load& load : it.loads) {
        exists_[load.op.index()] = group(it.value) != group(load.reader);
        any = any || exists_[load.op.index()];
        solver_.add(group(load.op) == group(load.reader));
      }
      exists_[it.store.index()] = any;
      solver_.add(group(it.store) == group(it.value));
    }
  }

  /// Whether `to` reads the value of `from` itself, and not the result of a load.
  z3::expr reads(const Dependence& it) {
    z3::expr direct = exists_[it.to.index()];
    for (const Transfer& transfer : problem_.transfers()) {
      for (const Transfer::Load& load : transfer.loads) {
        if (transfer.value != it.from || load.reader != it.to) continue;
        direct = direct && !exists_[load.op.index()];
      }
    }
    return direct;
  }

  z3::expr used(std::size_t h) {
    z3::expr any = context_.bool_val(false);
    for (const z3::expr& group : group_) any = any || group == static_cast<int>(h);
    return any;
  }

  void add_dependences() {
    for (const Dependence& it : problem_.dependences()) {
      const std::size_t u = it.from.index();
      const std::size_t v = it.to.index();
      const Cycles delay = delay_of(it, problem_.ops()[u], alternative(u)) - it.distance * ii_;
      const z3::expr transfer = z3::ite(group_[u] == group_[v], number(0), number(it.transfer));
      solver_.add(
          z3::implies(exists_[u] && exists_[v], issue_[v] - issue_[u] >= number(delay) + transfer));
    }
  }

  /// Cycles from the issue of a to the next issue of b.
  z3::expr until(std::size_t a, std::size_t b) {
    return z3::mod(issue_[b] - issue_[a], number(ii_));
  }

  z3::expr waits(std::size_t v) {
    z3::expr any = context_.bool_val(false);
    for (const Dependence& it : problem_.dependences()) {
      if (it.to.index() != v) continue;
      if (it.blocking) any = context_.bool_val(true);
      if (it.carries_value && problem_[it.from].registers > 0) {
        any = any || (reads(it) && group_[it.from.index()] != group_[v]);
      }
    }
    return any;
  }

  void add_pairs() {
    for (std::size_t a = 0; a < count(); ++a) {
      for (std::size_t b = 0; b < count(); ++b) {
        if (a != b) add_pair(a, b);
      }
    }
  }

  void add_pair(std::size_t a, std::size_t b) {
    const z3::expr both = exists_[a] && exists_[b];
    const bool same_unit = alternative(a).unit && alternative(a).unit == alternative(b).unit;
    if (problem_.in_force(Rule::unit) && same_unit) {
      solver_.add(z3::implies(both, until(a, b) >= number(alternative(a).occupancy)));
    }
    const z3::expr together = both && group_[a] == group_[b];
    const z3::expr apart = until(a, b) >= number(alternative(a).issue);
    if (problem_.in_force(Rule::one_stream) && alternative(a).issue > 0 &&
        alternative(b).issue > 0) {
      solver_.add(z3::implies(together, apart));
    }
    if (problem_.in_force(Rule::blocking)) solver_.add(z3::implies(together && waits(b), apart));
  }

  void add_loads() {
    z3::expr demand = number(0);
    for (std::size_t i = 0; i < count(); ++i) {
      const auto claim = [&](Rule rule, Cycles cycles) {
        if (problem_.in_force(rule))
          solver_.add(z3::implies(exists_[i], number(cycles) <= number(ii_)));
      };
      claim(Rule::unit, alternative(i).occupancy);
      claim(Rule::one_stream, alternative(i).issue);
      for (const PipeUse& use : alternative(i).pipes) {
        demand = demand + z3::ite(exists_[i], number(use.demand), number(0));
      }
    }
    if (problem_.in_force(Rule::pipe)) solver_.add(demand <= number(ii_));
  }

  /// Copies of w alive at the issue of v: the number of starts so far minus the number of ends.
  z3::expr copies(std::size_t w, std::size_t v) {
    z3::expr end = issue_[w];
    for (const Dependence& it : problem_.dependences()) {
      if (it.from.index() != w || !it.carries_value) continue;
      const std::size_t u = it.to.index();
      const Cycles hold = read_hold_of(it, problem_.ops()[u], alternative(u));
      const z3::expr until_read = issue_[u] + number(it.distance * ii_ + hold);
      end = z3::ite(reads(it) && until_read > end, until_read, end);
    }
    const z3::expr alive = floor(issue_[v] - issue_[w]) - floor(issue_[v] - end);
    return z3::ite(exists_[w], alive, number(0));
  }
  z3::expr floor(const z3::expr& cycles) { return cycles / number(ii_); }  // divisor is positive

  /// Steps of group h. With its live registers they are limited by the register budget.
  z3::expr steps(std::size_t h) {
    return context_.int_const(("steps" + std::to_string(h)).c_str());
  }

  void add_budgets() {
    for (const RegisterBudget& it : problem_.register_budgets()) {
      z3::expr sum = number(0);
      for (const GroupId group : it.groups) {
        solver_.add(number(it.step) * steps(group.index()) >= number(it.reserve));
        sum = sum + steps(group.index());
      }
      solver_.add(number(it.step) * sum <= number(it.total));
    }
  }

  /// Demands that group h may hold this many registers.
  z3::expr fits(std::size_t h, const z3::expr& registers) {
    z3::expr fits = registers <= problem_.groups()[h].registers;
    for (const RegisterBudget& it : problem_.register_budgets()) {
      if (std::count(it.groups.begin(), it.groups.end(), GroupId(h)) == 0) continue;
      fits = fits && registers + number(it.reserve) <= number(it.step) * steps(h);
    }
    return fits;
  }

  void add_storage() {
    if (problem_.in_force(Rule::registers)) add_budgets();
    for (std::size_t v = 0; v < count(); ++v) {
      z3::expr memory = number(0);
      z3::expr registers = number(0);
      for (std::size_t w = 0; w < count(); ++w) {
        const Op& op = problem_.ops()[w];
        for (const Footprint& it : op.footprint) memory = memory + number(it.amount) * copies(w, v);
        registers = registers +
                    z3::ite(group_[w] == group_[v], number(op.registers) * copies(w, v), number(0));
      }
      if (problem_.in_force(Rule::memory)) {
        solver_.add(z3::implies(exists_[v], memory <= number(problem_.memories()[0].capacity)));
      }
      for (std::size_t h = 0; h < problem_.groups().size(); ++h) {
        if (!problem_.in_force(Rule::registers)) break;
        solver_.add(
            z3::implies(exists_[v] && group_[v] == static_cast<int>(h), fits(h, registers)));
      }
    }
  }

  std::int64_t footprint(std::size_t v) const {
    const auto& all = problem_.ops()[v].footprint;
    return all.empty() ? 0 : all.front().amount;
  }

  /// First op of the buffer in which each op's value lies.
  std::vector<std::size_t> buffers() const {
    std::vector<std::size_t> first(count());
    for (std::size_t v = 0; v < count(); ++v) first[v] = v;
    for (std::size_t round = 0; round < count(); ++round) {
      for (const Dependence& it : problem_.dependences()) {
        std::size_t& a = first[it.from.index()];
        std::size_t& b = first[it.to.index()];
        if (it.in_place && footprint(it.from.index()) > 0 && footprint(it.to.index()) > 0) {
          a = b = std::min(a, b);
        }
      }
    }
    return first;
  }

  bool is_read(std::size_t v) const {
    const auto all = problem_.dependences();
    return std::any_of(all.begin(), all.end(), [&](const Dependence& it) {
      return it.from.index() == v && it.carries_value;
    });
  }

  /// Adds offsets and lengths: the rule `placement`, word by word.
  void add_placement() {
    const std::vector<std::size_t> buffer = buffers();
    std::vector<z3::expr> offset;
    std::vector<z3::expr> depth;
    std::vector<std::int64_t> size(count(), 0);
    for (std::size_t v = 0; v < count(); ++v) {
      offset.push_back(context_.int_const(("offset" + std::to_string(v)).c_str()));
      depth.push_back(context_.int_const(("depth" + std::to_string(v)).c_str()));
      if (is_read(v)) size[buffer[v]] = std::max(size[buffer[v]], footprint(v));
    }
    for (std::size_t a = 0; a < count(); ++a) {
      if (size[a] == 0) continue;
      const z3::expr end = offset[a] + number(size[a]) * depth[a];
      solver_.add(offset[a] >= 0 && depth[a] >= 0);
      solver_.add(end <= number(problem_.memories()[0].capacity));
      for (std::size_t v = 0; v < count(); ++v) {
        z3::expr alive = number(0);
        for (std::size_t w = 0; w < count(); ++w) {
          const bool counts = buffer[v] == a && buffer[w] == a && footprint(v) > 0;
          if (counts && footprint(w) > 0) alive = alive + copies(w, v);
        }
        solver_.add(z3::implies(exists_[v], alive <= depth[a]));
        for (std::size_t w = 0; w < count(); ++w) {
          const std::size_t b = buffer[w];
          if (buffer[v] != a || b == a || footprint(v) == 0 || footprint(w) == 0) continue;
          const z3::expr meet = exists_[v] && copies(v, v) > 0 && copies(w, v) > 0;
          solver_.add(z3::implies(
              meet, end <= offset[b] || offset[b] + number(size[b]) * depth[b] <= offset[a]));
        }
      }
    }
  }

  z3::expr objective(Objective what) {
    z3::expr sum = number(0);
    if (what == Objective::groups) {
      for (std::size_t h = 0; h < problem_.groups().size(); ++h) sum = sum + zero_one(used(h));
    } else if (what == Objective::crossings) {
      for (std::size_t u = 0; u < count(); ++u) {
        for (std::size_t h = 0; h < problem_.groups().size(); ++h)
          sum = sum + zero_one(sends(u, h));
      }
    } else {
      for (std::size_t v = 0; v < count(); ++v) {
        solver_.add(issue_[v] >= 0);
        const z3::expr end = issue_[v] + number(span_of(alternative(v)));
        sum = z3::ite(exists_[v] && end > sum, end, sum);
      }
    }
    return sum;
  }

  z3::expr sends(std::size_t u, std::size_t h) {
    z3::expr any = context_.bool_val(false);
    for (const Dependence& it : problem_.dependences()) {
      if (it.from.index() != u || !it.carries_value || problem_[it.from].registers == 0) continue;
      any = any || group_[it.to.index()] == static_cast<int>(h);
    }
    return any && group_[u] != static_cast<int>(h);
  }

  const Problem& problem_;
  Cycles ii_;
  z3::context context_;
  z3::solver solver_;
  std::vector<z3::expr> issue_;
  std::vector<z3::expr> group_;
  std::vector<z3::expr> exists_;
};

}  // namespace

std::optional<bool> z3_feasible(const Problem& problem, Cycles ii,
                                const std::vector<std::int64_t>& values,
                                std::optional<std::int64_t> limit) {
  return Oracle(problem, ii).ask(values, limit);
}

}  // namespace twill::solve_test
