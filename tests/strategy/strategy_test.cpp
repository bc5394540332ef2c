// Traits of each strategy: groups of the ops, their order, their waits. The solver fills in cycles,
// so tests compare them with each other, never with numbers.

#include "twill/strategy/strategy.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "twill/driver/driver.h"
#include "twill/problem/problem.h"
#include "twill/schedule/analysis.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/loop_text.h"
#include "twill/verify/verify.h"

namespace twill::strategy {
namespace {

using problem::Dependence;
using problem::Rule;
using schedule::Schedule;

const std::vector<Strategy> kOthers = {Strategy::modulo, Strategy::triton, Strategy::triton_plain,
                                       Strategy::cypress, Strategy::sequential};

std::string file_text(const std::string& path) {
  std::ifstream in(std::string(TWILL_SOURCE_DIR) + "/" + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

Problem loop(const std::string& name) {
  auto text = schedule::parse_loop(file_text("loops/" + name + ".loop"), name);
  if (!text) throw std::runtime_error(to_string(text.error()));
  return std::move(text->problem);
}

Problem changed(const Problem& problem, const std::function<void(problem::Parts&)>& change) {
  problem::Parts parts = problem.parts();
  change(parts);
  auto posed = problem::pose(std::move(parts));
  if (!posed) throw std::runtime_error(to_string(posed.error()));
  return *std::move(posed);
}

Arranged arranged(const Problem& problem, Strategy strategy, std::optional<int> depth = {}) {
  auto made = arrange(problem, {strategy, depth}, {}, {});
  if (!made) throw std::runtime_error(made.error().message);
  if (!made->answer.schedule) throw std::runtime_error(made->answer.argument);
  return *std::move(made);
}

std::string refusal(const Problem& problem, Choice choice) {
  const auto made = arrange(problem, choice, {}, {});
  return made ? "" : made.error().message;
}

OpId op_named(const Problem& problem, const std::string& name) {
  for (std::size_t v = 0; v < problem.ops().size(); ++v) {
    if (problem.ops()[v].name == name) return OpId(v);
  }
  throw std::runtime_error("no op " + name);
}

std::string group_of(const Arranged& made, const std::string& op) {
  const Problem& problem = made.terms.problem;
  return problem[made.answer.schedule->ops[op_named(problem, op).index()].group].name;
}

/// Names of the ops of a stream, from op `first` on.
std::vector<std::string> stream_with(const Arranged& made, const std::string& first) {
  std::vector<std::string> names;
  for (const auto& stream : made.terms.streams) {
    names.clear();
    for (const OpId op : stream) names.push_back(made.terms.problem[op].name);
    if (std::find(names.begin(), names.end(), first) != names.end()) return names;
  }
  return {};
}

/// Checks that rounds of a stream without pipelining never overlap. Each op follows the op before
/// it, and the first of the next round follows the last.
void expect_in_order(const Arranged& made, const std::vector<OpId>& stream) {
  const Schedule& found = *made.answer.schedule;
  const auto issue = [&](OpId op) { return found.ops[op.index()].issue; };
  for (std::size_t i = 0; i + 1 < stream.size(); ++i) {
    EXPECT_LE(issue(stream[i]), issue(stream[i + 1]))
        << made.terms.problem[stream[i]].name << " " << made.terms.problem[stream[i + 1]].name;
  }
  if (stream.size() > 1) {
    EXPECT_LE(issue(stream.back()), issue(stream.front()) + found.initiation_interval);
  }
}

// Protects: each schedule of a strategy obeys every rule that its terms leave in force, by the
// independent checker. The schedule is no faster than the bound of the original loop, so no faster
// than the optimum.
TEST(Strategies, AreRightAndNoFasterThanTheOptimum) {
  for (const char* name :
       {"fwd_h1", "fwd_h2", "fwd_b1", "fwd_b2", "bwd_h1", "bwd_h2", "gemm", "meta_fwdsub"}) {
    const Problem problem = loop(name);
    const auto best = solve::solve(problem);
    ASSERT_TRUE(best.schedule);
    for (const Strategy strategy : kOthers) {
      SCOPED_TRACE(std::string(name) + " " + std::string(name_of(strategy)));
      const auto made = arrange(problem, {strategy, {}}, {}, {});
      if (!made || !made->answer.schedule) continue;
      const Schedule& found = *made->answer.schedule;
      EXPECT_TRUE(verify::verify(made->terms.problem, found));
      EXPECT_GE(found.initiation_interval, best.schedule->initiation_interval);
      EXPECT_GE(found.initiation_interval, made->answer.lower_bound.value);
      EXPECT_EQ(made->answer.verdict, schedule::Verdict::feasible);
    }
  }
}

// Protects the test above from skipping a strategy in silence: these loops have all four.
TEST(Strategies, AreAllThereForAttentionOnHopper) {
  const Problem problem = loop("fwd_h2");
  for (const Strategy strategy : kOthers) EXPECT_NO_THROW(arranged(problem, strategy));
}

// Protects: where the loop's rules stay in force, the schedule is a schedule of the original loop.
TEST(Strategies, SpecializedOnesKeepTheLoopsOwnRules) {
  const Problem problem = loop("fwd_h2");
  for (const Strategy strategy : {Strategy::modulo, Strategy::triton, Strategy::cypress}) {
    EXPECT_TRUE(verify::verify(problem, *arranged(problem, strategy).answer.schedule));
  }
}

TEST(Strategies, SpecializedOnesSpreadTheRows) {
  const Problem problem = loop("bwd_h2");
  for (const Strategy strategy : {Strategy::modulo, Strategy::triton, Strategy::cypress}) {
    SCOPED_TRACE(name_of(strategy));
    const Arranged made = arranged(problem, strategy);
    EXPECT_EQ(group_of(made, "ldQ"), "VL");
    EXPECT_EQ(group_of(made, "redA"), "W1_0");
    EXPECT_EQ(group_of(made, "redB"), "W1_0");
    for (const char* op : {"S", "exp", "dV", "dQ", "stdQ"}) {
      EXPECT_EQ(group_of(made, op + std::string("A")), "WG0");
      EXPECT_EQ(group_of(made, op + std::string("B")), "WG1");
    }
  }
}

// Protects program order: each group issues its ops as the loop lists them and finishes a round
// before the next. Only cvt, which frees half the registers of exp, comes one place earlier.
TEST(Triton, RunsInSourceOrder) {
  const Arranged made = arranged(loop("fwd_h2"), Strategy::triton);
  EXPECT_EQ(stream_with(made, "qkA"),
            (std::vector<std::string>{"qkA", "rmaxA", "mnewA", "alphaA", "subA", "expA", "rsumA",
                                      "cvtA", "lupdA", "rescA", "pvA"}));
  EXPECT_EQ(stream_with(made, "ldK"), (std::vector<std::string>{"ldK", "ldV"}));
  for (const auto& each : made.terms.streams) expect_in_order(made, each);
}

// Protects "dots are waited for at once": a consumer's next op begins after the product is done.
TEST(Triton, WaitsForEachProductBeforeItGoesOn) {
  const Arranged made = arranged(loop("bwd_h2"), Strategy::triton);
  const Problem& problem = made.terms.problem;
  const Schedule& found = *made.answer.schedule;
  for (const auto& stream : made.terms.streams) {
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const problem::Op& op = problem[stream[i]];
      if (!op.asynchronous || op.warps != 4) continue;
      const bool last = i + 1 == stream.size();
      const OpId next = last ? stream.front() : stream[i + 1];
      const Cycles from = found.ops[stream[i].index()].issue + op.alternatives[0].latency;
      const Cycles to =
          found.ops[next.index()].issue + (last ? found.initiation_interval : Cycles{0});
      EXPECT_LE(from, to) << op.name;
    }
  }
}

// Protects Triton's own pipelining: the computing warps issue loads at the end of the round. Loads
// run ahead by as many iterations as leave every copy but one under way. No more copies are alive
// than the buffer has.
TEST(TritonPlain, LoadsAheadByItsStages) {
  const Problem problem = loop("fwd_h2");
  for (const int depth : {2, 3, 4}) {
    const Arranged made = arranged(problem, Strategy::triton_plain, depth);
    const Schedule& found = *made.answer.schedule;
    for (const char* name : {"ldK", "ldV"}) {
      const OpId load = op_named(problem, name);
      EXPECT_EQ(group_of(made, name), "WG0");
      EXPECT_EQ(made.terms.stages[load.index()], 0);
      EXPECT_EQ(stream_with(made, "qkA").back(), "ldV");
      const auto lives = schedule::lives_of(made.terms.problem, found);
      EXPECT_LE(lives[load.index()].copies, depth);
    }
    EXPECT_EQ(made.terms.stages[op_named(problem, "qkA").index()], depth - 1);
  }
}

// Protects: a product that its iteration reads is waited for at once (wgmma_wait 0 behind QK). A
// product that only a later iteration reads stays under way (PV), unlike in specialized loops.
TEST(TritonPlain, WaitsForWhatTheIterationReads) {
  const Arranged made = arranged(loop("fwd_h2"), Strategy::triton_plain);
  const Problem& problem = made.terms.problem;
  const Schedule& found = *made.answer.schedule;
  const auto issue = [&](const char* name) {
    return found.ops[op_named(problem, name).index()].issue;
  };
  const auto latency = [&](const char* name) {
    return problem[op_named(problem, name)].alternatives[0].latency;
  };
  EXPECT_GE(issue("rmaxA"), issue("qkA") + latency("qkA"));
  const auto waits = [&](const char* from, const char* to) {
    return std::any_of(
        problem.dependences().begin(), problem.dependences().end(), [&](const Dependence& it) {
          return problem[it.from].name == from && problem[it.to].name == to && !it.carries_value;
        });
  };
  EXPECT_FALSE(waits("pvA", "ldK"));
}

// Protects barriers of the whole CTA: no group begins a round, or reads a load, before all other
// groups have come to the same barrier.
TEST(TritonPlain, MeetsInEveryRound) {
  const Arranged made = arranged(loop("fwd_h2"), Strategy::triton_plain);
  const Schedule& found = *made.answer.schedule;
  const Problem& problem = made.terms.problem;
  const auto at = [&](const char* name) {
    return found.ops[op_named(problem, name).index()].issue;
  };
  for (const auto& [one, other] : {std::pair("A", "B"), std::pair("B", "A")}) {
    const std::string pv = std::string("pv") + one;
    const std::string before = std::string("resc") + other;
    const std::string next = std::string("qk") + one;
    const std::string last = std::string("pv") + other;
    EXPECT_GE(at(pv.c_str()), at(before.c_str())) << "before V is read";
    EXPECT_GE(at(next.c_str()) + found.initiation_interval, at(last.c_str()))
        << "from round to round";
  }
}

// Protects: Cypress waits where a value is used, so the next product of scores may start under the
// last one.
TEST(Cypress, DoesNotWaitBeforeItMust) {
  const Problem problem = loop("fwd_h2");
  EXPECT_LT(arranged(problem, Strategy::cypress).answer.schedule->initiation_interval,
            arranged(problem, Strategy::triton).answer.schedule->initiation_interval);
}

// Protects the depth: copies of a load's value on which the schedule may count.
TEST(Depth, BoundsTheCopiesOfLoads) {
  const Problem problem = loop("fwd_h2");
  for (const int depth : {1, 2}) {
    const Arranged made = arranged(problem, Strategy::cypress, depth);
    EXPECT_EQ(made.terms.depth, depth);
    const auto lives = schedule::lives_of(made.terms.problem, *made.answer.schedule);
    for (const char* load : {"ldK", "ldV"}) {
      EXPECT_LE(lives[op_named(problem, load).index()].copies, depth);
    }
    for (const schedule::Ring& ring :
         schedule::rings_of(made.terms.problem, *made.answer.schedule, depth)) {
      EXPECT_EQ(ring.depth, depth);
    }
  }
}

// Protects Triton's default: two stages for chained products, three for independent products.
TEST(Depth, FollowsTheKindOfLoop) {
  EXPECT_EQ(arranged(loop("fwd_h2"), Strategy::triton).terms.depth, 2);
  const Problem two_rows = changed(loop("bwd_h2"), [](problem::Parts& parts) {
    std::erase_if(parts.dependences, [](const Dependence& it) { return it.distance == 0; });
  });
  const auto terms = terms_of(two_rows, {Strategy::triton, {}}, {});
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->depth, 3);
}

// Protects: both sub-tiles of the modulo strategy are in the same stages and the same order. That
// order pipelines across iterations, and source order does not.
TEST(Modulo, AllSubTilesRunAlike) {
  const Arranged made = arranged(loop("fwd_h2"), Strategy::modulo);
  const auto a = stream_with(made, "qkA");
  const auto b = stream_with(made, "qkB");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].substr(0, a[i].size() - 1), b[i].substr(0, b[i].size() - 1));
  }
  // Iterations by which an op of the stream lags behind the first; the same for both.
  const Schedule& found = *made.answer.schedule;
  const auto lag = [&](const std::vector<std::string>& stream, std::size_t i) {
    const auto issue = [&](std::size_t k) {
      return found.ops[op_named(made.terms.problem, stream[k]).index()].issue;
    };
    const Cycles behind = issue(i) - issue(0) + 10 * found.initiation_interval;
    return behind / found.initiation_interval - 10;
  };
  bool pipelined = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(lag(a, i), lag(b, i)) << a[i];
    pipelined = pipelined || lag(a, i) != 0;
  }
  EXPECT_TRUE(pipelined);
}

