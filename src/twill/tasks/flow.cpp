#include "twill/tasks/flow.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

/// Builds the flow of a tree, in the order of its text.
class Analysis {
 public:
  explicit Analysis(const Tree& tree) : tree_(tree) {}

  Flow run() {
    flow_.library = tree_.library;
    flow_.entry = tree_.root.task;
    SizeMap fixed;
    for (const auto& [name, value] : tree_.root.tunables) fixed[name] = Size(value);
    std::vector<Ref> arguments;
    for (const Argument& argument : tree_.root.task->arguments) {
      std::vector<Size> shape;
      for (const Size& size : argument.shape) {
        shape.push_back(substituted(size, fixed));
        for (const std::string& name : names_in(size)) {
          const auto value = tree_.root.tunables.find(name);
          if (value != tree_.root.tunables.end()) flow_.sizes.insert(*value);
          names_.insert(name);
        }
      }
      arguments.push_back({flow_.buffers.size(), {}});
      flow_.buffers.push_back(
          {argument.name, argument.scalar, std::move(shape), Memory::global, true});
    }
    walk(tree_.root, arguments, {}, tree_.root.task->where, flow_.steps);
    order(flow_);
    return std::move(flow_);
  }

 private:
  struct Scope {
    const TreeNode* node = nullptr;
    SizeMap sizes;
    std::map<std::string, Ref> tensors;
    std::size_t launches = 0;
  };

  std::vector<Size> shape_of(const Ref& ref) const {
    std::vector<Size> shape = flow_.buffers[ref.buffer].shape;
    for (const Block& block : ref.blocks) shape = tasks::shape_of(block, shape);
    return shape;
  }

  /// Adds the four steps of the Cypress paper: a fresh buffer, a copy in, the task, a copy out.
  void walk(const TreeNode& node, const std::vector<Ref>& given, const std::vector<Size>& positions,
            const Where& where, std::vector<FlowStep>& steps) {
    std::vector<Ref> arguments = given;
    for (std::size_t a = 0; a < given.size(); ++a) {
      const Argument& argument = node.task->arguments[a];
      if (flow_.buffers[given[a].buffer].memory == node.memories[a]) continue;
      arguments[a] = {fresh(argument.name, argument.scalar, shape_of(given[a]), node.memories[a]),
                      {}};
      if (may_read(argument.privilege))
        steps.push_back({Copy{given[a], arguments[a]}, 0, {}, where});
    }
    if (node.variant->is_leaf()) {
      steps.push_back({Call{node.task, node.variant, arguments, positions}, 0, {}, where});
    } else {
      inside(node, arguments, positions, steps);
    }
    for (std::size_t a = 0; a < given.size(); ++a) {
      const bool moved = arguments[a].buffer != given[a].buffer;
      if (!moved || !may_write(node.task->arguments[a].privilege)) continue;
      steps.push_back({Copy{arguments[a], given[a]}, 0, {}, where});
    }
  }

