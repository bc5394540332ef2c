#pragma once

#include <string>
#include <vector>

#include "twill/problem/ops.h"

/// Smaller cycle counts whose ratios are close to the original ones (the paper's section 5.2).
/// Twill's own search does not grow with the cycle counts and needs none of this. Other solvers do,
/// and the answers show what normalization costs.
namespace twill::problem {

enum class NormalForm {
  repaired,  ///< see `normalize`
  paper,     ///< the paper's integer program
};

struct Normalization {
  Cycles budget = 300;  ///< U of the paper: the largest sum of the new costs
  NormalForm form = NormalForm::repaired;
};

/// Cycle count before and after.
struct CostChange {
  Cycles before = 0;  ///< positive
  Cycles after = 0;
  std::int64_t uses = 0;  ///< number of times that the Problem states it
  friend bool operator==(const CostChange&, const CostChange&) = default;
};

struct Normalized {
  Problem problem;
  std::vector<CostChange> costs;  ///< by ascending `before`, each once
};

/// Replaces every positive duration of `problem` (occupancy, latency, issue, demand, delay, read
/// hold, transfer). Equal durations stay equal, and zeros stay 0.
///
/// - `paper` (section 5.2): integers C' >= 0 with least F, where for all i, j |C[i] C'[j] - C[j]
///   C'[i]| <= F, and 1 <= sum C' <= U. C lists every duration as often as it is stated. Equal
///   costs get equal values. Among several solutions, one with the least sum is taken. Costs may
///   become 0. An op whose occupancy becomes 0 gives up its unit.
/// - `repaired`: C' >= 1, strictly increasing with C. Each distinct duration counts once in sum C'
///   <= U. The distortion is least (see distortion_of), and among equals the scale finest.
///
/// Exact. Fails if U is outside 1..kLargestBudget. The paper form fails if every cost is stated
/// more often than U. The repaired form fails if U is too small to keep durations distinct. Cost:
/// `paper` O(k^3 U log max C), `repaired` O(k^2 U) for k distinct durations.
Result<Normalized> normalize(const Problem& problem, const Normalization& how);
inline constexpr Cycles kLargestBudget = 10'000;

/// Largest factor by which the ratio of two costs changed, at least 1. Infinite if one cost became
/// 0 and another did not.
double distortion_of(const std::vector<CostChange>& costs);

/// Describes the loss in one sentence: "costs normalized to U = 300: ...".
std::string in_words(const Normalization& how, const std::vector<CostChange>& costs);

}  // namespace twill::problem
