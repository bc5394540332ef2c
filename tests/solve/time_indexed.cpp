#include "solve/time_indexed.h"

#include <algorithm>
#include <map>

namespace twill::solve_test {
namespace {

using namespace problem;
using Literal = Cnf::Literal;

class Encoder {
 public:
  Encoder(const Problem& problem, Cycles ii)
      : problem_(problem), ii_(ii), horizon_(horizon_of(problem, ii)) {}

  Cnf encode(const std::vector<std::int64_t>& values) {
    add_choices();
    add_groups();
    add_same();
    add_dependences();
    add_pairs();
    add_pipes();
    add_storage();
    for (std::size_t i = 0; i < values.size(); ++i) bound(problem_.objectives()[i], values[i]);
    return std::move(cnf_);
  }

 private:
  std::size_t count() const { return problem_.ops().size(); }
  std::size_t group_count() const { return problem_.groups().size(); }
  const Op& op(std::size_t v) const { return problem_.ops()[v]; }
  bool in_force(Rule rule) const { return problem_.in_force(rule); }
  Literal at(std::size_t v, Cycles t) const { return at_[v][static_cast<std::size_t>(t)]; }
  Cycles modulo(Cycles t) const { return ((t % ii_) + ii_) % ii_; }

  void add_choices() {
    const auto choose = [&](std::size_t n) {
      std::vector<Literal> them(n);
      for (Literal& it : them) it = cnf_.fresh();
      cnf_.exactly_one(them);
      return them;
    };
    for (std::size_t v = 0; v < count(); ++v) {
      at_.push_back(choose(static_cast<std::size_t>(horizon_)));
      in_.push_back(choose(group_count()));
      alternative_.push_back(choose(op(v).alternatives.size()));
    }
  }

  void add_groups() {
    for (std::size_t v = 0; v < count(); ++v) {
      for (std::size_t g = 0; g < group_count(); ++g) {
        const Group& group = problem_.groups()[g];
        const bool too_wide = in_force(Rule::width) && group.warps != op(v).warps;
        const bool wrong = in_force(Rule::load_group) && group.loads != op(v).variable_latency;
        if (too_wide || wrong) cnf_.add({-in_[v][g]});
      }
    }
    for (const std::vector<OpId>& set : problem_.same_group()) {
      for (const OpId it : set) {
        for (std::size_t g = 0; g < group_count(); ++g) {
          cnf_.add({-in_[set[0].index()][g], in_[it.index()][g]});
        }
      }
    }
    add_minimum();
  }

  /// Demands that at least m of n groups work: of any n - m + 1 groups, one does.
  void add_minimum() {
    std::vector<Literal> work;
    int widest = 0;
    for (const auto& it : problem_.groups()) widest = std::max(widest, it.loads ? 0 : it.warps);
    for (std::size_t g = 0; g < group_count(); ++g) {
      if (problem_.groups()[g].loads || problem_.groups()[g].warps != widest) continue;
      work.push_back(cnf_.fresh());
      Cnf::Clause some = {-work.back()};
      for (std::size_t v = 0; v < count(); ++v) some.push_back(in_[v][g]);
      cnf_.add(std::move(some));
    }
    const auto fixed =
        std::count_if(problem_.ops().begin(), problem_.ops().end(),
                      [&](const Op& it) { return !it.variable_latency && it.warps == widest; });
    const int least = std::min({problem_.minimum_compute_groups(), static_cast<int>(work.size()),
                                static_cast<int>(fixed)});
    const std::size_t subset = work.size() + 1 - static_cast<std::size_t>(std::max(least, 0));
    for (unsigned bits = 0; bits < 1U << work.size(); ++bits) {
      Cnf::Clause some;
      for (std::size_t i = 0; i < work.size(); ++i) {
        if ((bits >> i & 1U) != 0) some.push_back(work[i]);
      }
      if (least > 0 && some.size() == subset) cnf_.add(std::move(some));
    }
  }

