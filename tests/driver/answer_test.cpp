#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driver/request.h"
#include "twill/driver/compare_loop.h"
#include "twill/driver/emit_cuda.h"
#include "twill/driver/emit_ttgir.h"
#include "twill/driver/explain.h"
#include "twill/driver/limits.h"
#include "twill/driver/plan_loop.h"
#include "twill/driver/simulate_loop.h"
#include "twill/report/story.h"
#include "twill/schedule/corun.h"
#include "twill/simulate/simulate.h"

// Protects: an input has one answer, and every command reports that answer.
namespace twill::driver {
namespace {

/// Counts steps that must run only once.
struct Counted {
  std::map<std::string, int> steps;
  Request request;
  explicit Counted(Request asked) : request(std::move(asked)) {
    request.on_step = [this](const std::string& step) { ++steps[step]; };
  }
  void expect_once() const {
    EXPECT_EQ(steps.count("read"), 1U);
    EXPECT_GT(steps.size(), 2U);
    for (const auto& [step, count] : steps) EXPECT_EQ(count, 1) << step;
  }
};

// A command reads its input once, and extracts once for each pool and rate.
TEST(Answer, ReadsAndExtractsOnce) {
  const Request request = request_for("kernels/fa_fwd/sm_90/d128.pre.ttgir");
  Counted emitted(request);
  ASSERT_TRUE(emit_cuda(emitted.request));
  emitted.expect_once();
  Counted simulated(request);
  ASSERT_TRUE(simulate_loop(simulated.request, {}));
  simulated.expect_once();
  Counted bound(request);
  ASSERT_TRUE(bound_loop(bound.request));
  bound.expect_once();
  Counted compared(request);
  ASSERT_TRUE(compare_loop(compared.request, strategy::all_strategies()));
  compared.expect_once();
}

// No candidate is simulated to be faster than the chosen candidate by more than the simulator's
// error on hardware. Within that error, no candidate is expected to be faster by more than the
// co-run model's error, late loads included. The first figure of the answer is the plan's simulated
// interval.
TEST(Answer, TheSimulatedPlanDecides) {
  for (const char* kernel :
       {"fa_fwd/sm_90/d128", "fa_fwd/sm_90/d128m64", "fa_fwd/sm_90/dev_d64_ws",
        "fa_fwd/sm_100/d128", "fa_fwd_causal/sm_100/d128", "gemm_rowsum/sm_90/128x128x64"}) {
    SCOPED_TRACE(kernel);
    const Request request = request_for(std::string("kernels/") + kernel + ".pre.ttgir");
    const auto run = simulate_loop(request, {});
    ASSERT_TRUE(run && run->run && run->outcome->built);
    const report::Built& built = *run->outcome->built;
    ASSERT_TRUE(built.planned && built.simulated);
    EXPECT_EQ(*built.simulated, *run->run->interval);
    const auto& all = run->outcome->candidates;
    const auto chosen =
        std::find_if(all.begin(), all.end(), [](const auto& it) { return it.chosen; });
    ASSERT_NE(chosen, all.end());
    double least = *chosen->simulated;
    for (const report::Candidate& it : all) {
      EXPECT_EQ(it.chosen, &it == &*chosen);
      if (it.simulated && it.slowest) least = std::min(least, *it.simulated);
    }
    EXPECT_LE(*built.simulated, simulate::kError * least);
    for (const report::Candidate& it : all) {
      const bool close = it.simulated && *it.simulated <= simulate::kError * least;
      if (close && it.slowest && it.refused.empty()) {
        EXPECT_LE(static_cast<double>(*chosen->expected + chosen->late_loads),
                  schedule::kCoRunError * static_cast<double>(*it.expected + it.late_loads));
      }
      if (!it.simulated && it.interval) {
        EXPECT_FALSE(it.refused.empty()) << it.pool << " " << it.rate;
      }
    }
  }
}

// A pool is not searched at the slowest rates if its least II is above that of a plan by more than
// simulations tell apart. The answer says so.
TEST(Answer, PoolsFarOffAreNotTried) {
  const auto answer = answer_loop(request_for("kernels/fa_fwd_bias/sm_100/d64_desc.pre.ttgir"));
  ASSERT_TRUE(answer);
  const auto& all = answer->outcome.candidates;
  const auto planned = std::find_if(all.begin(), all.end(), [](const auto& it) {
    return it.rate == "slowest" && it.pool == "2x128" && it.simulated;
  });
  ASSERT_NE(planned, all.end());
  const auto most = static_cast<Cycles>(simulate::kError * static_cast<double>(*planned->interval));
  int far_off = 0;
  for (const report::Candidate& it : all) {
    const std::string begin = "not tried: needs at least ";
    if (it.note.rfind(begin, 0) != 0) continue;
    ++far_off;
    EXPECT_FALSE(it.interval);
    EXPECT_GT(std::stoll(it.note.substr(begin.size())), most) << it.pool;
  }
  EXPECT_EQ(far_off, 2) << "one group of 4 or of 8 warps";
}

/// JSON of an H200 whose loads by TMA take that many cycles.
std::string with_loads_of(int cycles) {
  std::ifstream shipped(std::string(TWILL_SOURCE_DIR) + "/machines/h200.json");
  auto machine = nlohmann::json::parse(shipped);
  for (auto& term : machine["operations"]["tile_load"]["terms"]) {
    if (term["on"] == "latency") term["value"] = term["slow"] = cycles;
  }
  const std::string path = testing::TempDir() + "far_" + std::to_string(cycles) + ".json";
  std::ofstream(path) << machine;
  return path;
}

// Loads that rings cannot hide are part of the problem: the bound counts them. Certificate and
// explanation are about the same problem. Loads that rings hide change nothing.
TEST(Answer, TakesInTheLatencyOfLoadsWhereRingsCannotHideIt) {
  Request request = request_for("kernels/gemm/sm_90/tma_128x128x64.pre.ttgir");
  request.machine = "h200";
  const auto near = answer_loop(request);
  ASSERT_TRUE(near && near->outcome.bracket);
  EXPECT_FALSE(near->outcome.load_latency);
  request.load_latency = true;
  const auto asked = answer_loop(request);
  ASSERT_TRUE(asked && asked->outcome.bracket);
  EXPECT_TRUE(asked->outcome.load_latency);
  EXPECT_EQ(asked->outcome.bracket->fastest, near->outcome.bracket->fastest);

  request.machine = with_loads_of(4500);
  request.load_latency = false;
  const auto far = answer_loop(request);
  ASSERT_TRUE(far && far->plan && far->outcome.bracket && far->outcome.built);
  EXPECT_TRUE(far->outcome.load_latency);
  EXPECT_GT(far->outcome.bracket->fastest, near->outcome.bracket->fastest);
  EXPECT_GE(*far->outcome.built->simulated, static_cast<double>(far->outcome.bracket->fastest));
  EXPECT_NE(report::story(far->outcome).find("cycles, proven"), std::string::npos);
  for (const problem::Dependence& it : far->outcome.problem.dependences()) {
    const problem::Op& load = far->outcome.problem[it.from];
    if (load.streaming) {
      EXPECT_EQ(it.delay, load.alternatives[0].latency);
    }
  }
  const auto certified = certify_loop(request);
  ASSERT_TRUE(certified.has_value());
  const auto checked = check_certificate(certified->certificate, request.input, request.machine);
  ASSERT_TRUE(checked) << to_string(checked.error());
  EXPECT_FALSE(checked->rejection.has_value());
}

// The order with the proven least II of this loop makes an op wait for a product that follows
// others. Its plan takes 1516 cycles. Orders of other strategies with that II have plans of 1452.
TEST(Answer, APlanOfALoopIsNotSlowerThanThoseOfOtherStrategies) {
  Request request;
  request.input = {"products.loop", R"(loop products
relax one-stream
unit TC
unit ALU
unit TMA
memory SMEM capacity 166912
group LOAD warps 1 registers 64 loads
group A registers 194
group B registers 186
op load on TMA for 292 latency 637 warps 1 occupies SMEM 5120 async streaming
op p0 on TC for 255 latency 319 registers 9 async
op p1 on TC for 88 latency 152 registers 13 async
op p1_scaled on ALU for 32 latency 48 registers 1
op p2 on TC for 254 latency 318 registers 16 async
op p3 on TC for 249 latency 313 registers 13 async
op p4 on TC for 189 latency 253 registers 10 async
op p5 on TC for 247 latency 311 registers 6 async
op p6 on TC for 69 latency 133 registers 8 async
op p7 on TC for 101 latency 165 registers 13 async
p1 -> p1_scaled transfer 96
load -> p2 blocking
p2 -> p2 distance 1 transfer 154
load -> p3 blocking
load -> p6 blocking
load -> p7 blocking
)"};
  const auto compared = compare_loop(request, strategy::all_strategies());
  ASSERT_TRUE(compared) << to_string(compared.error());
  std::size_t planned = 0;
  for (const report::Compared& row : compared->comparison.rows) {
    EXPECT_EQ(report::on_faster(compared->comparison, row), "") << row.strategy;
    planned += row.simulated ? 1U : 0U;
  }
  EXPECT_GT(planned, 2U);
}

// CUDA cannot print a second loop with tiles. This must not change the answer: commands that print
// no kernel give the best plan, and say that TTGIR prints it.
TEST(Answer, DoesNotDependOnWhatIsPrinted) {
  const Request request = request_for("kernels/fa_fwd_causal/sm_90/d128.pre.ttgir");
  auto best = answer_loop(request);
  ASSERT_TRUE(best) << to_string(best.error());
  EXPECT_FALSE(best->outcome.built->not_printable);
  look_for_doors(request, *best);
  EXPECT_NE(best->outcome.built->not_printable, "");
  EXPECT_EQ(best->outcome.built->no_ttgir, "");
  for (const report::Candidate& it : best->outcome.candidates) {
    EXPECT_EQ(it.refused.find("print: "), std::string::npos) << it.refused;
  }
  const auto cuda = answer_loop(request, {true, &cuda_door()});
  ASSERT_TRUE(cuda) << to_string(cuda.error());
  EXPECT_TRUE(cuda->unprinted);
}

// The best plan needs more registers than its roles have. Plans tried instead take at most twice
// the work, or some tenths of a second.
TEST(Answer, OtherPlansForWantOfRegistersTakeLittle) {
  Request request = request_for("kernels/fa_fwd_bias/sm_90/d128_causal.pre.ttgir");
  request.ctas_per_sm = 1;
  std::uint64_t first = 0, all = 0;
  request.limits.tally = &first;
  ASSERT_TRUE(answer_loop(request));
  request.limits.tally = &all;
  const auto emitted = emit_ttgir(request);
  ASSERT_TRUE(emitted) << to_string(emitted.error());
  EXPECT_TRUE(std::any_of(emitted->notes.begin(), emitted->notes.end(), [](const auto& note) {
    return note.find(", since else WG0 needs about") != std::string::npos;
  }));
  constexpr std::uint64_t kTenths = 20'000'000;
  EXPECT_LE(all, 2 * first + 2 * std::max(2 * first, kTenths));
}

// The text goes to its reader before the checks, whose notes it lacks. A reader that is gone ends
// the call.
TEST(Answer, ATextIsTakenBeforeItsChecks) {
  const Request request = request_for("kernels/gemm/sm_90/tma_128x256x64.pre.ttgir");
  std::string early;
  TtgirChoice choice;
  choice.take_unchecked = [&](const std::string& text) -> Result<void> {
    EXPECT_EQ(early, "");
    early = text;
    return {};
  };
  const auto emitted = emit_ttgir(request, choice);
  ASSERT_TRUE(emitted) << to_string(emitted.error());
  EXPECT_EQ(emitted->text, early);
  choice.take_unchecked = [](const std::string&) { return fail({"a pipe"}, "cannot be written"); };
  const auto without = emit_ttgir(request, choice);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().message, "cannot be written");
}

/// Whether a module is planned for two CTAs an SM, and its text and notes say so.
bool has_company(const EmittedTtgir& emitted) {
  const bool limited = emitted.text.find("ttg.maxnreg = 128 : i32") != std::string::npos;
  const bool noted = std::any_of(emitted.notes.begin(), emitted.notes.end(), [](const auto& note) {
    return note.find("two CTAs share an SM") != std::string::npos;
  });
  EXPECT_EQ(limited, noted);
  return limited;
}

// A tile of 64 rows leaves half of the registers free. Two CTAs use the tensor core better than two
// groups that pass tiles to each other (measured: 1.36 instead of 0.87 of plain Triton).
TEST(Answer, TwoCtasShareAnSmWhereThatIsFaster) {
  Request request = request_for("kernels/fa_fwd/sm_90/d128m64.pre.ttgir");
  const auto emitted = emit_ttgir(request);
  ASSERT_TRUE(emitted) << to_string(emitted.error());
  EXPECT_EQ(emitted->broken, "");
  EXPECT_TRUE(has_company(*emitted));
  EXPECT_EQ(emitted->planned.outcome.pool, "1x64");
  request.ctas_per_sm = 1;
  const auto alone = emit_ttgir(request);
  ASSERT_TRUE(alone) << to_string(alone.error());
  EXPECT_FALSE(has_company(*alone));
}

// A single compute group shares its SM with a second CTA, even where the estimate is higher with
// two CTAs: 366 instead of 308 cycles an iteration. Measured on an H200: 0.92 instead of 0.80 of
// plain Triton. Addresses of rows and columns in the epilogue take few registers.
TEST(Answer, ALoneGroupGetsCompany) {
  const auto emitted = emit_ttgir(request_for("tests/emit/kinds/moe_scatter.ttgir"));
  ASSERT_TRUE(emitted) << to_string(emitted.error());
  EXPECT_EQ(emitted->broken, "");
  EXPECT_TRUE(has_company(*emitted));
}

// A product over the rows of all groups is printed with whole tiles, of which no group has a part.
TEST(Answer, TilesAreWholeWhereTheirPartsCannotBePrinted) {
  const auto emitted = emit_ttgir(request_for("tests/driver/kinds/gated_delta.ttgir"));
  ASSERT_TRUE(emitted) << to_string(emitted.error());
  EXPECT_EQ(emitted->broken, "");
  EXPECT_NE(emitted->text.find("tiles are not cut"), std::string::npos);
}

// An accumulator of 256 columns takes more than half of the registers. With 64 rows, half would do,
// but ptxas takes no instruction with that many results (C7602). CTAs that walk tiles have no
// prologue and epilogue to hide.
TEST(Answer, CtasStayAloneWhereTheyMust) {
  for (const char* kernel :
       {"kernels/gemm/sm_90/tma_128x256x64.pre.ttgir", "tests/driver/wide_product.ttgir",
        "kernels/gemm_persistent/sm_90/128x128x64_nested.pre.ttgir"}) {
    SCOPED_TRACE(kernel);
    const auto emitted = emit_ttgir(request_for(kernel));
    ASSERT_TRUE(emitted) << to_string(emitted.error());
    EXPECT_FALSE(has_company(*emitted));
  }
}

// Every command begins with the same lines: pool, simulated interval, proven bound and limiter.
TEST(Answer, IsTheSameStoryInEveryCommand) {
  for (const char* input : {"kernels/dual_gemm/sm_90/128x128x64.pre.ttgir", "loops/fwd_h2.loop"}) {
    SCOPED_TRACE(input);
    const Request request = request_for(input);
    const auto answer = answer_loop(request);
    ASSERT_TRUE(answer && answer->plan);
    const std::string story = report::story(answer->outcome);
    EXPECT_NE(story.find("cycles an iteration, simulated"), std::string::npos);
    EXPECT_NE(story.find("limited by unit TC"), std::string::npos);
    const auto bound = bound_loop(request);
    ASSERT_TRUE(bound && bound->answer);
    EXPECT_EQ(report::story(*bound->answer), story);
    const auto compared = compare_loop(request, strategy::all_strategies());
    ASSERT_TRUE(compared);
    EXPECT_EQ(compared->comparison.story, story);
    EXPECT_EQ(compared->comparison.rows.front().simulated, answer->outcome.built->simulated);
    const auto explained = explain_loop(request, machine::Rate::fastest, {}, {});
    ASSERT_TRUE(explained);
    EXPECT_EQ(explained->heading.story, story);
    EXPECT_EQ(explained->heading.pool, answer->outcome.pool);
    EXPECT_LT(report::proven_bound(answer->outcome), *answer->outcome.built->simulated + 0.5);
  }
}

// A schedule without a plan is still an answer, with the reason. A command that needs the plan
// refuses.
TEST(Answer, SaysWhyThereIsNoPlan) {
  Request request;
  request.input = {"tight.loop",
                   "loop tight\nmemory SMEM capacity 1024\ngroup G registers 64\n"
                   "group K warps 1 registers 64\nop a latency 10 issue 4 registers 32\n"
                   "op b issue 4 warps 1\na -> b\n"};
  const auto answer = answer_loop(request);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->plan);
  ASSERT_TRUE(answer->refusal && answer->outcome.built);
  EXPECT_FALSE(answer->outcome.built->planned);
  EXPECT_NE(answer->outcome.built->refusal.find("the buffers need"), std::string::npos);
  const auto planned = plan_loop(request);
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().message, answer->refusal->message);
}

}  // namespace
}  // namespace twill::driver
