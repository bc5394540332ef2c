#include <algorithm>
#include <cmath>

#include "twill/problem/problem.h"
#include "twill/simulate/run.h"

/// Results of a run, measured once it is over.
namespace twill::simulate {
namespace {

constexpr std::int64_t kLongestPeriod = 16;  ///< iterations after which a run may repeat itself
constexpr std::int64_t kFewest = 8;          ///< iterations that make a steady state
constexpr double kEqual = 1e-3;              ///< cycles

/// Slope of the line nearest to the values (least squares). In a run without a period, disturbances
/// at both ends hardly count, unlike in the mean of the differences.
double slope_of(const std::vector<double>& values) {
  const double middle = static_cast<double>(values.size() - 1) / 2;
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double at = static_cast<double>(i) - middle;
    sum += at * (values[i] - values.front());
    squares += at * at;
  }
  return sum / squares;
}

}  // namespace

Simulation Run::result() {
  Simulation out;
  out.trips = setting_.trips;
  for (const RoleState& role : roles_) out.total = std::max(out.total, role.section_since);
  for (std::int64_t i = 0; i < out.trips; ++i) out.total = std::max(out.total, completion(i));
  if (out.trips > 0) out.first = completion(0);
  measure_interval(out);
  measure_loads(out);
  measure_rings(out);
  measure_roles(out);
  const auto earlier = [](const auto& a, const auto& b) { return a.begin < b.begin; };
  std::stable_sort(spans_.begin(), spans_.end(), earlier);
  std::stable_sort(arrows_.begin(), arrows_.end(), earlier);
  out.spans = std::move(spans_);
  out.arrows = std::move(arrows_);
  return out;
}

double Run::completion(std::int64_t iteration) const {
  double last = 0;
  for (const auto& op : times_) last = std::max(last, op[static_cast<std::size_t>(iteration)].done);
  return last;
}

/// Finds the last iteration that was complete while every op still had iterations to begin. Up to
/// there the run equals an endless run. Later, units, pipes and slots are free that further
/// iterations would take.
std::int64_t Run::last_undisturbed() const {
  double end = kNever;
  for (const auto& op : times_) end = std::min(end, op.back().start);
  std::int64_t last = static_cast<std::int64_t>(setting_.trips) - 1;
  while (last >= 0 && completion(last) > end + kSlack) --last;
  return last;
}

/// Measures the interval: exact if the run repeats itself over its last quarter, else the mean over
/// its second half. A few equal iterations prove no period: some runs have them with longer ones in
/// between.
void Run::measure_interval(Simulation& out) const {
  if (out.trips == 0) return;
  int spread = 0;
  for (const plan::Role& role : plan_.roles) spread = std::max(spread, role.sections.spread);
  std::int64_t last = last_undisturbed();
  // Fallback where a role that waits for no other runs so far ahead that no iteration is
  // undisturbed.
  if (last < out.trips / 8) last = out.trips - 1 - spread;
  const std::int64_t first = std::max<std::int64_t>((last + 1) / 2, spread);
  if (last - first < kFewest) return;
  std::vector<double> ends;
  for (std::int64_t i = first; i <= last; ++i) ends.push_back(completion(i));
  const std::size_t n = ends.size() - 1;
  for (std::size_t period = 1; period <= kLongestPeriod && 3 * period <= n; ++period) {
    const double span = ends[n] - ends[n - period];
    bool repeats = true;
    for (std::size_t i = std::max(n / 2, period); i < n; ++i) {
      repeats = repeats && std::abs(ends[i] - ends[i - period] - span) < kEqual;
    }
    if (!repeats) continue;
    out.interval = span / static_cast<double>(period);
    return;
  }
  out.interval = slope_of(ends);
}

void Run::measure_loads(Simulation& out) const {
  const problem::Problem& costs = model_.costs;
  out.units.assign(costs.units().size(), 0);
  out.pipes.assign(costs.pipes().size(), 0);
  const double mean = out.trips > 0 ? out.total / static_cast<double>(out.trips) : 0;
  const double each = out.interval.value_or(mean);
  if (each <= 0) return;
  for (std::size_t v = 0; v < costs.ops().size(); ++v) {
    const auto alternative = static_cast<std::size_t>(plan_.schedule.ops[v].alternative);
    const problem::Alternative& how = costs.ops()[v].alternatives[alternative];
    if (how.unit) out.units[how.unit->index()] += static_cast<double>(how.occupancy) / each;
    for (const problem::PipeUse& use : how.pipes) {
      out.pipes[use.pipe.index()] += static_cast<double>(use.demand) / each;
    }
  }
}

void Run::measure_rings(Simulation& out) const {
  for (std::size_t c = 0; c < plan_.channels.size(); ++c) {
    const ChannelId id(c);
    const plan::Channel& channel = plan_[id];
    if (channel.kind != plan::ChannelKind::pipeline ||
        channel.counts == plan::Channel::Counts::tiles) {
      continue;
    }
    Ring ring{id, 0, 0, 0, {}};
    std::vector<double> released;
    for (std::size_t i = 0; i < acquired_[c].size(); ++i) {
      const auto n = static_cast<std::int64_t>(i);
      const double full = std::min(barriers_.completed_at({id, false, n}), out.total);
      const double empty = std::min(barriers_.completed_at({id, true, n}), out.total);
      ring.taken += std::max(0.0, empty - acquired_[c][i]);
      ring.full += std::max(0.0, empty - full);
      released.push_back(empty);
      if (setting_.record) ring.uses.push_back({acquired_[c][i], full, empty});
      const auto still = [&](double time) { return time > acquired_[c][i] + kSlack; };
      // Slots taken at the end are the last ones, since slots are released in order.
      const auto from =
          released.end() - std::min<std::ptrdiff_t>(channel.depth, std::ssize(released));
      ring.most = std::max(ring.most, static_cast<int>(std::count_if(from, released.end(), still)));
    }
    if (out.total > 0) ring.taken /= out.total;
    if (out.total > 0) ring.full /= out.total;
    out.rings.push_back(ring);
  }
}

void Run::measure_roles(Simulation& out) {
  for (RoleState& role : roles_) {
    RoleTimes& times = role.times;
    const bool steady = times.windows > 0;
    const double whole = steady ? times.steady : times.prologue + times.drain;
    const double each = steady ? static_cast<double>(times.windows) : 1;
    double idle = 0;
    for (std::size_t s = 0; s < 3; ++s) {
      if ((s == static_cast<std::size_t>(Program::Section::steady)) != steady) continue;
      idle += role.idle[s];
      for (const Stall& stall : role.stalls[s]) times.stalls.push_back(stall);
    }
    times.busy = (whole - idle) / each;
    for (Stall& stall : times.stalls) stall.cycles /= each;
    std::stable_sort(times.stalls.begin(), times.stalls.end(),
                     [](const Stall& a, const Stall& b) { return a.cycles > b.cycles; });
    out.roles.push_back(times);
  }
}

}  // namespace twill::simulate