  /// Defines same_[{u, v}]: the two ops share a group.
  void add_same() {
    for (std::size_t u = 0; u < count(); ++u) {
      for (std::size_t v = u + 1; v < count(); ++v) {
        const Literal same = same_[{u, v}] = same_[{v, u}] = cnf_.fresh();
        for (std::size_t g = 0; g < group_count(); ++g) {
          cnf_.add({-same, -in_[u][g], in_[v][g]});
          cnf_.add({same, -in_[u][g], -in_[v][g]});
        }
      }
    }
  }

  void add_dependences() {
    if (!in_force(Rule::dependence)) return;
    for (const Dependence& it : problem_.dependences()) {
      for (std::size_t w = 0; w < op(it.from.index()).alternatives.size(); ++w)
        add_dependence(it, w);
    }
  }

  void add_dependence(const Dependence& it, std::size_t w) {
    const std::size_t u = it.from.index();
    const std::size_t v = it.to.index();
    const Cycles needed = delay_of(it, op(u), op(u).alternatives[w]) - it.distance * ii_;
    if (u == v) {
      if (needed > 0) cnf_.add({-alternative_[u][w]});
      return;
    }
    for (Cycles t = 0; t < horizon_; ++t) {
      for (Cycles later = 0; later < horizon_; ++later) {
        if (later - t >= needed + it.transfer) continue;
        Cnf::Clause clause = {-alternative_[u][w], -at(u, t), -at(v, later)};
        if (later - t >= needed) clause.push_back(same_.at({u, v}));
        cnf_.add(std::move(clause));
      }
    }
  }

  /// Literal for an op that waits: always, or if a value in registers comes from another group.
  Literal waits(std::size_t v) {
    const Literal waits = cnf_.fresh();
    for (const Dependence& it : problem_.dependences()) {
      if (it.to.index() != v) continue;
      const std::size_t u = it.from.index();
      if (it.blocking) cnf_.add({waits});
      if (it.carries_value && op(u).registers > 0 && u != v) cnf_.add({waits, same_.at({u, v})});
    }
    return waits;
  }

  void add_pairs() {
    std::vector<Literal> waiting;
    for (std::size_t v = 0; v < count(); ++v) {
      waiting.push_back(waits(v));
      for (std::size_t w = 0; w < op(v).alternatives.size(); ++w) {
        const Alternative& alternative = op(v).alternatives[w];
        const bool held = in_force(Rule::unit) && alternative.occupancy > ii_;
        const bool issuing = in_force(Rule::one_stream) && alternative.issue > ii_;
        if (held || issuing) cnf_.add({-alternative_[v][w]});
      }
    }
    for (std::size_t u = 0; u < count(); ++u) {
      for (std::size_t v = 0; v < count(); ++v) {
        if (u == v) continue;
        for (std::size_t i = 0; i < op(u).alternatives.size(); ++i) {
          for (std::size_t j = 0; j < op(v).alternatives.size(); ++j)
            add_pair(u, i, v, j, waiting[v]);
        }
      }
    }
  }

  /// Forbids what op v may not do during op u.
  void add_pair(std::size_t u, std::size_t i, std::size_t v, std::size_t j, Literal v_waits) {
    const Alternative& a = op(u).alternatives[i];
    const Alternative& b = op(v).alternatives[j];
    const bool one_unit = in_force(Rule::unit) && a.unit && a.unit == b.unit;
    const bool both_issue = in_force(Rule::one_stream) && a.issue > 0 && b.issue > 0;
    for (Cycles t = 0; t < horizon_; ++t) {
      for (Cycles other = 0; other < horizon_; ++other) {
        const Cycles since = modulo(other - t);
        const Cnf::Clause here = {-alternative_[u][i], -alternative_[v][j], -at(u, t),
                                  -at(v, other)};
        if (one_unit && since < a.occupancy) cnf_.add(here);
        if (since >= a.issue) continue;
        Cnf::Clause together = here;
        together.push_back(-same_.at({u, v}));
        if (both_issue) cnf_.add(together);
        together.push_back(-v_waits);
        if (in_force(Rule::blocking)) cnf_.add(std::move(together));
      }
    }
  }

