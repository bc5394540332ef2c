#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "twill/frontend/tasks/lowering.h"
#include "twill/tasks/text.h"

/// Bodies that run if a condition of sizes holds.
namespace twill::frontend::from_tasks {

using tasks::fail_task;
using tasks::Function;
using tasks::Processor;
using tasks::Range;

namespace {

bool holds(const tasks::SizeComparison& of, std::int64_t left, std::int64_t right) {
  switch (of.how) {
    case Function::less:
      return left < right;
    case Function::less_equal:
      return left <= right;
    case Function::greater:
      return left > right;
    case Function::greater_equal:
      return left >= right;
    case Function::equal:
      return left == right;
    default:
      return left != right;
  }
}

void skip(const Range* range, Frames& lanes) {
  for (Frame& lane : lanes) lane.launches += range == nullptr ? 0 : count_launches(range->body);
}

/// The loop that a body consists of; nullptr for other bodies.
const Range* only_loop(const Range& range) {
  const auto* inner = range.body.size() == 1 ? std::get_if<Range>(&range.body[0].what) : nullptr;
  return inner != nullptr && !inner->parallel && !inner->when ? inner : nullptr;
}

}  // namespace

/// Tensors whose value a walk of the body changes, in a scope that `enter` opens. Only tensors that
/// existed before the body. Restores all other state.
Result<std::vector<std::size_t>> Lowering::changed_by(const std::vector<tasks::Statement>& body,
                                                      Frames& lanes,
                                                      const std::function<void()>& enter) {
  const State before = state_;
  const Frames entering = lanes;
  enter();
  TWILL_TRY_VOID(walk_body(body, lanes));
  std::vector<std::size_t> changed;
  for (std::size_t c = 0; c < before.cells.size(); ++c) {
    if (before.cells[c].value != state_.cells[c].value) changed.push_back(c);
  }
  state_ = before;
  lanes = entering;
  return changed;
}

/// `otherwise`: range with the opposite condition; nullptr without one.
Result<void> Lowering::branch(const Range& range, const Range* otherwise, Frames& lanes) {
  const auto condition_in = [&](const Frame& lane) { return substituted(*range.when, lane.sizes); };
  if (!same_in_all(lanes, condition_in)) {
    return each_lane(lanes, [&](Frames& one) { return branch(range, otherwise, one); });
  }
  if (lanes[0].node->processor == Processor::host) {
    return fail_task("M05", range.where, "the host of a kernel has a grid alone",
                     "ask within the block");
  }
  const tasks::SizeComparison condition = condition_in(lanes[0]);
  const auto left = condition.left.constant(), right = condition.right.constant();
  if (left && right) {
    const bool taken = holds(condition, *left, *right);
    if (!taken) skip(&range, lanes);
    const Range* body = taken ? &range : otherwise;
    if (body != nullptr) {
      TWILL_TRY_VOID(walk_body(body->body, lanes));
    }
    if (taken) skip(otherwise, lanes);
    return {};
  }
  if (state_.text.innermost() >= kMostLoops) {
    return fail_task("M05", range.where,
                     fmt::format("there are more than {} loops in each other", kMostLoops),
                     "let an inner variant have fewer ranges in each other");
  }
  const std::string when = state_.text.once(
      state_.text.innermost(), "when",
      fmt::format("{} {}, {} : i32", op_of(condition.how, tasks::Scalar::i32),
                  integer(condition.left, range.where), integer(condition.right, range.where)),
      range.where);
  const Range* only = otherwise == nullptr ? only_loop(range) : nullptr;
  if (only != nullptr && !iterations_apart(*only, lanes[0])) return loop(*only, lanes, when);
  return arms(range, otherwise, when, lanes);
}

/// Writes both arms of a condition. Its results are tensors that an arm changes, and tensors that
/// get their first value in both arms.
Result<void> Lowering::arms(const Range& range, const Range* otherwise, const std::string& when,
                            Frames& lanes) {
  const std::size_t outer = state_.branch, scope = state_.text.innermost();
  const auto enter = [&] {
    state_.text.open();
    state_.branch = state_.text.innermost();
  };
  std::vector<const std::vector<tasks::Statement>*> bodies = {&range.body};
  if (otherwise != nullptr) bodies.push_back(&otherwise->body);
  std::map<std::size_t, std::size_t> changing;  // number of arms that change the tensor
  const Frames entering = lanes;
  for (const auto* body : bodies) {
    TWILL_TRY(const std::vector<std::size_t> changed, changed_by(*body, lanes, enter));
    for (const std::size_t c : changed) ++changing[c];
    for (Frame& lane : lanes) lane.launches += count_launches(*body);
  }
  lanes = entering;
  const std::vector<Cell> before = state_.cells;
  std::vector<std::size_t> results;
  std::vector<std::string> types;
  for (const auto& [c, count] : changing) {
    if (before[c].value.empty() && count < 2) continue;
    results.push_back(c);
    types.push_back(tensor_text(before[c].type));
  }
  const std::string indent(4 + 2 * scope, ' ');
  std::vector<std::string> texts;
  for (const auto* body : bodies) {
    enter();
    TWILL_TRY_VOID(walk_body(*body, lanes));
    std::vector<std::string> values;
    for (const std::size_t c : results) values.push_back(state_.cells[c].value);
    state_.branch = outer;
    texts.push_back(state_.text.close());
    if (!results.empty()) {
      texts.back() += fmt::format("{}  scf.yield {} : {}\n", indent, fmt::join(values, ", "),
                                  fmt::join(types, ", "));
    }
    for (std::size_t c = 0; c < state_.cells.size(); ++c) {
      // A tensor made within an arm ends with the arm.
      state_.cells[c].value = c < before.size() ? before[c].value : std::string();
    }
  }
  if (otherwise == nullptr && !results.empty()) {
    std::vector<std::string> values;
    for (const std::size_t c : results) values.push_back(before[c].value);
    texts.push_back(fmt::format("{}  scf.yield {} : {}\n", indent, fmt::join(values, ", "),
                                fmt::join(types, ", ")));
  }
  const std::string result = state_.text.fresh("if");
  std::string head = fmt::format("scf.if {} ", when);
  if (!results.empty()) {
    const std::string count = results.size() > 1 ? fmt::format(":{}", results.size()) : "";
    head = fmt::format("{}{} = {}-> ({}) ", result, count, head, fmt::join(types, ", "));
  }
  const std::string between = indent + "} else {\n";
  state_.text.line(scope, fmt::format("{}{{\n{}{}}}", head, fmt::join(texts, between), indent),
                   range.where);
  for (std::size_t i = 0; i < results.size(); ++i) {
    state_.cells[results[i]].value = results.size() > 1 ? fmt::format("{}#{}", result, i) : result;
  }
  return {};
}

}  // namespace twill::frontend::from_tasks
