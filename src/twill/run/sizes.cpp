#include "twill/run/sizes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "twill/execute/bounds.h"
#include "twill/run/drivers.h"

namespace twill::run {
namespace {

using Grid = std::array<std::int64_t, 3>;
using Kind = emit::Parameter::Kind;

constexpr int kMostTries = 150;  ///< most runs of the text in the search for arguments
constexpr std::uint64_t kPatterns = 12;
constexpr std::int64_t kOuterTrips = 4;  ///< trips of loops around the planned loop, where a choice
                                         ///< exists
constexpr std::int64_t kPlenty = 2'000'000;  ///< most moved elements; more take too long to run

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Grids of the axes that the kernel reads, the largest grids first.
std::vector<Grid> grids_of(unsigned axes) {
  const std::vector<Grid> wanted = {{2, 2, 2}, {2, 2, 1}, {4, 1, 1}, {3, 1, 1}, {2, 1, 2},
                                    {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 1, 1}};
  std::vector<Grid> grids;
  for (const Grid& grid : wanted) {
    bool fits = true;
    for (unsigned axis = 0; axis < 3; ++axis)
      fits = fits && (grid[axis] == 1 || (axes >> axis & 1U) != 0);
    if (fits) grids.push_back(grid);
  }
  if (axes == 1)
    std::rotate(grids.begin(), std::find(grids.begin(), grids.end(), Grid{4, 1, 1}), grids.end());
  return grids;
}

/// Values of the integers that drive a loop, ascending.
std::vector<std::int64_t> values_of_drivers() {
  std::vector<std::int64_t> values;
  for (std::int64_t value = 0; value <= 640; value += 16) values.push_back(value);
  for (std::int64_t value = 768; value <= 4096; value += 128) values.push_back(value);
  return values;
}

/// Values of the integers that drive a loop's step alone: numbers of parts into which the loop is
/// cut, or elements in an iteration.
const std::vector<std::int64_t> kStepsOfEven = {1, 2, 64, 16, 128};
const std::vector<std::int64_t> kStepsOfOdd = {2, 1, 32, 64, 128};

class Search {
 public:
  Search(const Kernel& kernel, const FixedArguments& given, std::int64_t trips, std::uint64_t seed)
      : kernel_(kernel),
        given_(given),
        wanted_(trips),
        seed_(seed),
        varied_(seed * 5 + static_cast<std::uint64_t>(trips)) {
    const Drivers drivers = drivers_of(kernel);
    const auto is_free = [&](const std::string& name) {
      return !given.launch.arguments.contains(name);
    };
    std::ranges::copy_if(drivers.bounds, std::back_inserter(drivers_), is_free);
    std::ranges::copy_if(drivers.steps, std::back_inserter(steps_), is_free);
  }

  Result<std::optional<Chosen>> run() {
    const std::vector<Grid> grids =
        given_.grid ? std::vector<Grid>{*given_.grid} : grids_of(axes_of(kernel_));
    for (const Sizes& sizes : all_sizes()) {
      auto chosen = with_sizes(sizes, grids);
      // Other numbers may contradict each other, such as more groups of heads than heads.
      if (!chosen && sizes.pattern != 0) break;
      if (!chosen || *chosen) return chosen;
    }
    return std::move(last_resort_);
  }

 private:
  /// Integers that drive no loop: `number` for all of them with `pattern` 0. Other patterns give
  /// each integer that number, a tile's worth less, or a very small number.
  struct Sizes {
    std::int64_t number = 0;
    std::uint64_t pattern = 0;
  };

  /// Arguments that drive the main loop.
  struct Drive {
    std::int64_t bound = 0;
    std::int64_t step = 1;
  };

  /// The first call with these sizes that runs quickly and does not depend on the order of the
  /// CTAs. Tries fewer CTAs where a call moves too much. Fewer CTAs do not help a call that uses
  /// a tensor without elements.
  Result<std::optional<Chosen>> with_sizes(const Sizes& sizes, const std::vector<Grid>& grids) {
    for (const Grid& grid : grids) {
      TWILL_TRY(const auto drives, drives_for(grid, sizes));
      for (const Drive& drive : drives) {
        if (++tries_ > kMostTries) return std::nullopt;
        TWILL_TRY(auto chosen, attempt(launch_with(grid, sizes, drive)));
        if (!chosen) continue;
        const execute::Accesses& accesses = chosen->reference->accesses;
        const bool plenty = accesses.count() > kPlenty;
        const bool unused = accesses.uses_empty();
        if (!plenty && !unused) return chosen;
        if (!last_resort_) last_resort_ = std::move(chosen);
        if (!plenty) return std::nullopt;
      }
    }
    return std::nullopt;
  }