  void inside(const TreeNode& node, const std::vector<Ref>& arguments,
              const std::vector<Size>& positions, std::vector<FlowStep>& steps) {
    Scope scope{&node, {}, {}, 0};
    for (std::size_t p = 0; p < positions.size(); ++p) {
      scope.sizes[node.task->positions[p]] = positions[p];
    }
    for (const auto& [name, value] : node.tunables) scope.sizes[name] = Size(value);
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      const Argument& argument = node.task->arguments[a];
      const std::vector<Size> shape = shape_of(arguments[a]);
      for (std::size_t d = 0; d < argument.shape.size() && d < shape.size(); ++d) {
        if (argument.shape[d].constant()) continue;
        scope.sizes.try_emplace(argument.shape[d].name(), shape[d]);
      }
      scope.tensors[argument.name] = arguments[a];
    }
    walk_body(std::get<Inner>(node.variant->body).body, scope, steps);
  }

  void walk_body(const std::vector<Statement>& body, Scope& scope, std::vector<FlowStep>& steps) {
    for (const Statement& statement : body) {
      if (const auto* make = std::get_if<Make>(&statement.what)) {
        std::vector<Size> shape;
        for (const Size& size : make->shape) shape.push_back(substituted(size, scope.sizes));
        scope.tensors[make->name] = {fresh(make->name, make->scalar, shape, Memory::none), {}};
      } else if (const auto* range = std::get_if<Range>(&statement.what)) {
        steps.push_back({loop_of(*range, scope), 0, {}, range->where});
      } else {
        const Launch& launch = std::get<Launch>(statement.what);
        std::vector<Ref> arguments;
        for (const Piece& piece : launch.pieces) arguments.push_back(ref_of(piece, scope));
        std::vector<Size> positions;
        for (const Size& it : launch.positions) positions.push_back(substituted(it, scope.sizes));
        walk(scope.node->children[scope.launches++], arguments, positions, launch.where, steps);
      }
    }
  }

  FlowLoop loop_of(const Range& range, Scope& scope) {
    FlowLoop loop{range.parallel, scope.node->processor, {}, {}};
    for (const Dimension& dimension : range.dimensions) {
      loop.dimensions.push_back(
          {unique(dimension.index), substituted(dimension.extent, scope.sizes)});
    }
    if (range.when) {
      loop.dimensions.push_back({unique("when"), count_of(substituted(*range.when, scope.sizes))});
    }
    const SizeMap outside = scope.sizes;
    for (std::size_t d = 0; d < range.dimensions.size(); ++d) {
      scope.sizes[range.dimensions[d].index] = Size::named(loop.dimensions[d].index);
    }
    walk_body(range.body, scope, loop.body);
    scope.sizes = outside;
    return loop;
  }

  static Ref ref_of(const Piece& piece, const Scope& scope) {
    Ref ref = scope.tensors.at(piece.tensor);
    for (const Block& block : piece.blocks) ref.blocks.push_back(substituted(block, scope.sizes));
    return ref;
  }

  std::size_t fresh(const std::string& name, Scalar scalar, std::vector<Size> shape,
                    Memory memory) {
    flow_.buffers.push_back(
        {fmt::format("{}{}", name, flow_.buffers.size()), scalar, std::move(shape), memory, false});
    return flow_.buffers.size() - 1;
  }

  std::string unique(const std::string& name) {
    std::string made = name;
    for (int i = 2; !names_.insert(made).second; ++i) made = name + std::to_string(i);
    return made;
  }

  const Tree& tree_;
  Flow flow_;
  std::set<std::string> names_;
};

/// Events of the last write of a buffer, and of its reads since that write.
struct Users {
  std::vector<After> writers;
  std::vector<After> readers;
};

class Ordering {
 public:
  void run(std::vector<FlowStep>& steps) {
    for (FlowStep& step : steps) {
      step.event = ++events_;
      step.after.clear();
      if (auto* loop = std::get_if<FlowLoop>(&step.what)) {
        order_loop(step, *loop);
        continue;
      }
      std::set<std::size_t> read, written;
      if (const auto* copy = std::get_if<Copy>(&step.what)) {
        read.insert(copy->from.buffer);
        written.insert(copy->to.buffer);
      } else {
        const Call& call = std::get<Call>(step.what);
        for (std::size_t a = 0; a < call.arguments.size(); ++a) {
          const Privilege privilege = call.task->arguments[a].privilege;
          if (may_read(privilege)) read.insert(call.arguments[a].buffer);
          if (may_write(privilege)) written.insert(call.arguments[a].buffer);
        }
      }
      add(step, {step.event, false}, read, written);
    }
  }

 private:
  /// Makes a step wait for earlier steps that use the same buffers; two reads need no order.
  void add(FlowStep& step, const After& done, const std::set<std::size_t>& read,
           const std::set<std::size_t>& written) {
    for (const std::size_t buffer : read) {
      need(step, users_[buffer].writers);
      if (written.count(buffer) == 0) users_[buffer].readers.push_back(done);
    }
    for (const std::size_t buffer : written) {
      Users& users = users_[buffer];
      need(step, users.writers);
      need(step, users.readers);
      users = {{done}, {}};
    }
  }

  static void need(FlowStep& step, const std::vector<After>& events) {
    for (const After& event : events) {
      const bool known = std::find(step.after.begin(), step.after.end(), event) != step.after.end();
      if (!known && event.event != step.event) step.after.push_back(event);
    }
  }

  void order_loop(FlowStep& step, FlowLoop& loop) {
    const auto before = users_;
    Ordering inside;
    inside.events_ = events_;
    inside.users_ = users_;
    inside.run(loop.body);
    events_ = inside.events_;
    std::set<std::size_t> read, written;
    for (const auto& [buffer, users] : inside.users_) {
      const auto was = before.find(buffer);
      const Users old = was == before.end() ? Users() : was->second;
      if (users.writers != old.writers) written.insert(buffer);
      if (users.readers != old.readers) read.insert(buffer);
    }
    add(step, {step.event, loop.parallel}, read, written);
  }