// Protects: on Hopper the modulo strategy, one order for both warpgroups, is as fast as the optimum
// (section 6.2 of the paper). On Blackwell, without further specialization, it is slower.
TEST(Modulo, IsEnoughOnHopperAndNotOnBlackwell) {
  const auto interval = [](const char* name) {
    return arranged(loop(name), Strategy::modulo).answer.schedule->initiation_interval;
  };
  EXPECT_EQ(interval("fwd_h2"), solve::solve(loop("fwd_h2")).schedule->initiation_interval);
  EXPECT_GT(interval("fwd_b2"), solve::solve(loop("fwd_b2")).schedule->initiation_interval);
}

// Protects: a loop with one sub-tile unlike the others has no schedule of this strategy.
TEST(Modulo, RefusesSubTilesThatDiffer) {
  const Problem uneven = changed(
      loop("fwd_h2"), [](problem::Parts& parts) { parts.ops.back().alternatives[0].latency += 1; });
  EXPECT_EQ(refusal(uneven, {Strategy::modulo, {}}),
            "strategy modulo: the sub-tiles do not do the same work: 'pvB' is not like 'pvA'");
}

// Protects: no specialization. Only compute groups run, ops follow the source order, and each
// asynchronous op is waited for, loads too. The loop's own rules do not allow such a schedule.
TEST(Sequential, RunsEverythingInTheComputeGroups) {
  const Problem problem = loop("bwd_h2");
  const Arranged made = arranged(problem, Strategy::sequential);
  for (const auto& at : made.answer.schedule->ops)
    EXPECT_EQ(problem[at.group].name.substr(0, 2), "WG");
  for (const auto& each : made.terms.streams) expect_in_order(made, each);
  EXPECT_FALSE(made.terms.problem.in_force(Rule::load_group));
  EXPECT_FALSE(made.terms.problem.in_force(Rule::width));
  const auto broken = verify::verify(problem, *made.answer.schedule);
  ASSERT_FALSE(broken);
  std::set<std::string> rules;
  for (const verify::Violation& it : broken.error()) rules.insert(it.rule);
  EXPECT_EQ(rules, (std::set<std::string>{"load-group", "width"}));
}

