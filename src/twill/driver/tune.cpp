#include "twill/driver/tune.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/candidates.h"
#include "twill/driver/emit_cuda.h"
#include "twill/driver/emit_ttgir.h"
#include "twill/driver/tiles.h"
#include "twill/schedule/bounds.h"
#include "twill/simulate/simulate.h"
#include "twill/tasks/text.h"

namespace twill::driver {
namespace {

/// Cycles of an iteration in relation to its work.
double rate_of(double cycles, const TunedPoint& point) {
  return point.work > 0 ? cycles / point.work : cycles;
}
double simulated_rate(const TunedPoint& point) { return rate_of(*point.interval, point); }
double bound_rate(const TunedPoint& point) {
  return rate_of(static_cast<double>(point.bound), point);
}

class Tuning {
 public:
  Tuning(HoledTasks tasks, const Request& request) : tasks_(std::move(tasks)), request_(request) {}

  Result<Tuned> run() {
    const tasks::Mapping& mapping = tasks_.mapped.mapping;
    tuned_.mapping = mapping.name;
    tuned_.holes = tasks::holes_of(mapping);
    TWILL_TRY(const auto choices, choices_of(mapping));
    for (const auto& values : choices) tuned_.points.emplace_back().values = values;
    TWILL_TRY_VOID(pose_all_points());
    for (const std::size_t at : by_bound()) {
      TWILL_TRY_VOID(solve_point(tuned_.points[at]));
    }
    choose();
    tuned_.tasks = std::move(tasks_);
    return std::move(tuned_);
  }

 private:
  /// Sets work and bound of a point. Fails if the point is no kernel.
  Result<void> pose_point(TunedPoint& point) const {
    TWILL_TRY(const PosedChoice posed, pose_choice(tasks_, request_, point.values));
    point.work = posed.work;
    point.bound = std::numeric_limits<Cycles>::max();
    for (const PosedPool& pool : posed.pools) {
      if (const auto never = schedule::never_feasible(pool.problem)) {
        point.why = *never;
      } else {
        point.bound = std::min(point.bound, schedule::min_ii(pool.problem).value);
      }
    }
    const bool possible = point.bound < std::numeric_limits<Cycles>::max();
    point.fate = possible ? Fate::bounded : Fate::infeasible;
    if (possible) point.why.clear();
    return {};
  }

  Result<void> pose_all_points() {
    std::optional<Diagnostic> first;
    bool any = false;
    for (TunedPoint& point : tuned_.points) {
      const auto posed = pose_point(point);
      any = any || posed.has_value();
      if (posed) continue;
      point.fate = Fate::illegal;
      point.why = posed.error().message;
      if (!first) first = posed.error();
    }
    if (any) return {};
    return tl::unexpected(*std::move(first));
  }

  std::vector<std::size_t> by_bound() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < tuned_.points.size(); ++i) {
      if (tuned_.points[i].fate == Fate::bounded) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const TunedPoint& x = tuned_.points[a];
      const TunedPoint& y = tuned_.points[b];
      return std::pair(bound_rate(x), -x.work) < std::pair(bound_rate(y), -y.work);
    });
    return order;
  }

  /// Solves a point, unless its bound rules it out, or it has less work and can at most tie.
  Result<void> solve_point(TunedPoint& point) {
    const bool ties = bound_rate(point) == least_ && point.work <= most_work_;
    if (bound_rate(point) > least_ || ties) return {};
    TWILL_TRY(const Request request, request_for(tasks_, request_, point.values));
    auto answer = answer_to_print(request);
    if (!answer) {
      point.fate = Fate::unplanned;
      point.why = answer.error().message;
      return {};
    }
    const report::Outcome& outcome = answer->outcome;
    if (!outcome.answer.schedule) {
      const bool never = outcome.answer.verdict == schedule::Verdict::infeasible;
      point.fate = never ? Fate::infeasible : Fate::unplanned;
      point.why = outcome.answer.argument;
      return {};
    }
    const auto& built = outcome.built;
    point.fate = Fate::unplanned;
    if (answer->refusal) {
      point.why = answer->refusal->message;
    } else if (answer->unprinted) {
      point.why = in_one_line(*answer->unprinted);
    } else if (built && built->simulated) {
      point.fate = Fate::simulated;
      point.interval = built->simulated;
      take(point);
    }
    return {};
  }

  void take(const TunedPoint& point) {
    const double rate = simulated_rate(point);
    if (rate < least_) most_work_ = 0;
    if (rate <= least_) most_work_ = std::max(most_work_, point.work);
    least_ = std::min(least_, rate);
  }

  void choose() {
    for (std::size_t i = 0; i < tuned_.points.size(); ++i) {
      const TunedPoint& point = tuned_.points[i];
      if (point.interval && simulated_rate(point) <= least_ && point.work >= most_work_) {
        if (!tuned_.best) tuned_.best = i;
      }
    }
    if (!tuned_.best) return;
    const TunedPoint& best = tuned_.points[*tuned_.best];
    tuned_.proven =
        std::all_of(tuned_.points.begin(), tuned_.points.end(), [&](const TunedPoint& point) {
          const bool counts = point.fate != Fate::illegal && point.fate != Fate::infeasible;
          return !counts || bound_rate(point) >= simulated_rate(best);
        });
    tuned_.completed = tasks::filled(tasks_.mapped.mapping, best.values);
  }

  HoledTasks tasks_;
  const Request& request_;
  Tuned tuned_;
  double least_ = std::numeric_limits<double>::infinity();
  double most_work_ = 0;  ///< most work among the points that are as fast as the best
};

