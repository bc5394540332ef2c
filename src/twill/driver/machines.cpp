#include <algorithm>
#include <filesystem>
#include <system_error>

#include "twill/driver/driver.h"
#include "twill/support/data_path.h"
#include "twill/support/spelling.h"

namespace twill::driver {
namespace {

namespace fs = std::filesystem;

Result<machine::Machine> load_file(const std::string& path) {
  TWILL_TRY(const Input input, read_input(path));
  return machine::load_machine(input.text, input.name);
}

Result<std::vector<std::string>> shipped_names() {
  TWILL_TRY(const fs::path folder, support::data_path("machines"));
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".json") names.push_back(at->path().stem().string());
  }
  if (error) return fail({folder.string()}, "cannot be read: " + error.message());
  std::sort(names.begin(), names.end());
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
  TWILL_TRY(const fs::path file, support::data_path("machines/" + name + ".json"));
  return load_file(file.string());
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