TEST(Sequential, WaitsForItsLoads) {
  const Arranged made = arranged(loop("fwd_h2"), Strategy::sequential);
  const Schedule& found = *made.answer.schedule;
  Cycles latency = 0;
  for (const problem::Op& op : made.terms.problem.ops()) {
    if (op.variable_latency) latency += op.alternatives[0].latency;
  }
  EXPECT_GT(found.initiation_interval, latency);
}

// Protects: a loop without sub-tiles, loads or groups for a strategy is refused with the reason.
TEST(Refusals, SayWhatIsMissing) {
  const Problem one_tile = loop("fwd_h1");
  EXPECT_EQ(refusal(loop("fig1"), {Strategy::cypress, {}}),
            "strategy cypress: the loop loads nothing that a group of its own could do");
  const Problem one_group = changed(loop("fwd_h2"), [](problem::Parts& parts) {
    parts.groups.pop_back();
    parts.minimum_compute_groups = 1;
  });
  EXPECT_EQ(refusal(one_group, {Strategy::triton, {}}),
            "strategy triton: the pool has no two groups to compute");
  const Problem uncut = changed(loop("fwd_h2"), [&](problem::Parts& parts) {
    const std::vector<problem::Group> groups = parts.groups;
    parts = one_tile.parts();
    parts.groups = groups;
  });
  EXPECT_EQ(refusal(uncut, {Strategy::triton, {}}),
            "strategy triton: the rows are not cut into sub-tiles for two consumers");
  EXPECT_EQ(refusal(loop("fwd_h2"), {Strategy::modulo, 2}),
            "strategy modulo: it has no depth to choose");
}

