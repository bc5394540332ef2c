#include <algorithm>
#include <filesystem>

#include "twill/driver/driver.h"
#include "twill/support/shipped.h"
#include "twill/support/spelling.h"

namespace twill::driver {
namespace {

Result<machine::Machine> load_file(const std::string& path) {
  TWILL_TRY(const Input input, read_input(path));
  return machine::load_machine(input.text, input.name);
}

std::string file_of(const std::string& name) { return "machines/" + name + ".json"; }

Result<std::vector<std::string>> shipped_names() {
  TWILL_TRY(const std::vector<std::string> files, support::shipped_names("machines"));
  std::vector<std::string> names;
  for (const std::string& file : files) {
    const std::string name = std::filesystem::path(file).stem().string();
    if (file == file_of(name)) names.push_back(name);
  }
  return names;
}

}  // namespace

Result<machine::Machine> find_machine(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".json")) return load_file(name);
  TWILL_TRY(const std::vector<std::string> names, shipped_names());
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    const std::string guess = did_you_mean(name, candidates);
    return fail({}, "there is no machine named " + in_quotes(name),
                guess.empty() ? "`twill machines` lists them; a file's name ends in .json" : guess);
  }
  TWILL_TRY(const std::string text, support::shipped_text(file_of(name)));
  return machine::load_machine(text, file_of(name));
}

Result<std::vector<machine::Machine>> shipped_machines() {
  TWILL_TRY(const std::vector<std::string> names, shipped_names());
  std::vector<machine::Machine> machines;
  for (const std::string& name : names) {
    TWILL_TRY(machine::Machine machine, find_machine(name));
    machines.push_back(std::move(machine));
  }
  return machines;
}

}  // namespace twill::driver
