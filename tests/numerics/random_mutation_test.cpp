#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plan/mutator.h"
#include "twill/driver/numbers_loop.h"

// Protects: a kernel's plan with one random change is refused by the name of a rule. Otherwise the
// plan runs to its end under every delay, and computes the results of the kernel's text.
namespace twill::driver {
namespace {

using plan::Plan;
using plan::testing::Mutant;

constexpr unsigned kMutants = 120;

constexpr std::array kRules = {"well-formed",
                               "ownership",
                               "launch",
                               "registers",
                               "memory",
                               "named-barriers",
                               "deadlock",
                               "arrivals",
                               "overrun",
                               "phase",
                               "read-before-write",
                               "overwrite",
                               "dependence",
                               "fence",
                               "groups",
                               "exit"};

/// Reason why some run of the loop does not come to its end; "" if all do.
std::string stuck(const Plan& plan) {
  int deepest = 1;
  for (const plan::Role& role : plan.roles) deepest = std::max(deepest, role.sections.spread);
  for (const plan::Channel& channel : plan.channels) deepest = std::max(deepest, channel.depth);
  for (std::int64_t trips = 0; trips <= 2 * deepest + 2; ++trips) {
    for (const std::optional<std::uint64_t> jitter : {std::optional<std::uint64_t>(), {1}, {2}}) {
      simulate::Setting setting;
      setting.trips = trips;
      setting.timing.jitter = jitter;
      setting.timing.jitter_all = true;
      setting.timing.largest_jitter = kLargestDelay;
      const auto run = simulate::simulate(plan, setting);
      if (!run) return std::to_string(trips) + " trips: " + run.error().message;
    }
  }
  return "";
}

struct Tally {
  std::vector<std::string> accepted;
  std::map<std::string, int> rejected;  ///< by the first rule in the findings
};

class Judge {
 public:
  explicit Judge(const std::string& kernel) {
    request_.input =
        read_input(std::string(TWILL_SOURCE_DIR) + "/kernels/" + kernel + ".pre.ttgir").value();
    planned_.emplace(*plan_loop(request_));
  }

  Tally judge(unsigned mutants) const {
    Tally tally;
    for (unsigned seed = 0; seed < mutants; ++seed) {
      const Mutant mutant = plan::testing::mutant_of(planned_->plan->plan(), seed);
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + mutant.what);
      const auto proven = plan::prove(mutant.plan);
      if (!proven) {
        expect_rules(proven.error());
        ++tally.rejected[proven.error().front().rule];
        continue;
      }
      tally.accepted.push_back(mutant.what);
      EXPECT_EQ(stuck(mutant.plan), "");
      expect_right_numbers(mutant.plan);
    }
    return tally;
  }

 private:
  static void expect_rules(const std::vector<plan::Finding>& findings) {
    ASSERT_FALSE(findings.empty());
    for (const plan::Finding& finding : findings) {
      EXPECT_NE(std::find(kRules.begin(), kRules.end(), finding.rule), kRules.end())
          << finding.rule << ": " << finding.message;
      EXPECT_FALSE(finding.message.empty()) << finding.rule;
    }
  }

  /// Runs one CTA with several trips, with all asynchronous work as late as possible.
  void expect_right_numbers(const Plan& plan) const {
    NumbersRequest wanted;
    wanted.launch.size = 320;
    wanted.programs = {{0, 0, 0}};
    wanted.jitter = 3;
    const auto found = compare_numbers(request_, *planned_, plan, wanted);
    ASSERT_TRUE(found.has_value()) << to_string(found.error());
    EXPECT_TRUE(numerics::agrees(*found)) << numerics::to_text(*found);
  }

  Request request_;
  std::optional<PlannedLoop> planned_;
};

void check(const std::string& kernel) {
  const Tally tally = Judge(kernel).judge(kMutants);
  for (const auto& [rule, count] : tally.rejected) std::cout << count << " " << rule << ", ";
  std::cout << "accepted " << tally.accepted.size() << ":\n";
  for (const std::string& what : tally.accepted) std::cout << "  " << what << "\n";
  // Guard against an empty test: some mutants are accepted, some refused, and for several reasons.
  EXPECT_GT(tally.accepted.size(), kMutants / 10);
  EXPECT_LT(tally.accepted.size(), kMutants * 2 / 3);
  EXPECT_GE(tally.rejected.size(), 6U);
}

TEST(RandomMutants, OfGemmOnHopper) { check("gemm/sm_90/tma_128x128x64"); }
TEST(RandomMutants, OfAttentionOnHopper) { check("fa_fwd/sm_90/d128"); }
TEST(RandomMutants, OfAttentionOnBlackwell) { check("fa_fwd/sm_100/d128"); }

}  // namespace
}  // namespace twill::driver