// --- Text ---------------------------------------------------------------------------------------

std::string values_in_words(const Tuned& tuned, const TunedPoint& point) {
  std::string text;
  for (std::size_t h = 0; h < tuned.holes.size(); ++h) {
    text += fmt::format("{}{} = {}", h > 0 ? ", " : "", tuned.holes[h].name, point.values[h]);
  }
  return text;
}

std::size_t count_of(const Tuned& tuned, Fate fate) {
  return static_cast<std::size_t>(
      std::count_if(tuned.points.begin(), tuned.points.end(),
                    [&](const TunedPoint& point) { return point.fate == fate; }));
}

/// A fate in words: "no schedule, proven: 2, as U = 256, V = 256: the values ..."; empty if no
/// point has that fate.
void add_count(const Tuned& tuned, Fate fate, std::string_view what, std::string& out) {
  const std::size_t count = count_of(tuned, fate);
  if (count == 0) return;
  const auto first = std::find_if(tuned.points.begin(), tuned.points.end(),
                                  [&](const TunedPoint& point) { return point.fate == fate; });
  out += fmt::format("#   {}: {}", what, count);
  if (!first->why.empty()) {
    std::string why = first->why;
    std::replace(why.begin(), why.end(), '\n', ' ');
    const std::string values = values_in_words(tuned, *first);
    out += fmt::format(", as {}{}", values.empty() ? "" : values + ": ", why);
  }
  out += "\n";
}

constexpr std::size_t kMostRows = 12;

/// Prints the fastest points, each with its bound.
void add_table(const Tuned& tuned, std::string& out) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tuned.points.size(); ++i) {
    if (tuned.points[i].interval) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const TunedPoint& x = tuned.points[a];
    const TunedPoint& y = tuned.points[b];
    return std::pair(simulated_rate(x), -x.work) < std::pair(simulated_rate(y), -y.work);
  });
  for (std::size_t i = 0; i < std::min(order.size(), kMostRows); ++i) {
    const TunedPoint& point = tuned.points[order[i]];
    out += fmt::format("#   {}: {:.1f} cycles an iteration, at least {}",
                       tuned.holes.empty() ? "as stated" : values_in_words(tuned, point),
                       *point.interval, point.bound);
    if (point.work > 0) out += fmt::format("; {:.0f} FLOP a cycle", point.work / *point.interval);
    out += "\n";
  }
  if (order.size() > kMostRows) {
    out += fmt::format("#   and {} slower ones\n", order.size() - kMostRows);
  }
}

}  // namespace

Result<PlannedLoop> answer_to_print(const Request& request) {
  TWILL_TRY(PlannedLoop answer, answer_loop(request, {true, &cuda_door()}));
  if (!answer.unprinted) return answer;
  Request alone = request;
  alone.ctas_per_sm = alone.ctas_per_sm.value_or(1);
  auto module = emit_ttgir(alone);
  if (module && module->broken.empty() && !module->text.empty()) return std::move(module->planned);
  if (!module) answer.unprinted->message += "; as TTGIR: " + in_one_line(module.error());
  return answer;
}

Result<Tuned> tune(const std::string& path, const Request& request) {
  TWILL_TRY(HoledTasks tasks, read_holed(path, request.choice.map, request.machine));
  return Tuning(std::move(tasks), request).run();
}

std::string to_text(const Tuned& tuned) {
  std::string out =
      fmt::format("# {}: {}\n", tuned.mapping,
                  tuned.holes.empty() ? "nothing is left open"
                                      : fmt::format("{} choices of values", tuned.points.size()));
  add_count(tuned, Fate::illegal, "no kernel", out);
  add_count(tuned, Fate::infeasible, "no schedule, proven", out);
  add_count(tuned, Fate::unplanned, "no plan that could be printed", out);
  add_count(tuned, Fate::bounded, "no better by their proven bounds", out);
  add_count(tuned, Fate::simulated, "planned and simulated", out);
  add_table(tuned, out);
  if (!tuned.best) return out + "# There is no kernel among them.\n";
  out += tuned.proven
             ? "# Proven: no choice of the stated values has a main loop that takes fewer cycles "
               "for its products,\n# under these costs; what is outside the loop is not counted.\n"
             : "# No choice of the stated values is simulated to take fewer cycles for its "
               "products, under these costs;\n# what is outside the loop is not counted. Bounds "
               "alone do not prove it: faster plans may exist.\n";
  return out + tasks::print_mapping(tuned.completed);
}

}  // namespace twill::driver
