#include "twill/schedule/bounds.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "schedule/random_parts.h"
#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"
#include "twill/schedule/recurrence.h"
#include "twill/verify/verify.h"

// Protects the start of every search and the end of every "proven optimal". Too high a bound is a
// wrong proof, too low a bound a slow search.
namespace twill::schedule {
namespace {

using problem::Problem;

Problem parsed_problem(const std::string& text) {
  Result<LoopText> loop = parse_loop(text, "test.loop");
  if (!loop) ADD_FAILURE() << to_string(loop.error());
  return loop->problem;
}

Problem bundled(const std::string& name) {
  std::ifstream file(TWILL_SOURCE_DIR "/loops/" + name + ".loop", std::ios::binary);
  return parsed_problem({std::istreambuf_iterator<char>(file), {}});
}

std::string why(const std::string& text) {
  return never_feasible(parsed_problem(text)).value_or("-");
}

/// Finds the first bound of a kind; a bound of value 0 if there is none.
Bound bound_of(const Problem& problem, BoundKind kind, const std::string& resource = "") {
  for (const Bound& it : lower_bounds(problem)) {
    if (it.kind == kind && (resource.empty() || it.resource == resource)) return it;
  }
  return Bound{0, kind, "", {}, ""};
}

// Protects ResMII and RecMII of the bundled loops; the numbers come from another program.
TEST(BundledLoops, HaveTheirKnownBounds) {
  struct Known {
    const char* name;
    Cycles resource;
    Cycles circuit;  // 1: at most 1
  };
  const Known known[] = {
      {"fig1", 2, 1},           {"gemm", 512, 1},           {"fwd_h1", 1024, 656},
      {"fwd_h2", 2048, 656},    {"fwd_h1big", 2048, 1232},  {"fwd_b1", 1032, 1132},
      {"fwd_b2", 2064, 1132},   {"fwd_b2_2wg", 2064, 1132}, {"bwd_h1", 1280, 1},
      {"bwd_h2", 2560, 1},      {"bwd_b1", 2560, 1},        {"bwd_b2", 2560, 1},
      {"bwd_b2_2wg", 2560, 1},  {"meta_fwd", 764, 1325},    {"meta_fwdsub", 758, 1033},
      {"meta_bwd", 1280, 1166},
  };
  for (const Known& it : known) {
    const Problem problem = bundled(it.name);
    EXPECT_EQ(bound_of(problem, BoundKind::unit).value, it.resource) << it.name;
    EXPECT_EQ(std::max<Cycles>(bound_of(problem, BoundKind::circuit).value, 1), it.circuit)
        << it.name;
    EXPECT_EQ(min_ii(problem).value, std::max(it.resource, it.circuit)) << it.name;
    EXPECT_EQ(never_feasible(problem), std::nullopt) << it.name;
  }
}

TEST(Witness, ReadsLikeASum) {
  EXPECT_EQ(min_ii(bundled("fwd_h2")).witness, "TC: qkA 512 + pvA 512 + qkB 512 + pvB 512 = 2048");
  EXPECT_EQ(min_ii(bundled("fwd_b1")).witness,
            "circuit ldOA -> rescA -> stOA -> pvA -> ldOA: 1132 cycles / 1 iteration");
}

TEST(Bounds, CountOnlyRulesInForce) {
  const std::string body =
      "unit U\npipe P\ngroup G\n"
      "op a on U for 4 latency 9 uses P 5\nop b on U for 3 uses P 6\na -> b\nb -> a distance 1\n";
  const Problem strict = parsed_problem("loop x\n" + body);
  EXPECT_EQ(bound_of(strict, BoundKind::unit).value, 7);
  EXPECT_EQ(bound_of(strict, BoundKind::pipe).value, 11);
  EXPECT_EQ(bound_of(strict, BoundKind::circuit).value, 12);
  EXPECT_EQ(bound_of(strict, BoundKind::op).value, 6);
  EXPECT_EQ(bound_of(strict, BoundKind::issue).value, 7);
  const Problem lax = parsed_problem("loop x\nrelax dependence unit pipe one-stream\n" + body);
  ASSERT_EQ(lower_bounds(lax).size(), 1u);
  EXPECT_EQ(min_ii(lax).kind, BoundKind::trivial);
  EXPECT_EQ(min_ii(lax).value, 1);
}

// Protects bounds on issue slots: slots belong to a group, so the bound depends on which groups may
// run an op.
TEST(Bounds, SpreadIssueOverTheGroupsThatMayRunTheOps) {
  const std::string ops =
      "op a issue 5\nop b issue 5\nop c issue 5\nop m warps 1 issue 7\n"
      "op l warps 1 issue 9 variable-latency\n";
  const std::string pool = "group A\ngroup B\ngroup M warps 1\ngroup L warps 1 loads\n";
  const Problem problem = parsed_problem("loop x\n" + pool + ops);
  std::map<std::string, Cycles> found;
  for (const Bound& it : lower_bounds(problem)) {
    if (it.kind == BoundKind::issue) found[it.resource] = it.value;
  }
  EXPECT_EQ(found, (std::map<std::string, Cycles>{{"compute groups of 1 warp", 7},
                                                  {"compute groups of 4 warps", 8},
                                                  {"load groups of 1 warp", 9}}));
  EXPECT_EQ(
      bound_of(parsed_problem("loop x\nrelax width load-group\n" + pool + ops), BoundKind::issue)
          .value,
      8)
      << "31 cycles in any of four groups";
}

TEST(Bounds, AlternativesCountWithTheirCheapestAlternative) {
  const Problem problem = parsed_problem(R"(loop x
unit U
unit V
group G
op a
  way u on U for 8 latency 9 issue 1
  way v on V for 5 latency 7 issue 2
op b on U for 6 latency 6 issue 3
a -> b
b -> a distance 1
)");
  EXPECT_EQ(bound_of(problem, BoundKind::unit, "U").value, 6);
  EXPECT_EQ(bound_of(problem, BoundKind::unit, "V").value, 0);
  EXPECT_EQ(bound_of(problem, BoundKind::circuit).value, 13);
  EXPECT_EQ(bound_of(problem, BoundKind::issue).value, 4);
}

/// Finds the largest ceil(delay / distance) over all simple circuits, by enumeration.
class AllCircuits {
 public:
  AllCircuits(const Problem& problem, std::vector<std::size_t> alternatives)
      : problem_(problem),
        alternatives_(std::move(alternatives)),
        on_path_(problem.ops().size(), false) {}

