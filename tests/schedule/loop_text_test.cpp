#include "twill/schedule/loop_text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "schedule/random_parts.h"
#include "twill/problem/problem.h"

// Protects the text form of loops: no statement is lost or invented. A canonical file survives
// reading and printing byte for byte, comments included.
namespace twill::schedule {
namespace {

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

LoopText parsed(const std::string& text) {
  Result<LoopText> loop = parse_loop(text, "test.loop");
  if (!loop) ADD_FAILURE() << to_string(loop.error());
  return *std::move(loop);
}

std::vector<std::filesystem::path> bundled_loops() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(TWILL_SOURCE_DIR "/loops")) {
    if (entry.path().extension() == ".loop") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(BundledLoops, RoundTripByteForByte) {
  const std::vector<std::filesystem::path> paths = bundled_loops();
  EXPECT_GE(paths.size(), 16u);
  for (const std::filesystem::path& path : paths) {
    const std::string text = file_text(path);
    const Result<LoopText> loop = parse_loop(text, path.string());
    ASSERT_TRUE(loop) << to_string(loop.error());
    EXPECT_EQ(print_loop(*loop), text) << path;
    EXPECT_EQ(loop->problem.name(), path.stem()) << "a loop is called like its file";
  }
}

// Protects the format's defaults with the first example of its documentation, Figure 1: small loops
// stay small because defaults are the obvious values.
TEST(LoopText, Figure1MeansWhatThePaperDraws) {
  const problem::Problem problem = parsed(file_text(TWILL_SOURCE_DIR "/loops/fig1.loop")).problem;
  ASSERT_EQ(problem.ops().size(), 3u);
  const problem::Op& s = problem.ops()[0];
  EXPECT_EQ(s.name, "S");
  EXPECT_EQ(s.warps, 4);
  ASSERT_EQ(s.alternatives.size(), 1u);
  EXPECT_EQ(s.alternatives[0].unit, problem::UnitId(0));
  EXPECT_EQ(s.alternatives[0].occupancy, 1);
  EXPECT_EQ(s.alternatives[0].latency, 1);
  EXPECT_EQ(s.alternatives[0].issue, 1);
  ASSERT_EQ(problem.dependences().size(), 3u);
  EXPECT_EQ(problem.dependences()[2].from, OpId(2));
  EXPECT_EQ(problem.dependences()[2].to, OpId(2));
  EXPECT_EQ(problem.dependences()[2].distance, 1);
  EXPECT_FALSE(problem.in_force(problem::Rule::one_stream));
}

TEST(LoopText, FillsInDefaultsWhateverTheOrderOfWords) {
  const problem::Problem problem = parsed(R"(loop defaults
unit TC
memory SMEM capacity 9
memory TMEM capacity 8
group WG0
op sync on TC for 7
op free
op copy async on TC for 5
op late occupies TMEM 2 occupies SMEM 1 issue 3 streaming latency 90 on TC for 6
)")
                                       .problem;
  const auto alternative = [&](std::size_t op) { return problem.ops()[op].alternatives.front(); };
  EXPECT_EQ(alternative(0).latency, 7);
  EXPECT_EQ(alternative(0).issue, 7);
  EXPECT_EQ(alternative(1).latency, 0);
  EXPECT_EQ(alternative(1).issue, 0);
  EXPECT_FALSE(alternative(1).unit);
  EXPECT_EQ(alternative(2).latency, 5);
  EXPECT_EQ(alternative(2).issue, 1);
  EXPECT_EQ(alternative(3).latency, 90);
  EXPECT_EQ(alternative(3).issue, 3);
  const problem::Op& late = problem.ops()[3];
  EXPECT_TRUE(late.variable_latency);
  ASSERT_EQ(late.footprint.size(), 2u);
  EXPECT_EQ(late.footprint[0].amount, 1) << "footprints are kept in the order of the memories";
  EXPECT_EQ(problem.groups()[0].warps, 4);
  EXPECT_EQ(problem.groups()[0].registers, 0);
}

// Text with everything that the format can say, in canonical form, with remarks in every possible
// place.
constexpr std::string_view kEverything = R"(# a loop with everything
loop everything  # its name
relax width one-stream
minimize length groups
minimum-compute-groups 2

unit TC
unit TMA
pipe ALU
memory SMEM capacity 1000   # bytes
group VL warps 1 registers 24 loads
group WG0 registers 208
group WG1
# the ops

op load on TMA for 512 latency 1000 warps 1 occupies SMEM 100 async streaming
op slow warps 1 async variable-latency
op mma on TC for 512 latency 640 issue 4 uses ALU 3 registers 64 async
  source "mma @ 12:3"
  source "quote \" backslash \\ newline \n bell \x07"
op exp registers 32
	# a way by way comment
  alternative mufu on TC for 16 latency 20 uses ALU 4
  alternative poly latency 90 issue 80  # no unit

load -> mma blocking
mma -> mma distance 1 delay 0 in-place
mma -> exp distance 2 delay 7 blocking read-hold 4 transfer 316
exp -> load distance 1 order-only  # the ring is full

schedule interval 1024
  load at 0 in VL
  slow at 3 in VL
  mma at 2048 in WG0
  exp at 4096 in WG0 alternative poly

order
  group VL: load slow
  group WG0: mma exp[poly]@4  # one round
  unit TC: exp mma

# the end
)";

// Protects: words that the glossary replaced are read as before.
TEST(LoopText, ReadsOldWords) {
  std::string old(kEverything);
  for (std::size_t at; (at = old.find(" alternative ")) != std::string::npos;) {
    old.replace(at, std::string_view(" alternative ").size(), " way ");
  }
  EXPECT_EQ(parsed(old).problem, parsed(std::string(kEverything)).problem);
  const std::string ops = "loop x\ngroup G registers 9\nop a\nop b\nop s\nop l\na -> b\n";
  EXPECT_EQ(parsed(ops + "hand-off a store s load l for b\n").problem,
            parsed(ops + "transfer a store s load l for b\n").problem);
}

TEST(LoopText, RoundTripsEverything) {
  const LoopText loop = parsed(std::string(kEverything));
  EXPECT_EQ(print_loop(loop), kEverything);

  EXPECT_EQ(loop.problem.ops()[2].source[1], "quote \" backslash \\ newline \n bell \x07");
  EXPECT_EQ(loop.problem.objectives()[0], problem::Objective::length);
  EXPECT_FALSE(loop.problem.dependences()[3].carries_value);
  ASSERT_TRUE(loop.schedule);
  EXPECT_EQ(loop.schedule->initiation_interval, 1024);
  EXPECT_EQ(loop.schedule->ops[3], (Placement{4096, GroupId(1), 1}));
  ASSERT_TRUE(loop.order);
  EXPECT_EQ(loop.order->ops[3], (Step{4, GroupId(1), 1}));
  EXPECT_EQ(loop.order->groups[1], (std::vector<OpId>{OpId(2), OpId(3)}));
  EXPECT_EQ(loop.order->units[0], (std::vector<OpId>{OpId(3), OpId(2)}));
  EXPECT_TRUE(loop.order->units[1].empty());
}

TEST(LoopText, PrintsAnyLayoutInCanonicalForm) {
  const LoopText loop = parsed(
      "loop   messy\r\n"
      "\tgroup G warps 4 registers 0 # pool\r\n"
      "minimum-compute-groups 1 # a default\r\n"
      "unit U\n"
      "op a   latency 2 on U for 2\n"
      "a->a distance 1 delay 2\n"
      "op b async issue 0");
  EXPECT_EQ(print_loop(loop),
            "loop messy\n"
            "# a default\n"
            "unit U\n"
            "group G # pool\n"
            "op a on U for 2\n"
            "op b async\n"
            "a -> a distance 1 delay 2\n");
}

// Protects: keywords are not reserved, so an op may have a keyword as its name.
TEST(LoopText, OpsMayBeCalledLikeStatements) {
  const std::string text =
      "loop loop\ngroup group\nop op\nop order\nop schedule\nop at\n"
      "op -> order\nschedule -> at\n"
      "schedule interval 1\n  op at 0 in group\n  order at 0 in group\n"
      "  schedule at 0 in group\n  at at 0 in group\n"
      "order\n  group group: op order schedule at\n";
  EXPECT_EQ(print_loop(parsed(text)), text);
}

TEST(ProblemHash, DependsOnTheProblemAlone) {
  const LoopText loop = parsed(std::string(kEverything));
  const std::string hash = problem_hash(loop.problem);
  EXPECT_EQ(hash.size(), 64u);
  EXPECT_EQ(problem_hash(parsed(print_loop(loop_text_of(loop.problem))).problem), hash);
  problem::Parts parts = loop.problem.parts();
  parts.ops[0].alternatives[0].latency += 1;
  EXPECT_NE(problem_hash(*problem::pose(std::move(parts))), hash);
}

Schedule any_schedule(const problem::Problem& problem) {
  Schedule schedule{any(1, 50), {}};
  for (const problem::Op& op : problem.ops()) {
    schedule.ops.push_back({any(0, 200), GroupId(any_index(problem.groups().size())),
                            static_cast<int>(any_index(op.alternatives.size()))});
    for (const problem::Footprint& it : op.footprint) {
      const OpId id(schedule.ops.size() - 1);
      if (any_flag()) schedule.addresses.push_back({id, it.memory, any(0, 99)});
    }
  }
  return schedule;
}

RC_GTEST_PROP(LoopText, PrintingAndReadingAnyLoopChangesNothing, ()) {
  const Result<problem::Problem> problem = problem::pose(any_parts());
  RC_ASSERT(problem.has_value());
  std::optional<Schedule> schedule;
  std::optional<Order> order;
  if (any_flag()) schedule = any_schedule(*problem);
  if (any_flag()) order = order_of(*problem, any_schedule(*problem));
  const std::string text = print_loop(loop_text_of(*problem, schedule, order));
  const Result<LoopText> again = parse_loop(text, "random.loop");
  if (!again) RC_FAIL(to_string(again.error()));
  RC_ASSERT(again->problem == *problem);
  RC_ASSERT(again->schedule == schedule);
  RC_ASSERT(again->order == order);
  RC_ASSERT(print_loop(*again) == text);
}

// Protects: reading any file ends in a value or a diagnostic with a line. The inputs are a good
// text with pieces cut out, repeated and overwritten, so that they get past the first line.
RC_GTEST_PROP(LoopText, SurvivesAnyDamage, ()) {
  std::string text(kEverything);
  const int cuts = any(1, 4);
  for (int i = 0; i < cuts; ++i) {
    const std::size_t at = any_index(text.size());
    const std::size_t length = any_index(std::min<std::size_t>(text.size() - at, 40));
    const std::string piece = text.substr(any_index(text.size()), any_index(30));
    text.replace(at, length, any_flag() ? piece : *rc::gen::string<std::string>());
  }
  const Result<LoopText> loop = parse_loop(text, "damaged.loop");
  if (loop) {
    const std::string printed = print_loop(*loop);
    const Result<LoopText> again = parse_loop(printed, "printed.loop");
    if (!again) RC_FAIL(to_string(again.error()));
    RC_ASSERT(again->problem == loop->problem);
    RC_ASSERT(print_loop(*again) == printed);
  } else {
    RC_ASSERT(loop.error().location.line > 0);
    RC_ASSERT(!loop.error().message.empty());
  }
}

// Protects: 10 MB of anything are answered at once. Slow would be quadratic scans for a line, for a
// similar name or for a repeated name.
TEST(LoopText, TenMegabytesOfNoiseEndInADiagnostic) {
  constexpr std::size_t kSize = 10 << 20;
  std::mt19937_64 random(7);
  std::string noise(kSize, ' ');
  for (char& c : noise) c = static_cast<char>(random());
  EXPECT_FALSE(parse_loop(noise, "noise"));
  EXPECT_FALSE(parse_loop(std::string(kSize, 'a'), "one word"));
  EXPECT_FALSE(parse_loop("loop x\n" + std::string(kSize, 'a') + " -> b", "one long op"));
  EXPECT_FALSE(parse_loop(std::string(kSize, '\n'), "blank lines"));
  EXPECT_FALSE(parse_loop("loop x\nop \"" + std::string(kSize, '\\'), "open text"));

  std::string many = "loop x\ngroup g\n";
  for (int i = 0; many.size() < kSize; ++i) many += "op o" + std::to_string(i) + "\n";
  EXPECT_FALSE(parse_loop(many, "too many ops"));
}

}  // namespace
}  // namespace twill::schedule
