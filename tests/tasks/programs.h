#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "twill/tasks/check.h"
#include "twill/tasks/run.h"
#include "twill/tasks/tasks.h"

/// Task programs that several tests use.
namespace twill::tasks {

inline std::string bundled(const std::string& name) {
  std::ifstream file(std::string(TWILL_SOURCE_DIR) + "/kernels/tasks/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline TaskText must_read(const std::string& text) {
  auto read = read_tasks(text, "t.task");
  EXPECT_TRUE(read) << (read ? "" : to_string(read.error()));
  return read ? *read : TaskText();
}

/// A text without its @, with the place of the @.
struct Marked {
  std::string text;
  int line = 1;
  int column = 1;
};
inline Marked marked(std::string text) {
  Marked made;
  const std::size_t at = text.find('@');
  EXPECT_NE(at, std::string::npos) << text;
  if (at == std::string::npos) return {std::move(text)};
  for (std::size_t i = 0; i < at; ++i) {
    made.column = text[i] == '\n' ? 1 : made.column + 1;
    made.line += text[i] == '\n' ? 1 : 0;
  }
  made.text = text.erase(at, 1);
  return made;
}

/// The levels of the h200 (machines/h200.json).
inline Levels hopper() {
  const std::set<Memory> all = {Memory::global, Memory::shared, Memory::registers};
  return {"h200",
          "sm_90",
          {{Processor::host, {Memory::global}},
           {Processor::block, {Memory::global, Memory::shared}},
           {Processor::warpgroup, all},
           {Processor::warp, all},
           {Processor::thread, all}}};
}

/// Tree of the text's only mapping, with other values for some tunables.
inline Result<Tree> tree_of(const TaskText& text,
                            const std::map<std::string, std::int64_t>& tunables = {},
                            const Levels& levels = {}) {
  TWILL_TRY_VOID(check(text.library));
  Mapping mapping = text.mappings.at(0);
  for (const auto& [name, value] : tunables) mapping.tunables.push_back({name, {value}, {}});
  return instantiate(text.library, mapping, levels);
}

/// Numbers between -1 and 1 that differ from element to element.
inline execute::Tile numbers(execute::Shape shape, unsigned seed) {
  execute::Tile tile = execute::poison(std::move(shape), true);
  for (float& number : tile.numbers()) {
    seed = seed * 1664525U + 1013904223U;
    number = static_cast<float>(seed >> 8) / static_cast<float>(1U << 23) - 1;
  }
  return tile;
}

}  // namespace twill::tasks
