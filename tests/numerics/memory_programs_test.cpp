#include "numerics/memory_programs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "twill/driver/numbers_loop.h"

// Protects stores, loads and atomic additions at random places of a loop. Under every delay, a plan
// computes the text's results, or is refused with a reason. `TWILL_ROUNDS` sets the number of
// programs, and `TWILL_FIRST` the first one.
namespace twill::driver::testing {
namespace {

int number_in(const char* variable, int usual) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? usual : std::max(0, std::atoi(text));
}

Request request_of(std::string text, int number) {
  Request request;
  request.input.name = "program" + std::to_string(number) + ".ttgir";
  request.input.text = std::move(text);
  request.limits.work_limit = 2'000'000;  // any schedule will do
  return request;
}

TEST(MemoryPrograms, PlansDoWhatTheTextDoes) {
  int planned = 0, ordered = 0;
  tests::Refusals refusals;
  const int all = 12 * number_in("TWILL_ROUNDS", 1);
  const int first = number_in("TWILL_FIRST", 0);
  for (int number = first; number < first + all; ++number) {
    std::mt19937 random(static_cast<unsigned>(number));
    const std::string text = tests::random_memory_program(random);
    const Request request = request_of(text, number);
    NumbersRequest wanted;
    wanted.launch.size = 5;
    const auto loop = compare_numbers(request, wanted);
    if (!loop) {
      refusals.add(loop.error());
      EXPECT_EQ(loop.error().message.find("bug"), std::string::npos)
          << number << ": " << to_string(loop.error());
      continue;
    }
    EXPECT_TRUE(loop->planned.findings.empty()) << number;
    if (!loop->comparison) {
      refusals.add(loop->planned.refusal);
      continue;
    }
    ++planned;
    EXPECT_TRUE(numerics::agrees(*loop->comparison))
        << number << "\n"
        << numerics::to_text(*loop->comparison) << text;
    const auto dependences = loop->planned.plan->plan().problem.dependences();
    if (std::any_of(dependences.begin(), dependences.end(),
                    [](const auto& it) { return it.through_memory; })) {
      ++ordered;
    }
    wanted.jitter = static_cast<std::uint64_t>(number);
    const auto late = compare_numbers(request, loop->planned, loop->planned.plan->plan(), wanted);
    ASSERT_TRUE(late.has_value()) << number << ": " << to_string(late.error());
    EXPECT_TRUE(numerics::agrees(*late)) << number << ", late\n"
                                         << numerics::to_text(*late) << text;
  }
  RecordProperty("planned", planned);
  RecordProperty("ordered", ordered);
  std::printf("%d programs: %d planned, of which %d with order through memory; %d refused\n%s", all,
              planned, ordered, refusals.count(), refusals.to_text().c_str());
  EXPECT_GT(3 * planned, all);
  EXPECT_GE(4 * ordered, planned);
}

}  // namespace
}  // namespace twill::driver::testing