  /// Sizes at which tiles of 64 to 256 rows end within a tile, and sizes of whole tiles.
  std::vector<Sizes> all_sizes() const {
    if (given_.size) return {{*given_.size, 0}};
    std::vector<std::int64_t> numbers = {208, 528, 144, 400, 256};
    std::rotate(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(varied_ % 4),
                numbers.end());
    std::vector<Sizes> sizes;
    for (const std::int64_t number : numbers) sizes.push_back({number, 0});
    for (std::uint64_t pattern = 1; pattern <= kPatterns; ++pattern) {
      sizes.push_back({numbers[pattern % numbers.size()], varied_ * kPatterns + pattern});
    }
    return sizes;
  }

  /// Value of parameter number `number` under `sizes`.
  static std::int64_t number_for(const Sizes& sizes, std::size_t number) {
    if (sizes.pattern == 0) return sizes.number;
    std::mt19937_64 draw(sizes.pattern * 1000 + number);
    const std::int64_t choices[] = {sizes.number, sizes.number, sizes.number - 64, 16};
    return choices[draw() % std::size(choices)];
  }

  execute::Launch launch_with(const Grid& grid, const Sizes& sizes, const Drive& drive) const {
    execute::Launch launch = given_.launch;
    launch.programs = grid;
    launch.size = sizes.number;
    if (!given_.size) execute::fill_outer(kernel_.planned, kernel_.loop, kOuterTrips, launch);
    // The last of four CTAs, or of four runs of the loop, makes three times as many iterations as
    // the second.
    execute::fill_bounds(kernel_.planned, kernel_.loop,
                         std::max<std::int64_t>(1, (wanted_ + 2) / 3), launch);
    execute::fill_conditions(kernel_.planned, kernel_.loop, 3, launch);
    const auto& parameters = kernel_.description.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const emit::Parameter& it = parameters[i];
      if (it.kind != Kind::scalar || !it.type.starts_with('i') || describes(i)) continue;
      launch.arguments.try_emplace(
          it.name, static_cast<double>(rounded_up(number_for(sizes, i), it.multiple_of)));
    }
    for (const std::string& name : drivers_) {
      launch.arguments[name] = static_cast<double>(drive.bound);
    }
    for (const std::string& name : steps_) launch.arguments[name] = static_cast<double>(drive.step);
    return launch;
  }

  /// Whether a parameter is a size or a stride of a descriptor's tensor, and drives no loop.
  bool describes(std::size_t number) const {
    for (const emit::Parameter& it : kernel_.description.parameters) {
      for (const auto& places : {it.sizes, it.strides}) {
        if (std::find(places.begin(), places.end(), static_cast<int>(number)) != places.end()) {
          return true;
        }
      }
    }
    return false;
  }

  /// Trip counts for values of the drivers, up to the first count that is too large. Values are
  /// left out that divide by zero in the kernel, or give a loop a step of 0. Fails if no value
  /// remains.
  Result<std::map<std::int64_t, std::vector<Drive>>> trips_of(const Grid& grid, const Sizes& sizes,
                                                              std::int64_t step) {
    std::map<std::int64_t, std::vector<Drive>> by_trips;
    std::optional<Diagnostic> wrong;
    const auto add = [&](std::int64_t value) -> std::optional<std::int64_t> {
      const Drive drive{value, step};
      const auto trips = most_trips(kernel_, launch_with(grid, sizes, drive), seed_);
      if (trips) by_trips[trips->value_or(0)].push_back(drive);
      if (!trips && !wrong) wrong = trips.error();
      return trips ? std::optional(trips->value_or(0)) : std::nullopt;
    };
    std::int64_t before = 0, after = 0;  // values with too few and with too many trips
    for (const std::int64_t value : values_of_drivers()) {
      const auto trips = add(value);
      after = value;
      if (drivers_.empty() || trips > wanted_) break;
      before = value;
    }
    for (std::int64_t value = before + 1; value < after && !by_trips.contains(wanted_); ++value) {
      if (value % divisor_of_drivers() == 0) add(value);
    }
    if (by_trips.empty()) return tl::unexpected(*wrong);
    return by_trips;
  }

  /// A divisor of all values of the drivers.
  std::int64_t divisor_of_drivers() const {
    std::int64_t divisor = 1;
    for (const emit::Parameter& it : kernel_.description.parameters) {
      const bool drives = std::ranges::find(drivers_, it.name) != drivers_.end();
      if (drives) divisor = std::lcm(divisor, std::max<std::int64_t>(1, it.multiple_of));
    }
    return divisor;
  }

