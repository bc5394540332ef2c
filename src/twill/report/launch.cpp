#include "twill/report/launch.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "twill/support/text_table.h"

namespace twill::report {
namespace {

using Json = nlohmann::ordered_json;

std::string trips_of(const LaunchTime& launch) {
  if (launch.least_trips == launch.most_trips) return fmt::format("{}", launch.most_trips);
  return fmt::format("{} to {}", launch.least_trips, launch.most_trips);
}

/// Rest of the measured time, with its possible reasons.
std::string rest_of(const LaunchTime& launch) {
  if (launch.measured < launch.bound) {
    return "less than proven: another clock, other arguments, or not this loop";
  }
  if (launch.measured < launch.reached) return "faster than Twill would be, in the model";
  return "another schedule, epilogue, launch, clock, DRAM and L2";
}

}  // namespace

std::string launch_text(const LaunchTime& launch) {
  const auto& [x, y, z] = launch.grid;
  std::string out =
      fmt::format("\nlaunch of {} x {} x {} CTAs of {} trips, on {} SMs at {:.0f} MHz\n", x, y, z,
                  trips_of(launch), launch.sms, launch.clock_mhz);
  using enum TextTable::Align;
  TextTable table({left, right, right, left}, 2);
  const auto add = [&](const char* what, double microseconds, const std::string& note) {
    table.add({what, fmt::format("{:.1f} us", microseconds),
               fmt::format("{:.1f} %", 100 * microseconds / launch.measured), note});
  };
  add("bound", launch.bound, "proven: every SM at the bound of the loop, always busy");
  for (const LaunchTime::Part& part : launch.parts) add(part.what.c_str(), part.microseconds, "");
  add("twill", launch.reached, "what Twill's plan would reach, in the model");
  add("the rest", launch.measured - launch.reached, rest_of(launch));
  add("measured", launch.measured, "");
  return out + table.to_string();
}

std::string launch_json(const LaunchTime& launch) {
  Json parts = Json::array();
  for (const LaunchTime::Part& part : launch.parts) {
    parts.push_back({{"what", part.what}, {"microseconds", part.microseconds}});
  }
  const Json json = {{"measured_us", launch.measured},
                     {"grid", launch.grid},
                     {"trips", {launch.least_trips, launch.most_trips}},
                     {"iterations", launch.iterations},
                     {"sms", launch.sms},
                     {"clock_mhz", launch.clock_mhz},
                     {"bound_us", launch.bound},
                     {"percent_of_bound", 100 * launch.bound / launch.measured},
                     {"parts", std::move(parts)},
                     {"reached_us", launch.reached},
                     {"percent_of_reached", 100 * launch.reached / launch.measured}};
  return json.dump();
}

}  // namespace twill::report
