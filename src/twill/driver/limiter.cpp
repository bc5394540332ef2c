#include "twill/driver/limiter.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "twill/report/story.h"
#include "twill/schedule/bounds.h"

namespace twill::driver {
namespace {

/// A list of lines in words: "fa.py:31, fa.py:40 and 2 more".
std::string lines_of(const schedule::Bound& bound, const std::vector<std::string>& lines) {
  constexpr std::size_t kMostLines = 3;
  std::vector<std::string> found;
  for (const problem::OpId op : bound.ops) {
    if (op.index() >= lines.size() || lines[op.index()].empty()) continue;
    const std::string& line = lines[op.index()];
    if (std::find(found.begin(), found.end(), line) == found.end()) found.push_back(line);
  }
  const std::size_t shown = std::min(found.size(), kMostLines);
  std::string text = fmt::format(
      "{}", fmt::join(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (found.size() > shown) text += fmt::format(" and {} more", found.size() - shown);
  return text;
}

/// Lines of the ops in the text, from their sources: "line 28" for "tt.dot @ 28:12".
std::vector<std::string> text_lines(const problem::Problem& problem) {
  std::vector<std::string> out;
  for (const problem::Op& op : problem.ops()) {
    const std::string source = op.source.empty() ? "" : op.source.front();
    const std::size_t at = source.find(" @ ");
    const std::size_t end = at == std::string::npos ? at : source.find(':', at);
    const bool known = end != std::string::npos;
    out.push_back(known ? "line " + source.substr(at + 3, end - at - 3) : std::string());
  }
  return out;
}

/// `proven`: no schedule has a smaller II.
report::Limiter limiter_of(const problem::Problem& problem, Cycles proven,
                           const std::vector<std::string>& lines) {
  const schedule::Bound bound = schedule::min_ii(problem);
  report::Limiter out;
  out.cycles = bound.value;
  out.what = report::limit_of(bound);
  out.alone = bound.value >= proven;
  for (const problem::OpId op : bound.ops) out.ops.push_back(problem[op].name);
  const bool any =
      std::any_of(lines.begin(), lines.end(), [](const auto& it) { return !it.empty(); });
  out.lines = lines_of(bound, any ? lines : text_lines(problem));
  return out;
}

}  // namespace

std::optional<report::Limiter> limiter_of(const Request& request, const Reading& reading,
                                          const report::Outcome& outcome) {
  const Cycles proven = report::proven_bound(outcome);
  if (!reading.kernel || request.normalize) {
    return limiter_of(outcome.problem, proven, outcome.lines);
  }
  const Kernel kernel = with_pool(*reading.kernel, outcome.pool);
  const auto posed = pose_kernel(kernel, request, machine::Rate::fastest);
  if (!posed) return std::nullopt;
  const PosedPool& pool = posed->pools.front();
  return limiter_of(pool.problem, proven, source_lines(kernel.program, pool.origins));
}

}  // namespace twill::driver
