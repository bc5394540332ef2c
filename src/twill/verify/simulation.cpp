#include "twill/verify/simulation.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace twill::verify {

bool Findings::add(Violation violation) {
  const bool same_rule = !violations_.empty() && violations_.back().rule == violation.rule;
  of_last_rule_ = same_rule ? of_last_rule_ + 1 : 1;
  if (of_last_rule_ > kMostListed + 1) return false;
  if (of_last_rule_ == kMostListed + 1) {
    violation.ops.clear();
    violation.message = violation.rule + ": further violations are not listed";
  }
  violations_.push_back(std::move(violation));
  return of_last_rule_ <= kMostListed;
}

std::vector<Span> unrolled(std::span<const Span> first, Cycles interval, Cycles iterations) {
  std::vector<Span> all;
  all.reserve(first.size() * static_cast<std::size_t>(iterations));
  for (Cycles iteration = 0; iteration < iterations; ++iteration) {
    const Cycles shift = iteration * interval;
    for (const Span& span : first) {
      all.push_back({span.op, span.begin + shift, span.end + shift});
    }
  }
  std::sort(all.begin(), all.end(), [](const Span& a, const Span& b) {
    return std::tie(a.begin, a.op) < std::tie(b.begin, b.op);
  });
  return all;
}

Cycles iterations_to_meet(std::span<const Span> first, Cycles interval) {
  if (first.empty()) return 0;
  Cycles earliest = first.front().begin;
  Cycles latest = first.front().begin;
  for (const Span& span : first) {
    earliest = std::min(earliest, span.begin);
    latest = std::max(latest, span.begin);
  }
  return (latest - earliest) / interval + 3;
}

}  // namespace twill::verify
