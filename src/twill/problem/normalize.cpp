#include "twill/problem/normalize.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "twill/problem/problem.h"

namespace twill::problem {
namespace {

using Costs = std::vector<CostChange>;

/// Calls `use` with a reference to every duration of the parts.
template <class Use>
void for_each_duration(Parts& parts, Use use) {
  for (Op& op : parts.ops) {
    for (Alternative& alternative : op.alternatives) {
      use(alternative.occupancy);
      use(alternative.latency);
      use(alternative.issue);
      for (PipeUse& pipe : alternative.pipes) use(pipe.demand);
    }
  }
  for (Dependence& it : parts.dependences) {
    if (it.delay) use(*it.delay);
    if (it.read_hold) use(*it.read_hold);
    use(it.transfer);
  }
}

Costs costs_of(Parts parts) {
  std::map<Cycles, std::int64_t> uses;
  for_each_duration(parts, [&](Cycles& duration) { ++uses[duration]; });
  Costs costs;
  for (const auto& [duration, count] : uses) {
    if (duration > 0) costs.push_back({duration, 0, count});
  }
  return costs;
}

Cycles sum_over_uses(const Costs& costs, const std::vector<Cycles>& values) {
  Cycles sum = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) sum += costs[i].uses * values[i];
  return sum;
}

/// Finds the least solution of C[i] x[j] - C[j] x[i] <= F with x[seed] >= 1; empty if its sum
/// exceeds the budget. The element-wise minimum of two solutions is a solution, too. So x[i] is
/// raised to the demands of the others until nothing changes.
std::optional<std::vector<Cycles>> least_solution(const Costs& costs, Cycles error, Cycles budget,
                                                  std::size_t seed) {
  std::vector<Cycles> x(costs.size(), 0);
  x[seed] = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t j = 0; j < x.size(); ++j) {
        const Cycles excess = costs[i].before * x[j] - error;
        const Cycles least = excess <= 0 ? 0 : (excess + costs[j].before - 1) / costs[j].before;
        if (least <= x[i]) continue;
        x[i] = least;
        changed = true;
      }
    }
    if (sum_over_uses(costs, x) > budget) return std::nullopt;
  }
  return x;
}

/// Finds the best solution over all seeds. A solution for one error is a solution for every larger
/// error.
std::optional<std::vector<Cycles>> solution_with(const Costs& costs, Cycles error, Cycles budget) {
  std::optional<std::vector<Cycles>> best;
  for (std::size_t seed = 0; seed < costs.size(); ++seed) {
    auto found = least_solution(costs, error, budget, seed);
    if (!found) continue;
    if (!best || sum_over_uses(costs, *found) < sum_over_uses(costs, *best))
      best = std::move(found);
  }
  return best;
}