  void add_pipes() {
    if (!in_force(Rule::pipe)) return;
    for (std::size_t p = 0; p < problem_.pipes().size(); ++p) {
      std::vector<Cnf::Term> demands;
      for (std::size_t v = 0; v < count(); ++v) {
        for (std::size_t w = 0; w < op(v).alternatives.size(); ++w) {
          for (const PipeUse& use : op(v).alternatives[w].pipes) {
            if (use.pipe.index() != p || use.demand == 0) continue;
            demands.push_back({alternative_[v][w], static_cast<int>(use.demand)});
          }
        }
      }
      cnf_.at_most(demands, static_cast<int>(ii_));
    }
  }

  /// Literals live[c]: the copy of iteration 0 lives at cycle c.
  std::vector<Literal> lives(std::size_t u) {
    std::vector<Literal> live;
    const auto live_at = [&](Cycles c) {
      while (static_cast<Cycles>(live.size()) <= c) live.push_back(cnf_.fresh());
      return live[static_cast<std::size_t>(c)];
    };
    for (const Dependence& it : problem_.dependences()) {
      if (it.from.index() != u || !it.carries_value) continue;
      const std::size_t v = it.to.index();
      for (std::size_t w = 0; w < op(v).alternatives.size(); ++w) {
        const Cycles more = it.distance * ii_ + read_hold_of(it, op(v), op(v).alternatives[w]);
        for (Cycles t = 0; t < horizon_; ++t) {
          for (Cycles read = 0; read < horizon_; ++read) {
            if (u == v && read != t) continue;
            for (Cycles c = t; c < read + more; ++c) {
              cnf_.add({-alternative_[v][w], -at(u, t), -at(v, read), live_at(c)});
            }
          }
        }
      }
    }
    return live;
  }

  void add_storage() {
    std::vector<std::vector<Literal>> live;
    for (std::size_t v = 0; v < count(); ++v) {
      const bool takes = op(v).registers > 0 || !op(v).footprint.empty();
      live.push_back(takes ? lives(v) : std::vector<Literal>());
    }
    if (in_force(Rule::registers)) add_budgets();
    for (std::size_t m = 0; in_force(Rule::placement) && m < problem_.memories().size(); ++m) {
      add_placement(live, m);
    }
    for (Cycles slot = 0; slot < ii_; ++slot) {
      for (std::size_t m = 0; m < problem_.memories().size(); ++m) add_memory(live, slot, m);
      for (std::size_t g = 0; g < group_count(); ++g) add_registers(live, slot, g);
    }
  }

  void add_memory(const std::vector<std::vector<Literal>>& live, Cycles slot, std::size_t memory) {
    if (!in_force(Rule::memory)) return;
    std::vector<Cnf::Term> terms;
    for (std::size_t v = 0; v < count(); ++v) {
      for (const Footprint& it : op(v).footprint) {
        if (it.memory.index() != memory || it.amount == 0) continue;
        for (auto c = static_cast<std::size_t>(slot); c < live[v].size();
             c += static_cast<std::size_t>(ii_)) {
          terms.push_back({live[v][c], static_cast<int>(it.amount)});
        }
      }
    }
    cnf_.at_most(terms, static_cast<int>(problem_.memories()[memory].capacity));
  }

