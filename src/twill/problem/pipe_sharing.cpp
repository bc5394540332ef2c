#include "twill/problem/pipe_sharing.h"

#include <algorithm>
#include <cstddef>

#include "twill/problem/problem.h"

namespace twill::problem {
namespace {

constexpr double kTiny = 1e-9;

/// Max-min fairness by progressive filling (Bertsekas and Gallager, "Data Networks", section 6.5).
/// Raises the speeds of some loads together until a pipe is full or a load is at its limit, then of
/// the others. `left`: the free share of each pipe.
class Filling {
 public:
  Filling(std::span<const PipeLoad* const> loads, std::span<const double> limits,
          std::vector<double>& left)
      : loads_(loads), limits_(limits), left_(left) {}

  void raise_all(std::vector<std::size_t> rising, std::vector<double>& speeds) {
    while (!rising.empty()) {
      const double step = largest_step(rising, speeds);
      for (const std::size_t i : rising) {
        speeds[i] += step;
        for (std::size_t p = 0; p < left_.size(); ++p) left_[p] -= step * loads_[i]->share[p];
      }
      std::erase_if(rising, [&](std::size_t i) {
        return speeds[i] >= limits_[i] - kTiny || waits_for_full_pipe(i);
      });
    }
  }

 private:
  double largest_step(const std::vector<std::size_t>& rising,
                      const std::vector<double>& speeds) const {
    double step = 1;
    for (const std::size_t i : rising) step = std::min(step, limits_[i] - speeds[i]);
    for (std::size_t p = 0; p < left_.size(); ++p) {
      double wanted = 0;
      for (const std::size_t i : rising) wanted += loads_[i]->share[p];
      if (wanted > kTiny) step = std::min(step, left_[p] / wanted);
    }
    return std::max(step, 0.0);
  }

  bool waits_for_full_pipe(std::size_t i) const {
    for (std::size_t p = 0; p < left_.size(); ++p) {
      if (left_[p] < kTiny && loads_[i]->share[p] > kTiny) return true;
    }
    return false;
  }

  std::span<const PipeLoad* const> loads_;
  std::span<const double> limits_;
  std::vector<double>& left_;
};

/// Speed limit of a synchronous load while asynchronous loads keep the share `kept` of each pipe.
double limit_of(const PipeLoad& load, std::span<const Pipe> pipes,
                const std::vector<double>& kept) {
  bool delayed = false;
  double sum = 0;
  for (std::size_t p = 0; p < pipes.size(); ++p) {
    if (pipes[p].port) {
      delayed = delayed || (kept[p] > kTiny && load.share[p] > kTiny);
    } else {
      sum += load.share[p] / (1 - kept[p]);
    }
  }
  return delayed ? 1 / std::max(1.0, sum) : 1;
}

}  // namespace

std::vector<double> speeds_of(std::span<const PipeLoad* const> loads, std::span<const Pipe> pipes) {
  // Shares of the asynchronous loads, at most the guaranteed share of each pipe.
  std::vector<double> kept(pipes.size(), 0);
  for (const PipeLoad* load : loads) {
    if (!load->asynchronous) continue;
    for (std::size_t p = 0; p < pipes.size(); ++p) {
      kept[p] = std::min(kept[p] + load->share[p], kGuaranteedShare);
    }
  }
  std::vector<double> limits(loads.size(), 1);
  std::vector<std::size_t> groups;
  std::vector<std::size_t> asynchronous;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    (loads[i]->asynchronous ? asynchronous : groups).push_back(i);
    if (!loads[i]->asynchronous) limits[i] = limit_of(*loads[i], pipes, kept);
  }
  std::vector<double> speeds(loads.size(), 0);
  std::vector<double> left;
  for (const double share : kept) left.push_back(1 - share);
  Filling(loads, limits, left).raise_all(std::move(groups), speeds);
  for (std::size_t p = 0; p < pipes.size(); ++p) left[p] += kept[p];
  Filling(loads, limits, left).raise_all(std::move(asynchronous), speeds);
  return speeds;
}

}  // namespace twill::problem