  Cycles largest() {
    for (start_ = 0; start_ < on_path_.size(); ++start_) extend(start_, 0, 0);
    return largest_;
  }

 private:
  void extend(std::size_t op, Cycles delay, Cycles distance) {
    on_path_[op] = true;
    for (const problem::Dependence& it : problem_.dependences()) {
      if (it.from.index() != op) continue;
      const problem::Op& from = problem_.ops()[op];
      const Cycles d = delay + delay_of(it, from, from.alternatives[alternatives_[op]]);
      const Cycles n = distance + it.distance;
      if (it.to.index() == start_) largest_ = std::max(largest_, (d + n - 1) / n);
      if (it.to.index() > start_ && !on_path_[it.to.index()]) extend(it.to.index(), d, n);
    }
    on_path_[op] = false;
  }

  const Problem& problem_;
  std::vector<std::size_t> alternatives_;
  std::vector<bool> on_path_;
  std::size_t start_ = 0;
  Cycles largest_ = 0;
};

/// Calls `visit` with every choice of alternatives.
template <class Visit>
void for_all_alternatives(const Problem& problem, Visit visit) {
  std::vector<std::size_t> alternatives(problem.ops().size(), 0);
  for (;;) {
    visit(alternatives);
    std::size_t op = 0;
    while (op < alternatives.size() && ++alternatives[op] == problem.ops()[op].alternatives.size())
      alternatives[op++] = 0;
    if (op == alternatives.size()) return;
  }
}

RC_GTEST_PROP(Bounds, EqualThoseOfTheBestChoiceOfAlternatives, ()) {
  problem::Parts parts = any_parts({5, 12, 2});
  parts.relaxed.clear();
  const Problem problem = *problem::pose(std::move(parts));
  constexpr Cycles kNone = std::numeric_limits<Cycles>::max();
  Cycles circuits = kNone;
  std::vector<Cycles> units(problem.units().size(), kNone);
  for_all_alternatives(problem, [&](const std::vector<std::size_t>& alternatives) {
    circuits = std::min(circuits, AllCircuits(problem, alternatives).largest());
    for (std::size_t u = 0; u < units.size(); ++u) {
      Cycles sum = 0;
      for (std::size_t op = 0; op < alternatives.size(); ++op) {
        const problem::Alternative& alternative = problem.ops()[op].alternatives[alternatives[op]];
        if (alternative.unit == problem::UnitId(u)) sum += alternative.occupancy;
      }
      units[u] = std::min(units[u], sum);
    }
  });
  RC_ASSERT(bound_of(problem, BoundKind::circuit).value == circuits);
  for (std::size_t u = 0; u < units.size(); ++u) {
    RC_ASSERT(bound_of(problem, BoundKind::unit, problem.units()[u].name).value == units[u]);
  }
}

// Protects the circuit itself, which users see as a proof: its stated numbers are its sums.
RC_GTEST_PROP(Recurrence, IsACircuitWithItsSums, ()) {
  const Problem problem = *problem::pose(any_parts({8, 24, 1}));
  const std::optional<Recurrence> worst = critical_recurrence(problem);
  if (!worst) return;
  Cycles delay = 0;
  Cycles distance = 0;
  for (std::size_t i = 0; i < worst->circuit.size(); ++i) {
    const problem::Dependence& it = problem[worst->circuit[i]];
    const problem::Dependence& next = problem[worst->circuit[(i + 1) % worst->circuit.size()]];
    RC_ASSERT(it.to == next.from);
    delay += delay_of(it, problem[it.from], problem[it.from].alternatives[0]);
    distance += it.distance;
  }
  RC_ASSERT(worst->delay == delay);
  RC_ASSERT(worst->distance == distance);
  RC_ASSERT(distance > 0);
}

// Protects against slowness: the largest loop that pose accepts, as one circuit through all ops.
// The ops are declared against the direction of the dependences, the worst order for Bellman-Ford.
TEST(Recurrence, AnswersForTheLargestLoop) {
  problem::Parts parts;
  parts.name = "ring";
  parts.groups = {{"G", 4, 0, false}};
  for (std::size_t i = 0; i < problem::kMostOps; ++i) {
    problem::Op op;
    op.name = "o" + std::to_string(i);
    op.alternatives.push_back({"", std::nullopt, 0, static_cast<Cycles>(i % 7), 0, {}});
    parts.ops.push_back(std::move(op));
    problem::Dependence it;
    it.from = OpId((i + 1) % problem::kMostOps);
    it.to = OpId(i);
    it.distance = 1;
    parts.dependences.push_back(it);
  }
  const std::optional<Recurrence> worst = critical_recurrence(*problem::pose(std::move(parts)));
  ASSERT_TRUE(worst);
  EXPECT_EQ(worst->circuit.size(), problem::kMostOps);
  EXPECT_EQ(worst->interval(), 3);
}

TEST(Witness, StaysShortForLongCircuits) {
  std::string text = "loop x\ngroup G\n";
  for (int i = 0; i < 40; ++i) text += "op o" + std::to_string(i) + " latency 2\n";
  for (int i = 0; i < 39; ++i) {
    text += "o" + std::to_string(i) + " -> o" + std::to_string(i + 1) + "\n";
  }
  text += "o39 -> o0 distance 3\n";
  const Bound bound = min_ii(parsed_problem(text));
  EXPECT_EQ(bound.value, 27);
  EXPECT_EQ(bound.ops.size(), 40u);
  EXPECT_LT(bound.witness.size(), 150u);
  EXPECT_TRUE(bound.witness.ends_with(": 80 cycles / 3 iterations = 27")) << bound.witness;
}

TEST(NeverFeasible, NamesAnOpThatNoGroupMayRun) {
  EXPECT_EQ(why("loop x\ngroup G\nop a warps 1\n"),
            "a can run in compute groups of 1 warp only, and the pool has none");
  EXPECT_EQ(why("loop x\ngroup G\nop a variable-latency\n"),
            "a can run in load groups of 4 warps only, and the pool has none");
  EXPECT_EQ(why("loop x\nrelax width\ngroup G\nop a warps 1\n"), "-");
  EXPECT_EQ(why("loop x\nrelax load-group\ngroup G\nop a variable-latency\n"), "-");
}

TEST(NeverFeasible, NamesAValueThatDoesNotFit) {
  const std::string start = "loop x\nmemory M capacity 10\ngroup G registers 10\nop r latency 1\n";
  EXPECT_EQ(why(start + "op a latency 1 occupies M 11\na -> r\n"),
            "the result of a takes 11 of the 10 there are in memory M");
  EXPECT_EQ(why(start + "op a latency 1 registers 11\na -> r\n"),
            "the result of a takes 11 of the 10 registers per thread of G, the only one of the "
            "compute groups of 4 warps");
  EXPECT_EQ(why(start + "group H registers 9\nop a latency 1 registers 11\na -> r\n"),
            "the result of a takes 11 registers per thread, and no group of the compute groups of "
            "4 warps has more than 10");
  EXPECT_EQ(why(start + "op a latency 1 occupies M 10 registers 10\na -> r\n"), "-");
}

// Protects: a value whose last read may end at its issue needs no memory, however large it is.
TEST(NeverFeasible, SaysNothingAboutValuesThatMayNotLive) {
  const std::string start = "loop x\nmemory M capacity 10\ngroup G\nop r\n";
  EXPECT_EQ(why(start + "op a latency 1 occupies M 11\n"), "-");
  EXPECT_EQ(why(start + "op a latency 1 occupies M 11\na -> r order-only\n"), "-");
  EXPECT_EQ(why(start + "op a occupies M 11\na -> r\n"), "-");
  EXPECT_EQ(why(start + "op a latency 1 occupies M 11\na -> r delay 0\n"), "-");
  EXPECT_NE(why(start + "op a occupies M 11\na -> r read-hold 1\n"), "-");
}

TEST(NeverFeasible, CountsWhatIsAlwaysCarriedAroundTheLoop) {
  const std::string start = "loop x\nmemory M capacity 10\ngroup G\nop r\n";
  EXPECT_EQ(why(start + "op a occupies M 4\na -> a distance 3\n"),
            "the result of a takes 12 of the 10 there are in memory M");
  EXPECT_EQ(
      why(start + "op a occupies M 4\na -> a distance 2\nop b latency 1 occupies M 3\nb -> r\n"),
      "the result of b takes 3 of the 10 there are in memory M, and values carried around the "
      "loop always take 8");
  EXPECT_EQ(why("loop x\ngroup G registers 10\ngroup H registers 10\n"
                "op a registers 7\nop b registers 7\nop c registers 7\n"
                "a -> a distance 1\nb -> b distance 1\nc -> c distance 1\n"),
            "values carried around the loop always take 21 registers per thread, and the compute "
            "groups of 4 warps have 20 together");
}

// Protects: a limit on compute groups is a bound only if ops must then share a group; the number
// alone makes no loop infeasible.
TEST(NeverFeasible, SeesGroupsThatCannotHaveAnOp) {
  EXPECT_EQ(why("loop x\nminimum-compute-groups 2\ngroup G\ngroup H\nop a\nop b\n"
                "same-group a b\n"),
            "at least 2 compute groups must have an op, and only 1 can have one");
  EXPECT_EQ(why("loop x\nminimum-compute-groups 2\ngroup G\ngroup H\nop a\nop b\nop c\n"
                "same-group a b\n"),
            "-");
  EXPECT_EQ(why("loop x\nminimum-compute-groups 2\ngroup G\ngroup H warps 1\nop a\nop b\n"), "-");
  EXPECT_EQ(why("loop x\nminimum-compute-groups 2\ngroup G\ngroup H\nop a\nop b\n"), "-");
  EXPECT_EQ(why("loop x\nminimum-compute-groups 3\ngroup G\ngroup H\nop a\nop b\n"), "-");
}

/// Lists all bounds but the trivial one, one line each: "VALUE WITNESS".
std::string all_of(const Problem& problem) {
  std::string text;
  for (const Bound& it : all_lower_bounds(problem)) {
    if (it.kind == BoundKind::trivial) continue;
    text += std::to_string(it.value) + " " + it.witness + "\n";
  }
  return text;
}

// Protects the list of `twill bound`, on a loop whose bounds can be computed by hand.
TEST(AllBounds, ListEachUnitPipeCircuitAndOp) {
  EXPECT_EQ(all_of(parsed_problem(
                "loop x\nunit U\npipe P\ngroup G\n"
                "op a on U for 4 latency 9 issue 1\nop b on U for 3 latency 3 uses P 5\n"
                "op c issue 2 latency 6\n"
                "a -> b\nb -> a distance 2\nc -> c distance 1\na -> c\n")),
            "7 U: a 4 + b 3 = 7\n"
            "6 circuit a -> b -> a: 12 cycles / 2 iterations = 6\n"
            "6 circuit c -> c: 6 cycles / 1 iteration\n"
            "6 issue in compute groups of 4 warps: a 1 + b 3 + c 2 = 6\n"
            "5 P: b 5 = 5\n"
            "5 b alone: 5 cycles\n"
            "4 a alone: 4 cycles\n"
            "2 c alone: 2 cycles\n");
}

// Protects: the long list begins with the short list's bound, and no two of its circuits share an
// op.
RC_GTEST_PROP(AllBounds, BeginLikeTheLowerBounds, ()) {
  const Problem problem = *problem::pose(any_parts({6, 10, 2}));
  RC_ASSERT(all_lower_bounds(problem).front().value == min_ii(problem).value);
  std::vector<int> circuits(problem.ops().size(), 0);
  for (const Recurrence& it : critical_recurrences(problem)) {
    for (const problem::DependenceId id : it.circuit) ++circuits[problem[id].from.index()];
  }
  for (const int count : circuits) RC_ASSERT(count <= 1);
  const auto worst = critical_recurrence(problem);
  const auto all = critical_recurrences(problem);
  RC_ASSERT(worst.has_value() == !all.empty());
  if (worst) RC_ASSERT(all.front().interval() == worst->interval());
}

// Protects: every schedule that the checker accepts lies above every bound, and exists only where
// never_feasible gives no reason.
RC_GTEST_PROP(Bounds, HoldForEverySchedule, ()) {
  const Problem problem = *problem::pose(any_parts({3, 3, 2}));
  const std::vector<Bound> bounds = all_lower_bounds(problem);
  const bool never = never_feasible(problem).has_value();
  int accepted = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Schedule schedule{any(1, 40), {}};
    for (const problem::Op& op : problem.ops()) {
      schedule.ops.push_back({any(0, 80), GroupId(any_index(problem.groups().size())),
                              static_cast<int>(any_index(op.alternatives.size()))});
    }
    if (!verify::verify(problem, schedule)) continue;
    ++accepted;
    RC_ASSERT(!never);
    for (const Bound& bound : bounds) {
      if (bound.value > schedule.initiation_interval) RC_FAIL(bound.witness);
    }
  }
  RC_CLASSIFY(accepted > 0, "with a schedule");
}

}  // namespace
}  // namespace twill::schedule
