#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "twill/execute/interpreter.h"
#include "twill/frontend/ttgir/read.h"

/// Helpers shared by tests of the interpreter.
namespace twill::execute::testing {

/// A run of the only function of a text. Arrays are numbered in the order of their arguments.
struct Ran {
  ir::Program program;
  Memory memory;
  Result<void> result;
};

/// Contents of memory after a run: for each array, bits by index.
using Bits = std::vector<std::map<std::int64_t, std::uint64_t>>;

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline ir::Program read(const std::string& text) {
  auto program = frontend::read_ttgir(text, "test.ttgir");
  EXPECT_TRUE(program.has_value()) << to_string(program.error()) << text;
  return *std::move(program);
}

inline Result<void> run_programs(const ir::Program& program, Memory& memory, const Launch& launch,
                                 const std::vector<std::array<std::int64_t, 3>>& ids) {
  const ir::OpId function = ir::functions(program).at(0);
  TWILL_TRY(const auto arguments, arguments_of(program, function, launch, memory));
  for (const auto& id : ids) {
    Interpreter interpreter(program, memory, launch, id);
    TWILL_TRY_VOID(interpreter.run(function, arguments));
  }
  return {};
}

inline Ran run(const std::string& text, const Launch& launch = {}) {
  auto program = frontend::read_ttgir(text, "test.ttgir");
  EXPECT_TRUE(program.has_value()) << to_string(program.error());
  Ran ran{*std::move(program), Memory(1), {}};
  ran.result = run_programs(ran.program, ran.memory, launch, {{0, 0, 0}});
  return ran;
}

/// A function that stores the value %r of `body`, a tensor<16xTYPE>, to its last argument. %i is 0
/// .. 15. %x and %y are loaded from the first two arguments, of type f32 or `input`.
inline std::string storing(const std::string& body, const std::string& type,
                           const std::string& input = "f32") {
  const std::string pointers = "tensor<16x!tt.ptr<" + input + ">>";
  std::string text = "tt.func public @f(%a: !tt.ptr<" + input + ">, %b: !tt.ptr<" + input +
                     ">, %n: i32, %s: f32, %o: !tt.ptr<" + type + ">) {\n" +
                     "%i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n";
  for (const std::string name : {"a", "b"}) {
    const std::string loaded = name == "a" ? "x" : "y";
    text +=
        "%" + name + "s = tt.splat %" + name + " : !tt.ptr<" + input + "> -> " + pointers + "\n";
    text += "%" + name + "p = tt.addptr %" + name + "s, %i : " + pointers + ", tensor<16xi32>\n";
    text += "%" + loaded + " = tt.load %" + name + "p : " + pointers + "\n";
  }
  const std::string out = "tensor<16x!tt.ptr<" + type + ">>";
  text += body;
  text += "\n%os = tt.splat %o : !tt.ptr<" + type + "> -> " + out + "\n";
  text += "%op = tt.addptr %os, %i : " + out + ", tensor<16xi32>\n";
  text += "tt.store %op, %r : " + out + "\n";
  return text + "tt.return\n}\n";
}

/// Numbers of the arrays in `storing`.
inline constexpr std::int64_t kA = 0, kB = 1, kOut = 2;

inline double at(const Memory& memory, std::int64_t array, std::int64_t index) {
  return memory.read({array, index});
}

}  // namespace twill::execute::testing