/// Regions by the names of their first and last ops: "qkA..qkA qkB..qkB".
std::vector<std::string> regions_of(const Terms& terms) {
  std::vector<std::string> out;
  for (const schedule::Region& region : terms.regions.all) {
    std::string words;
    for (const schedule::Turn& turn : region.turns) {
      words += (words.empty() ? "" : " ") + terms.problem[turn.first].name + ".." +
               terms.problem[turn.last].name;
    }
    out.push_back(words);
  }
  return out;
}

Terms ping_pong_terms(const Problem& problem, const Known& known = {}) {
  auto terms = terms_of(problem, {Strategy::triton, {}, true}, known);
  if (!terms) throw std::runtime_error(terms.error().message);
  return *std::move(terms);
}

/// Checks that in each region a group begins at the end of the group before.
void expect_turns(const Arranged& made) {
  const Schedule& found = *made.answer.schedule;
  const auto issue = [&](OpId op) { return found.ops[op.index()].issue; };
  for (const schedule::Region& region : made.terms.regions.all) {
    for (std::size_t t = 0; t < region.turns.size(); ++t) {
      const bool wraps = t + 1 == region.turns.size();
      const Cycles next = issue(region.turns[wraps ? 0 : t + 1].first);
      EXPECT_LT(issue(region.turns[t].last), next + (wraps ? found.initiation_interval : 0));
    }
  }
}

