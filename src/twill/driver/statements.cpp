#include "twill/driver/statements.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "twill/driver/kernel.h"
#include "twill/driver/propose.h"
#include "twill/frontend/tasks/lower.h"
#include "twill/tasks/mapping.h"

namespace twill::driver {
namespace {

using Values = std::vector<std::int64_t>;

constexpr std::size_t kMostAsked = 100;
constexpr std::uint64_t kShareOfWork = 20;  ///< share of a request's work, for a mapping
constexpr std::int64_t kLeast = 8;          ///< extents are multiples of this number

bool is_tunable(const tasks::Library& library, const std::string& name) {
  for (const tasks::TaskValue& task : library.tasks) {
    for (const tasks::Variant& variant : task.variants) {
      const auto* inner = std::get_if<tasks::Inner>(&variant.body);
      if (inner == nullptr) continue;
      if (std::ranges::find(inner->tunables, name) != inner->tunables.end()) return true;
    }
  }
  return false;
}

/// Statements of a mapping that give a tunable a value. Sizes of tensors are left out: changing
/// them changes the kernel's result.
std::vector<tasks::Setting*> settings_of(frontend::MappedTasks& mapped) {
  std::vector<tasks::Setting*> all;
  const auto add = [&](std::vector<tasks::Setting>& settings) {
    for (tasks::Setting& it : settings) {
      if (it.values.size() == 1 && is_tunable(mapped.text.library, it.tunable)) all.push_back(&it);
    }
  };
  add(mapped.mapping.tunables);
  for (tasks::Instance& instance : mapped.mapping.instances) add(instance.tunables);
  return all;
}

/// A list in words: "'U = 256' and 'V = 256'".
std::string listed(const std::vector<std::string>& words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? std::string(", ") : fmt::format(" {} ", last);
    text += words[i];
  }
  return text;
}

enum class Found { none, undecided, schedule };

/// A question about the kernel of a request.
using Ask = std::function<Found(const Request&)>;

class Statements {
 public:
  /// `none`: the missing thing, such as "schedule", followed by reasons if there are any.
  Statements(const Request& request, frontend::MappedTasks mapped, Ask ask, std::string none)
      : request_(request),
        mapped_(std::move(mapped)),
        ask_(std::move(ask)),
        none_(std::move(none)),
        settings_(settings_of(mapped_)) {
    for (const tasks::Setting* it : settings_) stated_.push_back(it->values[0]);
  }

  /// Whether half of each value makes a schedule possible.
  bool depends_on_values() {
    Values halves = stated_;
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const Values smaller = smaller_values(i);
      if (!smaller.empty()) halves[i] = smaller.front();
    }
    return halves != stated_ && possible(halves);
  }

  std::optional<Diagnostic> run() {
    find_core();
    if (found_.empty()) return std::nullopt;
    std::vector<std::string> together, changes, others;
    for (std::size_t i = 0; i < stated_.size(); ++i) {
      if (!is_in_core(i)) others.push_back(fmt::format("'{}'", settings_[i]->tunable));
    }
    for (const std::size_t i : core_) {
      together.push_back(statement(i, stated_[i]));
      if (const auto value = enough(i)) changes.push_back(statement(i, *value));
    }
    std::string change = listed(changes, "or");
    if (changes.empty()) change = changed();
    std::string hint;
    if (!others.empty())
      hint = fmt::format("a smaller {} alone changes nothing", listed(others, "or"));
    return tasks::fail_task(
               "M14", settings_[core_[0]]->where,
               fmt::format("{} {} no {}; there is one with {}", listed(together, "and"),
                           together.size() > 1 ? "together leave" : "leaves", none_, change),
               std::move(hint))
        .value();
  }

 private:
  /// Frees one statement after the other. A statement stays free if it is proven that there is
  /// still no schedule without it.
  void find_core() {
    std::vector<bool> is_free(stated_.size());
    for (std::size_t i = 0; i < stated_.size(); ++i) {
      undecided_ = false;
      if (possible_with(i, is_free) || undecided_) {
        core_.push_back(i);
      } else {
        is_free[i] = true;
      }
    }
  }

  bool is_in_core(std::size_t i) const {
    return std::find(core_.begin(), core_.end(), i) != core_.end();
  }

  /// Whether a smaller value of this statement has a schedule. The other statements have their
  /// values, or the smallest values if they are free.
  bool possible_with(std::size_t statement, const std::vector<bool>& is_free) {
    const Values smaller = smaller_values(statement);
    for (std::size_t subset = 0; subset < std::size_t{1} << stated_.size(); ++subset) {
      Values values = stated_;
      bool is_asked = true;
      for (std::size_t i = 0; i < stated_.size(); ++i) {
        if ((subset >> i & 1U) == 0) continue;
        const Values least = smaller_values(i);
        is_asked = is_asked && is_free[i] && !least.empty();
        if (is_asked) values[i] = least.back();
      }
      for (const std::int64_t value : smaller) {
        if (!is_asked) break;
        values[statement] = value;
        if (!possible(values)) continue;
        if (found_.empty()) found_ = values;
        return true;
      }
    }
    return false;
  }

