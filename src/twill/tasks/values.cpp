#include "twill/tasks/values.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace twill::tasks {
namespace {

template <class Named>
const Named* find_named(const std::vector<Named>& all, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named& it) { return it.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::string_view name_of(Privilege privilege) {
  switch (privilege) {
    case Privilege::reads:
      return "reads";
    case Privilege::writes:
      return "writes";
    case Privilege::updates:
      break;
  }
  return "updates";
}

const TaskValue* find_task(const Library& library, std::string_view name) {
  return find_named(library.tasks, name);
}

const Variant* find_variant(const TaskValue& task, std::string_view name) {
  return find_named(task.variants, name);
}

const Argument* find_argument(const TaskValue& task, std::string_view name) {
  return find_named(task.arguments, name);
}

tl::unexpected<Diagnostic> fail_task(const char* code, const Where& where,
                                     const std::string& message, std::string hint) {
  return fail(where.at, std::string(code) + ": " + message, std::move(hint));
}

}  // namespace twill::tasks
