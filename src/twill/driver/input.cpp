#include "twill/driver/input.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "twill/driver/levels.h"
#include "twill/frontend/tasks/lower.h"
#include "twill/frontend/ttgir/dump.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/tasks/text.h"

namespace twill::driver {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

Result<std::string> read_all(std::FILE* file, const std::string& name) {
  std::string text;
  std::array<char, 1 << 16> block{};
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file)) {
    text.append(block.data(), count);
    if (text.size() > kMostBytes) return fail({name}, "larger than 256 MB");
  }
  if (std::ferror(file) != 0) {
    return fail({name}, std::string("cannot be read: ") + std::strerror(errno));
  }
  return text;
}

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

std::optional<Form> form_of_line(std::string_view line) {
  if (line.starts_with('{')) return Form::schedule_json;
  if (line.starts_with("loop ")) return Form::loop;
  return frontend::begins_ttgir(line) ? std::optional(Form::ttgir) : std::nullopt;
}

}  // namespace

Request::Request() = default;
Request::Request(const Request&) = default;
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(const Request&) = default;
Request& Request::operator=(Request&&) noexcept = default;
Request::~Request() = default;

Result<Input> read_text(const std::string& path) {
  const std::string name = path == "-" ? "standard input" : path;
  std::error_code ignored;
  if (path != "-" && std::filesystem::is_directory(path, ignored)) {
    return fail({name}, "is a directory, not a file");
  }
  const std::unique_ptr<std::FILE, CloseFile> file(path == "-" ? stdin
                                                               : std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return fail({name}, std::string("cannot be read: ") + std::strerror(errno));
  }
  TWILL_TRY(std::string text, read_all(file.get(), name));
  if (std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; })) {
    return fail({name}, "is empty");
  }
  return Input{name, std::move(text), {}};
}

bool is_tasks(const Input& input) {
  const std::string ending = std::filesystem::path(input.name).extension().string();
  if (ending == ".task") return true;
  if (!ending.empty() && input.name != "standard input") return false;
  for (std::string_view rest = input.text; !rest.empty();) {
    const std::string_view whole = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(whole.size() + 1, rest.size()));
    const std::string_view line = trimmed(whole);
    if (!line.empty() && !line.starts_with('#')) return tasks::begins_tasks(line);
  }
  return false;
}

Result<frontend::TaskSource> task_source(Input input, const std::string& map) {
  frontend::TaskSource source{std::move(input.name), std::move(input.text)};
  if (!map.ends_with(".map") && map.find('/') == std::string::npos) {
    source.mapping = map;
    return source;
  }
  TWILL_TRY(Input file, read_text(map));
  source.map_file = std::move(file.name);
  source.map_text = std::move(file.text);
  return source;
}

Result<std::string> kernel_of_tasks(const frontend::TaskSource& source,
                                    const std::string& machine) {
  TWILL_TRY(const frontend::MappedTasks program, frontend::read_mapped(source));
  TWILL_TRY(const tasks::Levels levels, levels_for(machine, program.mapping));
  TWILL_TRY(const tasks::Tree tree, frontend::tree_of(source, program, levels));
  return frontend::kernel_of(source, tree);
}

namespace {

/// The input with the kernel of its source.
Result<Input> with_kernel(Input input, frontend::TaskSource source, const std::string& machine) {
  TWILL_TRY(input.text, kernel_of_tasks(source, machine));
  input.tasks = std::make_shared<const frontend::TaskSource>(std::move(source));
  return input;
}

}  // namespace

Result<Input> input_of(const tasks::TaskText& tasks, const std::string& map,
                       const std::string& machine) {
  if (tasks.library.tasks.empty()) return fail({}, "there is no task");
  Input input{tasks.library.tasks[0].name + ".task", {}, {}};
  TWILL_TRY(frontend::TaskSource source, task_source(input, map));
  source.made = tasks;
  return with_kernel(std::move(input), std::move(source), machine);
}

Result<Input> read_input(const std::string& path, const InputChoice& choice,
                         const std::string& machine) {
  TWILL_TRY(Input input, read_text(path));
  if (is_tasks(input)) {
    TWILL_TRY(frontend::TaskSource source, task_source(input, choice.map));
    return with_kernel(std::move(input), std::move(source), machine);
  }
  if (!choice.map.empty()) {
    return fail(
        {input.name}, "a mapping is only for kernels of tasks",
        "leave out --map; --machine, --pool and other options choose where this kernel runs");
  }
  TWILL_TRY(input.text,
            frontend::ttgir::module_of_dump(std::move(input.text), input.name, choice.kernel));
  return input;
}

Result<Form> form_of(const Input& input) {
  const std::string ending = std::filesystem::path(input.name).extension().string();
  if (ending == ".ttgir" || ending == ".mlir" || ending == ".task") return Form::ttgir;
  if (ending == ".loop") return Form::loop;
  if (ending == ".json") return Form::schedule_json;
  int number = 0;
  for (std::string_view rest = input.text; !rest.empty();) {
    const std::string_view whole = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(whole.size() + 1, rest.size()));
    ++number;
    const std::string_view line = trimmed(whole);
    if (const auto form = form_of_line(line)) return *form;
    if (line.empty() || line.starts_with('#') || line.starts_with("//")) continue;
    Diagnostic wrong{{input.name, number, 1},
                     "neither TTGIR nor a .loop text begins like this",
                     std::string(whole),
                     "a .loop text begins with `loop NAME`; TTGIR with aliases or `module`"};
    return tl::unexpected(std::move(wrong));
  }
  return fail({input.name}, "there are only comments in it");
}

}  // namespace twill::driver