  /// The largest value with which there is a schedule, while all others have their stated values.
  std::optional<std::int64_t> enough(std::size_t statement) {
    Values values = stated_;
    for (const std::int64_t value : smaller_values(statement)) {
      values[statement] = value;
      if (possible(values)) return value;
    }
    return std::nullopt;
  }

  /// The value halved repeatedly, as multiples of kLeast.
  Values smaller_values(std::size_t statement) const {
    Values values;
    for (std::int64_t it = stated_[statement]; it >= 2 * kLeast;) {
      it = it / 2 / kLeast * kLeast;
      values.push_back(it);
    }
    return values;
  }

  /// Whether a schedule was found; `undecided_` is set if none was found but one may exist.
  bool possible(const Values& values) {
    auto known = asked_.find(values);
    if (known == asked_.end()) {
      const Found found = asked_.size() < kMostAsked ? ask(values) : Found::undecided;
      known = asked_.emplace(values, found).first;
    }
    undecided_ = undecided_ || known->second == Found::undecided;
    return known->second == Found::schedule;
  }

  /// Whether the kernel with these values has a schedule. Values that make no kernel have no
  /// schedule.
  Found ask(const Values& values) {
    for (std::size_t i = 0; i < values.size(); ++i) settings_[i]->values = {values[i]};
    const frontend::TaskSource& source = *request_.input.tasks;
    const auto tree = frontend::tree_of(source, mapped_);
    if (!tree) return Found::none;
    auto text = frontend::lower_tasks(*tree, source.file);
    if (!text) return Found::none;
    Request request = request_;
    request.input = {request_.input.name, *std::move(text), {}};
    request.answers = nullptr;  // the answers are for the stated values
    request.limits.work_limit /= kShareOfWork;
    return ask_(request);
  }

  std::string statement(std::size_t i, std::int64_t value) const {
    return fmt::format("'{} = {}'", settings_[i]->tunable, value);
  }

  /// The values with a schedule that differ from the stated values.
  std::string changed() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < stated_.size(); ++i) {
      if (found_[i] != stated_[i]) all.push_back(statement(i, found_[i]));
    }
    return listed(all, "and");
  }

  const Request& request_;
  frontend::MappedTasks mapped_;
  Ask ask_;
  std::string none_;
  std::vector<tasks::Setting*> settings_;  ///< point into `mapped_`
  Values stated_;
  std::vector<std::size_t> core_;
  Values found_;  ///< values with a schedule
  std::map<Values, Found> asked_;
  bool undecided_ = false;
};

Found ask_for_schedule(const Request& asked) {
  Request request = asked;
  // Any schedule will do, and costs do not decide whether there is one.
  request.rate = machine::Rate::fastest;
  const auto reading = read_once(request);
  if (!reading) return Found::none;
  const auto found = propose(request, *reading, false);
  if (!found) return Found::none;
  const report::Outcome& outcome = found->front().outcome;
  if (usable(outcome)) return Found::schedule;
  const bool never = outcome.answer.verdict == schedule::Verdict::infeasible;
  return never ? Found::none : Found::undecided;
}

/// The mapping of a kernel of tasks; empty if it states too much.
std::optional<frontend::MappedTasks> mapping_to_ask(const Request& request) {
  constexpr std::size_t kMostStatements = 12;
  if (!request.input.tasks) return std::nullopt;
  auto mapped = frontend::read_mapped(*request.input.tasks);
  if (!mapped || settings_of(*mapped).size() > kMostStatements) return std::nullopt;
  return *std::move(mapped);
}

}  // namespace

std::optional<Diagnostic> statements_without_schedule(const Request& request,
                                                      const report::Outcome& outcome) {
  if (outcome.answer.verdict != schedule::Verdict::infeasible) return std::nullopt;
  auto mapped = mapping_to_ask(request);
  if (!mapped) return std::nullopt;
  return Statements(request, *std::move(mapped), ask_for_schedule, "schedule").run();
}

Diagnostic in_words_of_mapping(const Request& request, Diagnostic why,
                               const std::function<bool(const Request&)>& is_made) {
  auto mapped = mapping_to_ask(request);
  if (!mapped) return why;
  const auto ask = [&](const Request& it) { return is_made(it) ? Found::schedule : Found::none; };
  Statements statements(request, *std::move(mapped), ask,
                        "module for Triton (" + why.message + ")");
  if (!statements.depends_on_values()) return why;
  return statements.run().value_or(std::move(why));
}

}  // namespace twill::driver