  std::size_t events_ = 0;
  std::map<std::size_t, Users> users_;
};

// --- Text ---------------------------------------------------------------------------------------

std::string sizes_text(const std::vector<Size>& sizes) {
  std::string text;
  for (const Size& size : sizes) text += (text.empty() ? "" : ", ") + to_string(size);
  return text;
}

class FlowPrinter {
 public:
  explicit FlowPrinter(const Flow& flow) : flow_(flow) {}

  std::string run() {
    std::set<std::size_t> used;
    collect(flow_.steps, used);
    std::string out;
    for (const std::size_t b : used) {
      const Buffer& buffer = flow_.buffers[b];
      out += fmt::format("{} = tensor {}[{}] in {}\n", buffer.name, name_of(buffer.scalar),
                         sizes_text(buffer.shape), name_of(buffer.memory));
    }
    print(flow_.steps, "", out);
    return out;
  }

 private:
  static void collect(const std::vector<FlowStep>& steps, std::set<std::size_t>& used) {
    for (const FlowStep& step : steps) {
      if (const auto* copy = std::get_if<Copy>(&step.what)) {
        used.insert({copy->from.buffer, copy->to.buffer});
      } else if (const auto* call = std::get_if<Call>(&step.what)) {
        for (const Ref& ref : call->arguments) used.insert(ref.buffer);
      } else {
        collect(std::get<FlowLoop>(step.what).body, used);
      }
    }
  }

  std::string text_of(const Ref& ref) const {
    return to_string(Piece{flow_.buffers[ref.buffer].name, ref.blocks, {}});
  }

  static std::string after_text(const FlowStep& step) {
    std::string text;
    for (const After& after : step.after) {
      text += fmt::format("{}e{}{}", text.empty() ? " after " : ", ", after.event,
                          after.all ? "[:]" : "");
    }
    return text;
  }

  void print(const std::vector<FlowStep>& steps, const std::string& indent, std::string& out) {
    for (const FlowStep& step : steps) {
      out += fmt::format("{}e{} = ", indent, step.event);
      if (const auto* copy = std::get_if<Copy>(&step.what)) {
        out += fmt::format("copy {} to {}", text_of(copy->from), text_of(copy->to));
      } else if (const auto* call = std::get_if<Call>(&step.what)) {
        std::string arguments;
        for (const Ref& ref : call->arguments) {
          arguments += (arguments.empty() ? "" : ", ") + text_of(ref);
        }
        for (const Size& position : call->positions) arguments += ", " + to_string(position);
        out += fmt::format("call {}.{}({})", call->task->name, call->leaf->name, arguments);
      }
      const auto* loop = std::get_if<FlowLoop>(&step.what);
      if (loop == nullptr) {
        out += after_text(step) + "\n";
        continue;
      }
      std::string dimensions;
      for (const Dimension& it : loop->dimensions) {
        dimensions += (dimensions.empty() ? "" : ", ") + it.index + " < " + to_string(it.extent);
      }
      out += fmt::format("{} {} at {}{} {{\n", loop->parallel ? "pfor" : "for", dimensions,
                         name_of(loop->processor), after_text(step));
      print(loop->body, indent + "  ", out);
      out += indent + "}\n";
    }
  }

  const Flow& flow_;
};

void add_count(const std::vector<FlowStep>& steps, FlowCount& total) {
  for (const FlowStep& step : steps) {
    if (std::holds_alternative<Copy>(step.what)) ++total.copies;
    if (std::holds_alternative<Call>(step.what)) ++total.calls;
    const auto* loop = std::get_if<FlowLoop>(&step.what);
    if (loop != nullptr) add_count(loop->body, total);
  }
}

}  // namespace

Flow analyse(const Tree& tree) { return Analysis(tree).run(); }

void order(Flow& flow) { Ordering().run(flow.steps); }

FlowCount count(const Flow& flow) {
  FlowCount total;
  add_count(flow.steps, total);
  return total;
}

std::string to_string(const Flow& flow) { return FlowPrinter(flow).run(); }

}  // namespace twill::tasks
