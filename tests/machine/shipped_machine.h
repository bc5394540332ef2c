#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "twill/machine/machine.h"

namespace twill::machine {

inline std::string shipped_text(const std::string& name) {
  std::ifstream file(std::string(TWILL_SOURCE_DIR) + "/machines/" + name + ".json");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A machine of the `machines` folder; the test cannot go on without it.
inline Machine shipped(const std::string& name) {
  auto machine = load_machine(shipped_text(name), name + ".json");
  if (!machine) {
    ADD_FAILURE() << to_string(machine.error());
    std::abort();
  }
  return *std::move(machine);
}

}  // namespace twill::machine
