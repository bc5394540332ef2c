#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// A measured launch of a kernel, with the proven bound of its loop and the time that Twill's plan
/// would reach.
namespace twill::report {

/// Microseconds are of the main loops alone: no model has epilogue, launch, DRAM and L2. One CTA at
/// a time runs on an SM.
struct LaunchTime {
  double measured = 0;  ///< microseconds
  std::array<std::int64_t, 3> grid{};
  std::int64_t tiles = 0;        ///< CTAs of the grid
  std::int64_t least_trips = 0;  ///< of the loop, in a CTA
  std::int64_t most_trips = 0;
  std::int64_t iterations = 0;  ///< of all CTAs together
  std::int64_t sms = 0;
  double clock_mhz = 0;

  double bound = 0;  ///< microseconds: all SMs always busy, at the proven cycles of an iteration
  struct Part {
    std::string what;
    double microseconds = 0;
  };
  std::vector<Part> parts;  ///< from the bound to `reached`; they sum up to it
  double reached = 0;       ///< microseconds that Twill's plan would take, in the model
};

/// Lines of at most 100 columns: the launch, its share of the bound, and the parts between.
std::string launch_text(const LaunchTime& launch);

/// The launch as the text of a JSON object, documented in docs/reference/cli.md.
std::string launch_json(const LaunchTime& launch);

}  // namespace twill::report