  /// Places buffers: for each, the addresses that it covers, one by one.
  void add_placement(const std::vector<std::vector<Literal>>& live, std::size_t memory) {
    const auto capacity = static_cast<int>(problem_.memories()[memory].capacity);
    std::vector<int> amounts(count(), 0);
    std::vector<std::size_t> first(count());
    for (std::size_t v = 0; v < count(); ++v) {
      first[v] = v;
      for (const Footprint& it : op(v).footprint) {
        if (it.memory.index() == memory) amounts[v] = static_cast<int>(it.amount);
      }
    }
    for (std::size_t round = 0; round < count(); ++round) {
      for (const Dependence& it : problem_.dependences()) {
        std::size_t& a = first[it.from.index()];
        std::size_t& b = first[it.to.index()];
        if (it.in_place && amounts[it.from.index()] > 0 && amounts[it.to.index()] > 0) {
          a = b = std::min(a, b);
        }
      }
    }
    std::vector<std::vector<Literal>> covers;               // by buffer, then address
    std::vector<std::vector<std::vector<Literal>>> copies;  // by buffer, then slot
    for (std::size_t b = 0; b < count(); ++b) {
      int size = 0;
      std::vector<std::vector<Literal>>& alive = copies.emplace_back(static_cast<std::size_t>(ii_));
      for (std::size_t v = 0; v < count(); ++v) {
        if (first[v] != b || amounts[v] == 0) continue;
        const auto reads = [&](const Dependence& it) {
          return it.from.index() == v && it.carries_value;
        };
        const auto all = problem_.dependences();
        if (std::any_of(all.begin(), all.end(), reads)) size = std::max(size, amounts[v]);
        for (std::size_t c = 0; c < live[v].size(); ++c) {
          alive[c % static_cast<std::size_t>(ii_)].push_back(live[v][c]);
        }
      }
      std::vector<Literal>& covered = covers.emplace_back();
      if (size == 0) continue;
      for (int x = 0; x < capacity; ++x) covered.push_back(cnf_.fresh());
      cover(alive, size, covered);
    }
    for (std::size_t a = 0; a < count(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (covers[a].empty() || covers[b].empty()) continue;
        const Literal meet = cnf_.fresh();
        for (std::size_t slot = 0; slot < copies[a].size(); ++slot) {
          for (const Literal one : copies[a][slot]) {
            for (const Literal other : copies[b][slot]) cnf_.add({-one, -other, meet});
          }
        }
        for (std::size_t x = 0; x < covers[a].size(); ++x) {
          cnf_.add({-meet, -covers[a][x], -covers[b][x]});
        }
      }
    }
  }

  /// Places one buffer: it begins at some address, and covers as many addresses from there as its
  /// copies need.
  void cover(const std::vector<std::vector<Literal>>& alive, int size,
             const std::vector<Literal>& covered) {
    const int capacity = static_cast<int>(covered.size());
    std::vector<Literal> begins(covered.size());
    for (Literal& it : begins) it = cnf_.fresh();
    cnf_.exactly_one(begins);
    std::vector<Cnf::Term> lacking;
    for (int depth = 1; depth * size <= capacity; ++depth) {
      const Literal deep = cnf_.fresh();
      lacking.push_back({-deep, 1});
      for (int from = 0; from < capacity; ++from) {
        for (int x = from; x < from + depth * size; ++x) {
          Cnf::Clause it = {-deep, -begins[static_cast<std::size_t>(from)]};
          if (x < capacity) it.push_back(covered[static_cast<std::size_t>(x)]);
          cnf_.add(std::move(it));
        }
      }
      if (depth == 1) continue;
      cnf_.add({-deep, -lacking[lacking.size() - 2].literal});
    }
    for (const std::vector<Literal>& in_slot : alive) {
      std::vector<Cnf::Term> terms = lacking;
      for (const Literal it : in_slot) terms.push_back({it, 1});
      cnf_.at_most(terms, static_cast<int>(lacking.size()));
    }
  }

  void add_registers(const std::vector<std::vector<Literal>>& live, Cycles slot, std::size_t g) {
    if (!in_force(Rule::registers)) return;
    std::vector<Cnf::Term> terms;
    for (std::size_t v = 0; v < count(); ++v) {
      if (op(v).registers == 0) continue;
      for (auto c = static_cast<std::size_t>(slot); c < live[v].size();
           c += static_cast<std::size_t>(ii_)) {
        const Literal here = cnf_.fresh();
        cnf_.add({-live[v][c], -in_[v][g], here});
        terms.push_back({here, op(v).registers});
      }
    }
    cnf_.at_most(terms, problem_.groups()[g].registers);
    if (above_[g].empty()) return;
    const RegisterBudget& it = problem_.register_budgets()[*problem_.budget_of(GroupId(g))];
    for (const Literal above : above_[g]) terms.push_back({-above, it.step});
    const int most = static_cast<int>(above_[g].size()) * it.step;  // with all steps
    cnf_.at_most(terms, most + it.step * static_cast<int>(it.steps_for(0)) - it.reserve);
  }

