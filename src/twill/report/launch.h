#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// Measured launch of a kernel, beside the proven bound of its loop and the time that Twill's plan
/// would take.
namespace twill::report {

/// Times of a launch in microseconds, for the main loops alone: epilogue, launch, DRAM and L2 are
/// in no model. One CTA at a time runs on an SM.
struct LaunchTime {
  double measured = 0;  ///< microseconds
  std::array<std::int64_t, 3> grid{};
  std::int64_t tiles = 0;        ///< CTAs of the grid
  std::int64_t least_trips = 0;  ///< trips of the loop, in a CTA
  std::int64_t most_trips = 0;
  std::int64_t iterations = 0;  ///< iterations of all CTAs together
  std::int64_t sms = 0;
  double clock_mhz = 0;

  double bound = 0;  ///< microseconds with all SMs always busy, at the proven cycles of an
                     ///< iteration
  struct Part {
    std::string what;
    double microseconds = 0;
  };
  std::vector<Part> parts;  ///< parts between the bound and `reached`, which add up to their
                            ///< distance
  double reached = 0;       ///< microseconds that Twill's plan would take, in the model
};

/// Prints the launch, its share of the bound, and the parts between, in lines of at most 100
/// columns.
std::string launch_text(const LaunchTime& launch);

/// Prints the launch as the text of a JSON object (docs/reference/cli.md).
std::string launch_json(const LaunchTime& launch);

}  // namespace twill::report
