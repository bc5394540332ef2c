#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "twill/numerics/numerics.h"

namespace twill::numerics {
namespace {

using Json = nlohmann::ordered_json;

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

bool agrees(const Comparison& comparison) {
  const auto equal = [](const Tensor& tensor) { return tensor.difference.differing == 0; };
  return !comparison.fault && comparison.hazards.empty() && !comparison.tensors.empty() &&
         std::all_of(comparison.tensors.begin(), comparison.tensors.end(), equal);
}

std::string to_text(const Comparison& comparison) {
  std::string text = fmt::format("{} of the loop, {} in all\n", counted(comparison.runs, "run"),
                                 counted(comparison.trips, "trip"));
  for (const auto& [name, it] : comparison.tensors) {
    text += fmt::format("  %{}: {} elements written, ", name, it.written);
    text += it.differing == 0 ? std::string("all the same\n")
                              : fmt::format("{} differ, by up to {:g}; {} of them are no numbers\n",
                                            it.differing, it.largest, it.missing);
  }
  for (const std::string& hazard : comparison.hazards) text += "  " + hazard + "\n";
  if (comparison.fault) text += "  " + comparison.fault->message + "\n";
  text += agrees(comparison)
              ? "  what the plan computes is what the text computes, to the last bit\n"
              : "  what the plan computes is not what the text computes\n";
  return text;
}

std::string comparison_json(const Comparison& comparison) {
  Json tensors = Json::array();
  for (const auto& [name, it] : comparison.tensors) {
    tensors.push_back({{"name", name},
                       {"written", it.written},
                       {"differing", it.differing},
                       {"missing", it.missing},
                       {"largest", it.largest}});
  }
  const Json json = {{"format", "twill-numbers"},
                     {"version", kComparisonJsonVersion},
                     {"agrees", agrees(comparison)},
                     {"runs", comparison.runs},
                     {"trips", comparison.trips},
                     {"tensors", tensors},
                     {"hazards", comparison.hazards},
                     {"fault", comparison.fault ? Json(comparison.fault->message) : Json(nullptr)}};
  return json.dump(1) + "\n";
}

}  // namespace twill::numerics
