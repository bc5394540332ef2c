#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "emit/z3_answer.h"
#include "solve/random_problem.h"
#include "twill/emit/smtlib.h"
#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"

// The paper's Figures 4 to 6 once more, as loops over their indices: they accept or reject one
// assignment of cycles and groups. The exported text must be satisfiable exactly if they accept
// some assignment.
namespace twill::emit {
namespace {

using emit_test::z3_answer;
using namespace problem;

class Figures {
 public:
  Figures(const Problem& problem, const StraightLine& shape)
      : problem_(problem),
        ii_(shape.ii),
        copies_((shape.length + shape.ii - 1) / shape.ii),
        total_((copies_ - 1) * shape.ii + shape.length) {}

  /// Whether some cycles and groups satisfy the figures.
  bool accept_any() {
    at_.assign(count(), 0);
    on_.assign(count(), 0);
    return try_from(0);
  }

 private:
  std::size_t count() const { return problem_.ops().size(); }
  const Alternative& alternative(std::size_t v) const { return problem_.ops()[v].alternatives[0]; }
  Cycles cycles(std::size_t v) const {
    Cycles rows = std::max({alternative(v).occupancy, alternative(v).issue, Cycles{1}});
    for (const PipeUse& use : alternative(v).pipes) rows = std::max(rows, use.demand);
    return rows;
  }
  bool in_force(Rule rule) const { return problem_.in_force(rule); }

  bool try_from(std::size_t v) {
    if (v == count()) return accept();
    for (on_[v] = 0; on_[v] < problem_.groups().size(); ++on_[v]) {
      const Group& group = problem_.groups()[on_[v]];
      const Op& op = problem_.ops()[v];
      if (in_force(Rule::width) && group.warps != op.warps) continue;
      if (in_force(Rule::load_group) && group.loads != op.variable_latency) continue;
      for (at_[v] = 0; at_[v] + (copies_ - 1) * ii_ + cycles(v) <= total_; ++at_[v]) {
        if (try_from(v + 1)) return true;
      }
    }
    return false;
  }

  bool op(std::size_t v, Cycles i, Cycles t) const { return at_[v] + i * ii_ == t; }

  bool accept() {
    if (in_force(Rule::dependence) && !dependences()) return false;
    if (!capacity()) return false;
    compute_live();
    if (in_force(Rule::memory) && !memory()) return false;
    if (in_force(Rule::registers) && !registers()) return false;
    return !in_force(Rule::blocking) || concurrency();
  }

  bool dependences() const {
    for (const Dependence& it : problem_.dependences()) {
      const std::size_t u = it.from.index();
      const std::size_t v = it.to.index();
      const Cycles d = delay_of(it, problem_.ops()[u], alternative(u));
      const Cycles spill = on_[u] == on_[v] ? 0 : it.transfer;
      for (Cycles i = 0; i + it.distance < copies_; ++i) {
        for (Cycles t = 0; t < total_; ++t) {
          if (!op(u, i, t)) continue;
          for (Cycles late = 0; late < t + d + spill; ++late) {
            if (op(v, i + it.distance, late)) return false;
          }
        }
      }
    }
    return true;
  }

  Cycles rows_on_unit(std::size_t v, std::size_t unit) const {
    return alternative(v).unit && alternative(v).unit->index() == unit ? alternative(v).occupancy
                                                                       : 0;
  }
  Cycles rows_on_pipe(std::size_t v, std::size_t pipe) const {
    for (const PipeUse& use : alternative(v).pipes) {
      if (use.pipe.index() == pipe) return use.demand;
    }
    return 0;
  }

  template <class Rows>
  bool at_most_one(Rows rows) const {
    for (Cycles t = 0; t < total_; ++t) {
      int held = 0;
      for (std::size_t v = 0; v < count(); ++v) {
        for (Cycles i = 0; i < copies_; ++i) {
          for (Cycles c = 0; c < rows(v); ++c) held += op(v, i, t - c) ? 1 : 0;
        }
      }
      if (held > 1) return false;
    }
    return true;
  }

  bool capacity() const {
    for (std::size_t f = 0; in_force(Rule::unit) && f < problem_.units().size(); ++f) {
      if (!at_most_one([&](std::size_t v) { return rows_on_unit(v, f); })) return false;
    }
    for (std::size_t f = 0; in_force(Rule::pipe) && f < problem_.pipes().size(); ++f) {
      if (!at_most_one([&](std::size_t v) { return rows_on_pipe(v, f); })) return false;
    }
    return true;
  }

  void compute_live() {
    live_.assign(count(), {});
    for (std::size_t v = 0; v < count(); ++v) {
      bool carried = false;
      for (const Dependence& it : problem_.dependences()) {
        carried = carried || (it.from.index() == v && it.carries_value && it.distance > 0);
      }
      for (Cycles i = 0; i < copies_; ++i) {
        std::vector<bool> live(static_cast<std::size_t>(total_) + 1, false);
        live.back() = carried && i == copies_ - 1;  // Init
        for (Cycles t = total_; t >= 1; --t) {
          const bool now = live[static_cast<std::size_t>(t)];
          bool used = false;
          for (const Dependence& it : problem_.dependences()) {
            if (it.from.index() != v || !it.carries_value || i + it.distance >= copies_) continue;
            used = used || op(it.to.index(), i + it.distance, t);
          }
          bool before = false;
          if (now && op(v, i, t)) before = false;  // LiveProp-1
          if (now && !op(v, i, t)) before = true;  // LiveProp-2
          if (!now && used) before = true;         // DeadProp-1
          if (!now && !used) before = false;       // DeadProp-2
          live[static_cast<std::size_t>(t) - 1] = before;
        }
        live_[v].push_back(std::move(live));
      }
    }
  }

