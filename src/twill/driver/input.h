#pragma once

#include "twill/driver/driver.h"
#include "twill/frontend/tasks/lower.h"

/// Internal to the driver: what an input text is.
namespace twill::driver {

enum class Form { ttgir, loop, schedule_json };

/// By the name's ending (.ttgir .mlir .loop .json), else by how the text begins. Fails if neither
/// says anything.
Result<Form> form_of(const Input& input);

/// A file as it is; `read_input` makes TTGIR of tasks.
Result<Input> read_text(const std::string& path);

/// By the name's ending (.task), else, if there is none, by how the text begins.
bool is_tasks(const Input& input);

/// The text with the mapping that is meant (InputChoice::map), whose file is read.
Result<frontend::TaskSource> task_source(Input input, const std::string& map);

/// The kernel of tasks on that machine (as in Request).
Result<std::string> kernel_of_tasks(const frontend::TaskSource& source, const std::string& machine);

}  // namespace twill::driver
