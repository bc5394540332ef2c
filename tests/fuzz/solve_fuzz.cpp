// Any loop that reads, solved under a small limit: the verdict may be any. A schedule that is given
// obeys every rule, and no bound is above it.

#include "fuzz.h"
#include "twill/schedule/loop_text.h"
#include "twill/solve/solve.h"
#include "twill/verify/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace twill;
  const auto loop = schedule::parse_loop(fuzz::text_of(data, size), "fuzz.loop");
  if (!loop) return 0;

  solve::Options options;
  options.work_limit = 3'000'000;
  options.memory_limit = std::size_t{256} << 20;
  const schedule::Answer answer = solve::solve(loop->problem, options);
  const bool has_schedule =
      answer.verdict == schedule::Verdict::optimal || answer.verdict == schedule::Verdict::feasible;
  fuzz::expect(has_schedule == answer.schedule.has_value(),
               "the verdict says if there is a schedule");
  if (!has_schedule) {
    fuzz::expect(!answer.argument.empty(), "a verdict without a schedule gives an argument");
    return 0;
  }
  fuzz::expect(answer.lower_bound.value <= answer.schedule->initiation_interval,
               "the lower bound is below the answer");
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  if (!checked) std::fprintf(stderr, "%s\n", checked.error().front().message.c_str());
  fuzz::expect(checked.has_value(), "the independent check accepts what the solver returns");
  return 0;
}