  /// Copies of v live at t.
  Amount live(std::size_t v, Cycles t) const {
    Amount copies = 0;
    for (const auto& copy : live_[v]) copies += copy[static_cast<std::size_t>(t)] ? 1 : 0;
    return copies;
  }

  bool memory() const {
    for (Cycles t = 0; t < total_; ++t) {
      Amount held = 0;
      for (std::size_t v = 0; v < count(); ++v) {
        for (const Footprint& it : problem_.ops()[v].footprint) held += it.amount * live(v, t);
      }
      if (held > problem_.memories()[0].capacity) return false;
    }
    return true;
  }

  bool registers() const {
    for (std::size_t w = 0; w < problem_.groups().size(); ++w) {
      for (Cycles t = 0; t < total_; ++t) {
        Amount held = 0;
        for (std::size_t v = 0; v < count(); ++v) {
          if (on_[v] == w) held += problem_.ops()[v].registers * live(v, t);
        }
        if (held > problem_.groups()[w].registers) return false;
      }
    }
    return true;
  }

  bool concurrency() const {
    for (const Dependence& it : problem_.dependences()) {
      const std::size_t u = it.from.index();
      const std::size_t v = it.to.index();
      const bool spilled = it.carries_value && problem_.ops()[u].registers > 0 && on_[u] != on_[v];
      if (!it.blocking && !spilled) continue;
      for (std::size_t o = 0; o < count(); ++o) {
        if (o != v && on_[o] == on_[v] && clashes(v, o)) return false;
      }
    }
    return true;
  }

  bool clashes(std::size_t v, std::size_t o) const {
    for (Cycles i = 0; i < copies_; ++i) {
      for (Cycles other = 0; other < copies_; ++other) {
        const Cycles t = at_[v] + i * ii_;
        for (Cycles late = t - (cycles(o) - 1); late <= t; ++late) {
          if (op(o, other, late)) return true;
        }
      }
    }
    return false;
  }

  const Problem& problem_;
  Cycles ii_;
  Cycles copies_;
  Cycles total_;
  std::vector<Cycles> at_;
  std::vector<std::size_t> on_;
  std::vector<std::vector<std::vector<bool>>> live_;
};

// Protects: the export means the same as the figures, its abbreviations included.
TEST(Literal, AcceptsWhatTheFiguresAccept) {
  std::mt19937 random(13);
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    solve_test::Size size;
    size.ops = 2 + round % 3;
    size.groups = 1 + round % 2;
    const Problem problem = solve_test::random_problem(random, size);
    const StraightLine shape = {1 + round % 5, 2 + round % 7};
    SCOPED_TRACE(fmt::format("round {}, I {}, L {}\n{}", round, shape.ii, shape.length,
                             schedule::print_loop(schedule::loop_text_of(problem))));
    const auto text = smtlib_literal(problem, shape);
    ASSERT_TRUE(text);
    const bool expected = Figures(problem, shape).accept_any();
    EXPECT_EQ(z3_answer(*text), expected);
    ++(expected ? accepted : refused);
  }
  EXPECT_GT(accepted, 60);
  EXPECT_GT(refused, 60);
}

// Protects: a loop outside of the paper's model is refused by name, and an export that would fill
// the disk by its size.
TEST(Literal, RefusesWhatThePaperDoesNotHave) {
  Parts parts;
  parts.name = "two";
  parts.units = {{"A"}};
  parts.groups = {{.name = "G"}};
  Alternative alternative{
      .name = "slow", .unit = UnitId(0), .occupancy = 1000, .latency = 0, .issue = 0, .pipes = {}};
  Op op;
  op.name = "exp";
  op.alternatives = {alternative};
  parts.ops = {op};
  auto large = smtlib_literal(*pose(parts), {1'000'000, 50'000'000});
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().hint.find("--normalize"), std::string::npos);
  alternative.name = "fast";
  parts.ops[0].alternatives.push_back(alternative);
  const auto two = smtlib_literal(*pose(parts), {1000, 1000});
  ASSERT_FALSE(two);
  EXPECT_NE(two.error().message.find("exp has several alternatives"), std::string::npos);
}

TEST(Literal, RefusesTransfers) {
  const auto loop = schedule::parse_loop(
      "loop x\ngroup G registers 9\nop a registers 1\nop b\nop put\nop get registers 1\na -> b\n"
      "hand-off a store put load get for b\n",
      "x.loop");
  ASSERT_TRUE(loop.has_value()) << to_string(loop.error());
  const auto text = smtlib_literal(loop->problem, {8, 8});
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("transfers"), std::string::npos);
}

}  // namespace
}  // namespace twill::emit
