#pragma once

#include "twill/driver/driver.h"
#include "twill/frontend/tasks/lower.h"

/// Internal to the driver: kinds of input texts.
namespace twill::driver {

enum class Form { ttgir, loop, schedule_json };

/// The form by the name's ending (.ttgir .mlir .loop .json), else by the text's first words. Fails
/// if both are unknown.
Result<Form> form_of(const Input& input);

/// A file, unchanged; `read_input` makes TTGIR of tasks.
Result<Input> read_text(const std::string& path);

/// Whether the input is a `.task` file, by the name's ending; for a name without an ending, by the
/// text's first words.
bool is_tasks(const Input& input);

/// The text with the chosen mapping (InputChoice::map), whose file is read.
Result<frontend::TaskSource> task_source(Input input, const std::string& map);

/// The kernel of tasks on that machine (as in Request).
Result<std::string> kernel_of_tasks(const frontend::TaskSource& source, const std::string& machine);

}  // namespace twill::driver
