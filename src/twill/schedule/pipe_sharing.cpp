#include "twill/schedule/pipe_sharing.h"

#include <algorithm>

#include "twill/schedule/corun.h"

namespace twill::schedule {
namespace {

constexpr double kTiny = 1e-9;

/// Raises the speeds of one side together until a pipe is full, then those of the loads that do not
/// use it, and so on: max-min fairness. `left` is what each pipe still has to give.
class Filling {
 public:
  Filling(std::span<const PipeLoad* const> loads, bool asynchronous, std::vector<double>& speeds,
          std::vector<double>& left)
      : loads_(loads), speeds_(speeds), left_(left) {
    for (std::size_t i = 0; i < loads.size(); ++i) {
      if (loads[i]->asynchronous == asynchronous) rising_.push_back(i);
    }
  }

  void run() {
    while (!rising_.empty()) {
      raise(largest_step());
      std::erase_if(rising_, [&](std::size_t i) { return is_stopped(i); });
    }
  }

 private:
  double largest_step() const {
    double step = 1;
    for (const std::size_t i : rising_) step = std::min(step, 1 - speeds_[i]);
    for (std::size_t p = 0; p < left_.size(); ++p) {
      double wanted = 0;
      for (const std::size_t i : rising_) wanted += loads_[i]->share[p];
      if (wanted > kTiny) step = std::min(step, left_[p] / wanted);
    }
    return std::max(step, 0.0);
  }

  void raise(double step) {
    for (const std::size_t i : rising_) {
      speeds_[i] += step;
      for (std::size_t p = 0; p < left_.size(); ++p) left_[p] -= step * loads_[i]->share[p];
    }
  }

  bool is_stopped(std::size_t i) const {
    if (speeds_[i] >= 1 - kTiny) return true;
    for (std::size_t p = 0; p < left_.size(); ++p) {
      if (left_[p] < kTiny && loads_[i]->share[p] > kTiny) return true;
    }
    return false;
  }

  std::span<const PipeLoad* const> loads_;
  std::vector<double>& speeds_;
  std::vector<double>& left_;
  std::vector<std::size_t> rising_;
};

}  // namespace

std::vector<double> speeds_of(std::span<const PipeLoad* const> loads, std::size_t pipes) {
  std::vector<double> speeds(loads.size(), 0);
  std::vector<double> kept(pipes, 0);  // for the asynchronous side, whatever the groups do
  for (const PipeLoad* load : loads) {
    if (!load->asynchronous) continue;
    for (std::size_t p = 0; p < pipes; ++p) kept[p] += load->share[p];
  }
  std::vector<double> left(pipes, 1);
  for (std::size_t p = 0; p < pipes; ++p) left[p] -= std::min(kept[p], kGuaranteedShare);
  Filling(loads, false, speeds, left).run();
  for (std::size_t p = 0; p < pipes; ++p) left[p] += std::min(kept[p], kGuaranteedShare);
  Filling(loads, true, speeds, left).run();
  return speeds;
}

}  // namespace twill::schedule