// Protects Triton's ping-pong on Hopper: each product of the source is a region, the first rows
// begin, and the schedule alternates. Without the option there are no regions.
TEST(PingPong, AlternatesAtEachProduct) {
  const Problem problem = loop("fwd_h2");
  EXPECT_TRUE(arranged(problem, Strategy::triton).terms.regions.all.empty());
  const auto made = arrange(problem, {Strategy::triton, {}, true}, {}, {});
  ASSERT_TRUE(made && made->answer.schedule);
  EXPECT_EQ(regions_of(made->terms),
            (std::vector<std::string>{"qkA..qkA qkB..qkB", "pvA..pvA pvB..pvB"}));
  EXPECT_EQ(made->terms.regions.note,
            "ping-pong: the consumers take turns at qkA and qkB, and at pvA and pvB");
  expect_turns(*made);
  EXPECT_TRUE(verify::verify(problem, *made->answer.schedule));
}

// Protects: on Blackwell a region is around the exponentials of a tile, until their results are in
// tensor memory. Without knowledge of exponentials no region is found.
TEST(PingPong, AlternatesAroundExponentialsWhereProductsAreApart) {
  const Problem problem = loop("fwd_b2");
  Known known;
  known.exponentials.resize(problem.ops().size());
  for (const char* op : {"expA", "expB"}) known.exponentials[op_named(problem, op).index()] = true;
  const auto made = arrange(problem, {Strategy::triton, {}, true}, known, {});
  ASSERT_TRUE(made && made->answer.schedule);
  EXPECT_EQ(regions_of(made->terms), std::vector<std::string>{"expA..stPA expB..stPB"});
  expect_turns(*made);
  EXPECT_EQ(ping_pong_terms(problem).regions.note,
            "no ping-pong: its heuristics find no critical region");
}

/// Makes four rows of a product and of an op that reads it, in this order: two rows for each
/// consumer.
Problem four_rows(const std::string& order) {
  std::string text = R"(
loop rows
unit TC
unit TMA
memory SMEM capacity 8
group L warps 1 loads
group C0 registers 40
group C1 registers 40
op ld on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 2 async streaming
)";
  std::string edges;
  for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
    const std::string op = order.substr(i, 2);
    text += "op " + op + " on TC for 4 latency 6 issue 1 registers 2 async\n";
    edges += "ld -> " + op + " blocking\n";
    if (op[0] == 'n') edges += "m" + op.substr(1) + " -> " + op + " blocking\n";
  }
  auto parsed = schedule::parse_loop(text + edges, "rows");
  if (!parsed) throw std::runtime_error(to_string(parsed.error()));
  return std::move(parsed->problem);
}

std::vector<std::string> regions_of_rows(const std::string& order) {
  const Problem problem = four_rows(order);
  Known known{std::vector<int>(problem.ops().size(), -1), {}};
  for (std::size_t v = 1; v < problem.ops().size(); ++v) {
    known.parts[v] = problem.ops()[v].name[1] - '0';
  }
  return regions_of(ping_pong_terms(problem, known));
}

// Protects: a consumer's part of a region may be several products with no other op between them.
// All products of one consumer come before all of the other's.
TEST(PingPong, HoldsSeveralRowsIfNothingComesBetween) {
  EXPECT_EQ(regions_of_rows("m0m1m2m3n0n1n2n3"),
            (std::vector<std::string>{"m0..m1 m2..m3", "n0..n1 n2..n3"}));
  EXPECT_EQ(regions_of_rows("m0n0m1n1m2n2m3n3"), std::vector<std::string>{});  // n0 lies between
  EXPECT_EQ(regions_of_rows("m0m2m1m3n0n1n2n3"),  // m0 m2 m1 m3: no alternation
            std::vector<std::string>{"n0..n1 n2..n3"});
}

