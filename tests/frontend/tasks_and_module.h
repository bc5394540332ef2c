#pragma once

#include <array>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "twill/execute/interpreter.h"
#include "twill/frontend/tasks/lower.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/tasks/run.h"

namespace twill::frontend {

/// A task program, its sizes and its grid.
struct TaskProgram {
  std::string text;
  std::map<std::string, std::int64_t> sizes;
  std::array<std::int64_t, 3> grid{1, 1, 1};
};

class TasksAndModule {
 public:
  explicit TasksAndModule(const TaskProgram& program) : given_(program) {}

  /// Runs the tasks in the order of their text and the module that they are lowered to.
  void run() {
    const TaskSource source{"t.task", given_.text};
    const auto mapped = read_mapped(source);
    ASSERT_TRUE(mapped) << to_string(mapped.error());
    const auto tree = tree_of(source, *mapped);
    ASSERT_TRUE(tree) << to_string(tree.error());
    const auto lowered = lower_tasks(*tree, "t.task");
    ASSERT_TRUE(lowered) << to_string(lowered.error());
    const auto program = read_ttgir(*lowered, "t.task");
    ASSERT_TRUE(program) << to_string(program.error()) << "\n" << *lowered;
    launch_.programs = given_.grid;
    launch_.size = 1;
    for (const auto& [name, value] : given_.sizes) {
      launch_.arguments[name] = static_cast<double>(value);
    }
    for (const tasks::Argument& argument : tree->root.task->arguments) {
      const execute::Shape shape = shape_of(argument);
      for (std::size_t d = 0; d < shape.size(); ++d) {
        launch_.arguments[argument.name + "_size" + std::to_string(d)] =
            static_cast<double>(shape[d]);
      }
      if (shape.size() != 2) continue;
      launch_.arguments[argument.name + "_rows"] = static_cast<double>(shape[0]);
      launch_.arguments[argument.name + "_columns"] = static_cast<double>(shape[1]);
    }
    keep_known_arguments(*program);
    execute::Memory memory(7);
    const ir::OpId function = ir::functions(*program)[0];
    const auto arguments = execute::arguments_of(*program, function, launch_, memory);
    ASSERT_TRUE(arguments) << to_string(arguments.error());
    std::map<std::string, execute::Tile> arrays;
    for (std::size_t a = 0; a < memory.array_count(); ++a) {
      const tasks::Argument* argument = find_argument(*tree->root.task, memory.name(a));
      if (argument != nullptr) arrays[argument->name] = contents(memory, a, shape_of(*argument));
    }
    for (const tasks::Argument& argument : tree->root.task->arguments) {
      const execute::Shape shape =
          shape_of(argument);  // for an argument that the kernel does not use
      arrays.try_emplace(argument.name, shape,
                         execute::Numbers(static_cast<std::size_t>(execute::size_of(shape))));
    }
    const auto meant = tasks::run(*tree, arrays);
    ASSERT_TRUE(meant) << to_string(meant.error());
    run_grid(*program, function, *arguments, memory);
    for (std::size_t a = 0; a < memory.array_count(); ++a) {
      const execute::Tile found =
          contents(memory, a, shape_of(*find_argument(*tree->root.task, memory.name(a))));
      EXPECT_EQ(found.numbers(), meant->at(memory.name(a)).numbers()) << memory.name(a);
    }
  }

 private:
  execute::Shape shape_of(const tasks::Argument& argument) const {
    execute::Shape shape;
    for (const tasks::Size& size : argument.shape) {
      shape.push_back(value_of(size, given_.sizes).value_or(1));
    }
    return shape;
  }

  /// Keeps only the sizes that the kernel takes.
  void keep_known_arguments(const ir::Program& program) {
    std::map<std::string, double> kept;
    for (const ir::ValueId value : ir::function_arguments(program, ir::functions(program)[0])) {
      const auto found = launch_.arguments.find(program.value(value).name);
      if (found != launch_.arguments.end()) kept.insert(*found);
    }
    launch_.arguments = kept;
  }

  static execute::Tile contents(const execute::Memory& memory, std::size_t array,
                                const execute::Shape& shape) {
    execute::Tile tile = execute::poison(shape, true);
    for (std::size_t i = 0; i < tile.size(); ++i) {
      tile.numbers()[i] = static_cast<float>(
          memory.read({static_cast<std::int64_t>(array), static_cast<std::int64_t>(i)}));
    }
    return tile;
  }

  void run_grid(const ir::Program& program, ir::OpId function,
                const std::map<ir::ValueId, execute::Value>& arguments, execute::Memory& memory) {
    const auto& grid = given_.grid;
    for (std::int64_t id = 0; id < grid[0] * grid[1] * grid[2]; ++id) {
      const std::array<std::int64_t, 3> at{id % grid[0], id / grid[0] % grid[1],
                                           id / grid[0] / grid[1]};
      execute::Interpreter interpreter(program, memory, launch_, at);
      const auto ran = interpreter.run(function, arguments);
      ASSERT_TRUE(ran) << to_string(ran.error());
    }
  }

  TaskProgram given_;
  execute::Launch launch_;
};

}  // namespace twill::frontend