Result<std::vector<Cycles>> paper_form(const Costs& costs, Cycles budget) {
  Cycles low = 0;
  Cycles high = costs.back().before;  // enough to keep one cost at 1 and drop the others to 0
  if (!solution_with(costs, high, budget)) {
    return fail({}, fmt::format("no normalized costs have a sum of at most {}", budget));
  }
  while (low < high) {
    const Cycles middle = low + (high - low) / 2;
    if (solution_with(costs, middle, budget)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return *solution_with(costs, low, budget);
}

/// Indices of the smallest and the largest x[i] / C[i].
std::pair<std::size_t, std::size_t> extremes(const Costs& costs, const std::vector<Cycles>& x) {
  std::size_t low = 0;
  std::size_t high = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    if (x[i] * costs[low].before < x[low] * costs[i].before) low = i;
    if (x[i] * costs[high].before > x[high] * costs[i].before) high = i;
  }
  return {low, high};
}

__extension__ typedef __int128 Wide;

/// Distortion as a fraction; both numbers are below kLargestBudget * kLargestNumber.
struct Distortion {
  Wide numerator = 1;
  Wide denominator = 1;
};

Distortion distortion(const Costs& costs, const std::vector<Cycles>& x) {
  const auto [low, high] = extremes(costs, x);
  return {Wide(x[high]) * costs[low].before, Wide(x[low]) * costs[high].before};
}

/// Whether a < b.
bool is_less(const Distortion& a, const Distortion& b) {
  return a.numerator * b.denominator < b.numerator * a.denominator;
}

/// Finds the least strictly increasing x with x[i] / C[i] >= numerator / denominator. Every other
/// such x is at least as large in every element, so none has less distortion at this lower end.
std::vector<Cycles> least_above(const Costs& costs, Cycles numerator, Cycles denominator) {
  std::vector<Cycles> x;
  for (const CostChange& cost : costs) {
    const Cycles least = (cost.before * numerator + denominator - 1) / denominator;
    x.push_back(std::max(least, x.empty() ? Cycles{1} : x.back() + 1));
  }
  return x;
}

Result<std::vector<Cycles>> repaired_form(const Costs& costs, Cycles budget) {
  const auto count = static_cast<Cycles>(costs.size());
  const Cycles least = count * (count + 1) / 2;
  if (budget < least) {
    return fail({}, fmt::format("{} distinct cycle counts stay distinct only with U of at least {}",
                                count, least));
  }
  std::optional<std::vector<Cycles>> best;
  Cycles best_sum = 0;
  // Lower ends to try: the smallest ratio of an optimum is one of its x[i] / C[i].
  for (const CostChange& cost : costs) {
    for (Cycles value = 1; value <= budget; ++value) {
      const std::vector<Cycles> x = least_above(costs, value, cost.before);
      const Cycles sum = std::accumulate(x.begin(), x.end(), Cycles{0});
      if (sum > budget) break;
      if (best) {
        const Distortion here = distortion(costs, x);
        const Distortion there = distortion(costs, *best);
        if (is_less(there, here) || (!is_less(here, there) && sum <= best_sum)) continue;
      }
      best = x;
      best_sum = sum;
    }
  }
  return *best;  // exists: 1, 2, ..., k fits, and the least x above its lower end is no larger
}

}  // namespace

Result<Normalized> normalize(const Problem& problem, const Normalization& how) {
  if (how.budget < 1 || how.budget > kLargestBudget) {
    return fail({}, fmt::format("U is {}, outside 1..{}", how.budget, kLargestBudget));
  }
  Parts parts = problem.parts();
  Costs costs = costs_of(parts);
  if (costs.empty()) return Normalized{problem, {}};
  TWILL_TRY(const std::vector<Cycles> values, how.form == NormalForm::paper
                                                  ? paper_form(costs, how.budget)
                                                  : repaired_form(costs, how.budget));
  std::map<Cycles, Cycles> image = {{0, 0}};
  for (std::size_t i = 0; i < costs.size(); ++i) {
    costs[i].after = values[i];
    image[costs[i].before] = values[i];
  }
  for_each_duration(parts, [&](Cycles& duration) { duration = image[duration]; });
  for (Op& op : parts.ops) {
    for (Alternative& alternative : op.alternatives) {
      if (alternative.occupancy == 0) alternative.unit.reset();
      std::erase_if(alternative.pipes, [](const PipeUse& use) { return use.demand == 0; });
    }
  }
  TWILL_TRY(Problem posed, pose(std::move(parts)));
  return Normalized{std::move(posed), std::move(costs)};
}

double distortion_of(const std::vector<CostChange>& costs) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const CostChange& cost : costs) {
    const double ratio = static_cast<double>(cost.after) / static_cast<double>(cost.before);
    low = std::min(low, ratio);
    high = std::max(high, ratio);
  }
  if (costs.empty() || high == low) return 1;
  return low == 0 ? std::numeric_limits<double>::infinity() : high / low;
}

std::string in_words(const Normalization& how, const std::vector<CostChange>& costs) {
  if (costs.empty()) return "there are no costs to normalize";
  std::int64_t lost = 0;
  std::int64_t uses = 0;
  for (const CostChange& cost : costs) {
    uses += cost.uses;
    if (cost.after == 0) lost += cost.uses;
  }
  const CostChange& largest = costs.back();
  std::string text = fmt::format(
      "costs normalized to U = {}{}: the largest, {} cycles, is {} now", how.budget,
      how.form == NormalForm::paper ? " as in the paper" : "", largest.before, largest.after);
  const double distortion = distortion_of(costs);
  if (lost > 0) {
    text += fmt::format("; {} of {} positive costs became 0", lost, uses);
  } else {
    text += fmt::format("; ratios of costs changed by up to a factor of {:.2f}", distortion);
  }
  return text;
}

}  // namespace twill::problem