  /// Drives with the wanted trip count, the best first. The seed decides whether the last iteration
  /// is filled least or most. Without drivers, one value suffices.
  Result<std::vector<Drive>> drives_for(const Grid& grid, const Sizes& sizes) {
    std::vector<std::int64_t> steps = {1};
    if (!steps_.empty()) steps = varied_ % 2 == 0 ? kStepsOfEven : kStepsOfOdd;
    std::vector<Drive> nearest;
    std::int64_t least = 0;
    for (const std::int64_t step : steps) {
      TWILL_TRY(const auto by_trips, trips_of(grid, sizes, step));
      auto found = by_trips.lower_bound(wanted_);
      if (found == by_trips.end() && drivers_.empty() && steps_.empty()) found = by_trips.begin();
      if (found == by_trips.end() || (!nearest.empty() && found->first >= least)) continue;
      nearest = found->second;
      least = found->first;
      if (least <= wanted_) break;
    }
    if (nearest.size() < 2) return nearest;
    const bool last_first = varied_ % 2 == 0;
    return std::vector<Drive>{last_first ? nearest.back() : nearest.front(),
                              last_first ? nearest.front() : nearest.back()};
  }

  /// Runs the text with tensors without bounds, gives the tensors bounds that fit its tiles, and
  /// runs the text again. Empty: the order of the CTAs matters.
  Result<std::optional<Chosen>> attempt(execute::Launch launch) const {
    const auto& parameters = kernel_.description.parameters;
    const bool described = std::any_of(parameters.begin(), parameters.end(),
                                       [](const auto& it) { return it.kind == Kind::descriptor; });
    if (described) {
      TWILL_TRY(const auto endless, refer(kernel_, launch, seed_));
      if (endless->accesses.conflict()) return std::nullopt;
      describe(launch, endless->accesses);
    }
    Chosen chosen;
    TWILL_TRY(chosen.reference, refer(kernel_, launch, seed_));
    if (chosen.reference->accesses.conflict()) return std::nullopt;
    TWILL_TRY(chosen.trips, most_trips(kernel_, launch, seed_));
    chosen.launch = std::move(launch);
    return chosen;
  }

  /// Sets sizes and strides of each descriptor's tensor, which ends with the last tile or within
  /// that tile.
  void describe(execute::Launch& launch, const execute::Accesses& accesses) const {
    constexpr std::int64_t kAlignment = 16;  // alignment of strides, in bytes
    std::int64_t array = 0;
    for (const emit::Parameter& it : kernel_.description.parameters) {
      if (it.kind != Kind::pointer && it.kind != Kind::descriptor) continue;
      const std::int64_t number = array++;
      if (it.kind != Kind::descriptor || it.sizes.empty()) continue;
      const execute::Accesses::Reach reach = accesses.reach(number);
      const auto file = launch.arrays.find(it.name);
      const bool from_file =
          file != launch.arrays.end() && file->second.shape.size() == it.block.size();
      const bool ragged = (varied_ + static_cast<std::uint64_t>(number)) % 2 == 1;
      const std::size_t rank = it.block.size();
      std::int64_t stride = 1;
      for (std::size_t d = rank; d-- > 0;) {
        const std::int64_t end =
            d < reach.size() ? std::max<std::int64_t>(reach[d], 1) : it.block[d];
        const std::int64_t cut = ragged && end > 32 ? (d + 1 == rank ? 8 : 24) : 0;
        const std::int64_t size = from_file ? file->second.shape[d] : end - cut;
        const auto name = [&](const std::vector<int>& places) {
          return kernel_.description.parameters[static_cast<std::size_t>(places[d])].name;
        };
        const auto made =
            launch.arguments.try_emplace(name(it.sizes), static_cast<double>(size)).first;
        launch.arguments.try_emplace(name(it.strides), static_cast<double>(stride));
        const auto along = static_cast<std::int64_t>(made->second);
        const std::int64_t bits = it.type.ends_with("32") ? 32 : it.type.ends_with("16") ? 16 : 8;
        const std::int64_t padding = from_file || varied_ % 3 != 0 ? 0 : kAlignment * 8 / bits;
        stride = d + 1 == rank && !from_file ? rounded_up(along, kAlignment * 8 / bits) + padding
                                             : stride * along;
      }
    }
  }

  const Kernel& kernel_;
  const FixedArguments& given_;
  std::int64_t wanted_;
  std::uint64_t seed_;
  std::uint64_t varied_;
  std::vector<std::string> drivers_;  ///< drivers of the loop's bounds
  std::vector<std::string> steps_;    ///< drivers of the loop's step
  int tries_ = 0;
  std::optional<Chosen> last_resort_;
};

}  // namespace

Result<std::optional<Chosen>> choose(const Kernel& kernel, const FixedArguments& given,
                                     std::int64_t trips, std::uint64_t seed) {
  return Search(kernel, given, trips, seed).run();
}

}  // namespace twill::run