  /// Adds budgets: for each group of a budget and each step beyond the reserve, whether the group
  /// has the step.
  void add_budgets() {
    above_.resize(group_count());
    for (const RegisterBudget& it : problem_.register_budgets()) {
      const auto reserved = static_cast<int>(it.steps_for(0));
      const int spare =
          static_cast<int>(it.steps()) - reserved * static_cast<int>(it.groups.size());
      std::vector<Cnf::Term> taken;
      for (const GroupId group : it.groups) {
        // One step beyond the spare ones, so that a group with nothing to spare is limited as well.
        for (int step = 0; step <= spare; ++step) {
          above_[group.index()].push_back(cnf_.fresh());
          taken.push_back({above_[group.index()].back(), 1});
        }
      }
      cnf_.at_most(taken, spare);
    }
  }

  void bound(Objective objective, std::int64_t value) {
    std::vector<Cnf::Term> terms;
    switch (objective) {
      case Objective::groups:
        for (std::size_t g = 0; g < group_count(); ++g) {
          terms.push_back({cnf_.fresh(), 1});
          for (std::size_t v = 0; v < count(); ++v) cnf_.add({-in_[v][g], terms.back().literal});
        }
        return cnf_.at_most(terms, static_cast<int>(value));
      case Objective::crossings:
        for (std::size_t u = 0; u < count(); ++u) {
          if (op(u).registers == 0) continue;
          for (std::size_t g = 0; g < group_count(); ++g) terms.push_back({sends(u, g), 1});
        }
        return cnf_.at_most(terms, static_cast<int>(value));
      case Objective::length:
        for (std::size_t v = 0; v < count(); ++v) add_end(v, value);
    }
  }

  /// Literal that is true if the value of u goes to group g from another group.
  Literal sends(std::size_t u, std::size_t g) {
    const Literal sent = cnf_.fresh();
    for (const Dependence& it : problem_.dependences()) {
      if (it.from.index() != u || !it.carries_value) continue;
      cnf_.add({-in_[it.to.index()][g], in_[u][g], sent});
    }
    return sent;
  }

  void add_end(std::size_t v, Cycles end) {
    for (std::size_t w = 0; w < op(v).alternatives.size(); ++w) {
      for (Cycles t = 0; t < horizon_; ++t) {
        if (t + span_of(op(v).alternatives[w]) > end) cnf_.add({-alternative_[v][w], -at(v, t)});
      }
    }
  }

  const Problem& problem_;
  Cycles ii_;
  Cycles horizon_;
  Cnf cnf_;
  std::vector<std::vector<Literal>> at_, in_, alternative_;
  std::map<std::pair<std::size_t, std::size_t>, Literal> same_;
  std::vector<std::vector<Literal>> above_;
};

}  // namespace

Cycles horizon_of(const Problem& problem, Cycles ii) {
  Cycles far = 1;
  const auto stages = [&](Cycles cycles) { return (cycles + ii - 1) / ii; };
  for (const Dependence& it : problem.dependences()) {
    const Op& from = problem[it.from];
    const Op& to = problem[it.to];
    for (const Alternative& alternative : from.alternatives) {
      const Cycles delay = delay_of(it, from, alternative) + it.transfer;
      far = std::max(far, stages(delay) + 1 - it.distance);
    }
    for (const Alternative& alternative : to.alternatives) {
      far = std::max(far, it.distance + stages(read_hold_of(it, to, alternative)) + 1);
    }
  }
  return ii * (1 + far * (static_cast<Cycles>(problem.ops().size()) - 1));
}

Cnf time_indexed(const Problem& problem, Cycles ii, const std::vector<std::int64_t>& values) {
  return Encoder(problem, ii).encode(values);
}

}  // namespace twill::solve_test
