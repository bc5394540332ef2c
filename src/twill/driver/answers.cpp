#include "twill/driver/answers.h"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "twill/schedule/loop_text.h"

namespace twill::driver {
namespace {

std::string in_words(const std::optional<schedule::Schedule>& start) {
  if (!start) return "";
  std::string words = fmt::format("{}", start->initiation_interval);
  for (const schedule::Placement& it : start->ops) {
    words += fmt::format(" {}/{}/{}", it.issue, it.group.index(), it.alternative);
  }
  return words;
}

/// Key of an answer: everything on which it depends, except the name. The text identifies the
/// Problem.
std::string key_of(const problem::Problem& problem, const solve::Options& limits) {
  const std::string text = schedule::print_loop(schedule::loop_text_of(problem));
  const std::string header = "loop " + problem.name();
  return fmt::format("{} {} {} {} {} {} {} {}\n{}", limits.work_limit, limits.hurry_after,
                     limits.memory_limit, limits.most_combinations,
                     limits.most_interval.value_or(0), limits.least_interval,
                     limits.room_for_staging, in_words(limits.start),
                     text.starts_with(header) ? text.substr(header.size()) : text);
}

}  // namespace

schedule::Answer Answers::solve(const problem::Problem& problem, const solve::Options& limits) {
  std::string key = key_of(problem, limits);
  std::promise<schedule::Answer> promise;
  std::shared_future<schedule::Answer> answer;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    ++asked_;
    const auto [at, fresh] = answers_.try_emplace(std::move(key));
    if (fresh) at->second = promise.get_future().share();
    answer = at->second;
    first = fresh;
  }
  if (!first) {
    if (limits.tally != nullptr) *limits.tally += answer.get().work;
    return answer.get();
  }
  try {
    promise.set_value(solve::solve(problem, limits));
  } catch (...) {
    promise.set_exception(std::current_exception());
  }
  return answer.get();
}

schedule::Answer solve_with(Answers* answers, const problem::Problem& problem,
                            const solve::Options& limits) {
  return answers != nullptr ? answers->solve(problem, limits) : solve::solve(problem, limits);
}

std::size_t Answers::solved() const {
  const std::lock_guard lock(mutex_);
  return answers_.size();
}

std::size_t Answers::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

}  // namespace twill::driver
