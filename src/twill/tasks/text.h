#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twill/tasks/mapping.h"
#include "twill/tasks/values.h"

/// The text form of tasks and mappings: docs/reference/tasks.md.
namespace twill::tasks {

struct TaskText {
  Library library;
  std::vector<Mapping> mappings;
  friend bool operator==(const TaskText&, const TaskText&) = default;
};

/// Reads the text of tasks and mappings. Fails, with line and column, for any other text. Does not
/// check the meaning, see check.h. Cost: linear in the text.
Result<TaskText> read_tasks(std::string_view text, const std::string& file_name);

/// Reads the text of mappings alone, a `.map` file. Fails as `read_tasks` does, and without any
/// mapping.
Result<std::vector<Mapping>> read_mappings(std::string_view text, const std::string& file_name);

/// Whether a line that begins so can be the first of such a text.
bool begins_tasks(std::string_view line);

/// Prints text that reads back as an equal value.
std::string print_tasks(const TaskText& text);
std::string print_mapping(const Mapping& mapping);
std::string print_mappings(const std::vector<Mapping>& mappings);
/// Spelling of a signature: "task add(updates C: f32[M, N], reads A: f16[M, K], position i)".
std::string signature_text(const TaskValue& task);
std::string to_string(const Piece& piece);
std::string to_string(const SizeComparison& condition);

}  // namespace twill::tasks