TEST(PingPong, HasFourRegionsAtMost) {
  std::string text = R"(
loop many
unit TC
unit TMA
memory SMEM capacity 8
group L warps 1 loads
group C0 registers 40
group C1 registers 40
op ld on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 2 async streaming
)";
  std::string edges;
  for (const char row : {'A', 'B'}) {
    for (int i = 0; i < 5; ++i) {
      const std::string op = "m" + std::to_string(i) + row;
      text += "op " + op + " on TC for 4 latency 6 issue 1 registers 2 async\n";
      edges += "ld -> " + op + " blocking\n";
      if (i > 0) edges += "m" + std::to_string(i - 1) + row + " -> " + op + " blocking\n";
    }
  }
  const auto parsed = schedule::parse_loop(text + edges, "many");
  ASSERT_TRUE(parsed) << to_string(parsed.error());
  EXPECT_EQ(regions_of(ping_pong_terms(parsed->problem)),
            (std::vector<std::string>{"m0A..m0A m0B..m0B", "m1A..m1A m1B..m1B", "m2A..m2A m2B..m2B",
                                      "m3A..m3A m3B..m3B"}));
}

TEST(PingPong, SaysWhatIsMissing) {
  EXPECT_EQ(ping_pong_terms(loop("fwd_b1")).regions.note,
            "no ping-pong: it is for two consumers, and there is 1");
  const Problem uneven = changed(
      loop("fwd_h2"), [](problem::Parts& parts) { parts.ops.back().alternatives[0].latency += 1; });
  EXPECT_EQ(ping_pong_terms(uneven).regions.note,
            "no ping-pong: the sub-tiles do not do the same work: 'pvB' is not like 'pvA'");
  EXPECT_EQ(refusal(loop("fwd_h2"), {Strategy::cypress, {}, true}),
            "strategy cypress: it has no ping-pong");
}

// Protects: where one warp starts the products, they are a partition of their own, and one consumer
// suffices.
TEST(Triton, NeedsNoSecondConsumerWhereProductsAreApart) {
  const Problem apart = loop("fwd_b1");
  const auto made = arrange(apart, {Strategy::triton, {}}, {}, {});
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->answer.verdict, schedule::Verdict::feasible) << made->answer.argument;
}

// Protects: a loop that is infeasible under a strategy may have other schedules, so the answer
// names the strategy.
TEST(Refusals, InfeasibleNamesTheStrategy) {
  const Problem tight = changed(loop("fwd_h2"), [](problem::Parts& parts) {
    for (problem::Group& group : parts.groups) group.registers = std::min(group.registers, 130);
  });
  const auto made = arrange(tight, {Strategy::triton, {}}, {}, {});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->answer.verdict, schedule::Verdict::infeasible);
  EXPECT_EQ(made->answer.argument,
            "strategy triton: its groups would need more registers than they have");
}

TEST(Names, GoBothAlternatives) {
  for (const Strategy strategy : all_strategies()) {
    EXPECT_EQ(strategy_named(name_of(strategy)), strategy);
  }
  EXPECT_FALSE(strategy_named("none"));
}

// Protects the way from a kernel's text: every strategy has a checked schedule within the loop's
// bracket.
TEST(Kernels, EveryStrategyOfFlashAttentionOnHopper) {
  for (const Strategy strategy : kOthers) {
    SCOPED_TRACE(name_of(strategy));
    driver::Request request;
    request.input = {"d128.ttgir", file_text("kernels/fa_fwd/sm_90/d128.pre.ttgir")};
    request.strategy.strategy = strategy;
    const auto outcome = driver::schedule_loop(request);
    ASSERT_TRUE(outcome) << to_string(outcome.error());
    EXPECT_EQ(outcome->strategy, name_of(strategy));
    EXPECT_TRUE(outcome->violations.empty());
    EXPECT_EQ(outcome->answer.verdict, schedule::Verdict::feasible);
    ASSERT_TRUE(outcome->bracket);
    EXPECT_GE(*outcome->bracket->expected, outcome->bracket->fastest);
    EXPECT_FALSE(driver::certify_loop(request));
  }
}

}  // namespace
}  // namespace twill::strategy
