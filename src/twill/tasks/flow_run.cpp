#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "twill/tasks/evaluate.h"
#include "twill/tasks/flow.h"
#include "twill/tasks/tensor.h"

namespace twill::tasks {
namespace {

using execute::Shape;
using execute::Tile;

class FlowRun {
 public:
  explicit FlowRun(const Flow& flow) : flow_(flow), sizes_(flow.sizes) {
    storages_.resize(flow.buffers.size());
  }

  Result<std::map<std::string, Tile>> run(const std::map<std::string, Tile>& arrays) {
    for (std::size_t a = 0; a < flow_.entry->arguments.size(); ++a) {
      const Argument& argument = flow_.entry->arguments[a];
      const auto given = arrays.find(argument.name);
      if (given == arrays.end() || given->second.shape.size() != argument.shape.size()) {
        return fail_task("T01", argument.where, "there is no array for '" + argument.name + "'");
      }
      for (std::size_t d = 0; d < argument.shape.size(); ++d) {
        const Size& size = argument.shape[d];
        if (!size.constant()) sizes_.try_emplace(size.name(), given->second.shape[d]);
      }
      storages_[a] = make_storage(argument.name, argument.scalar, given->second.shape);
      for (std::size_t i = 0; i < storages_[a]->tile.size(); ++i) {
        storages_[a]->tile.numbers()[i] =
            rounded(argument.scalar, static_cast<double>(given->second.numbers()[i]));
      }
    }
    TWILL_TRY_VOID(steps(flow_.steps));
    std::map<std::string, Tile> out;
    for (std::size_t a = 0; a < flow_.entry->arguments.size(); ++a) {
      out[flow_.entry->arguments[a].name] = storages_[a]->tile;
    }
    return out;
  }

 private:
  Result<void> steps(const std::vector<FlowStep>& all) {
    for (const FlowStep& step : all) {
      if (const auto* copy_of = std::get_if<Copy>(&step.what)) {
        TWILL_TRY(const Window from, window(copy_of->from, step.where));
        TWILL_TRY(const Window to, window(copy_of->to, step.where));
        write(to, read(from));
      } else if (const auto* call_of = std::get_if<Call>(&step.what)) {
        TWILL_TRY_VOID(call(*call_of, step.where));
      } else {
        TWILL_TRY_VOID(loop(std::get<FlowLoop>(step.what), step.where));
      }
    }
    return {};
  }

  Result<void> loop(const FlowLoop& of, const Where& where) {
    std::vector<Size> extents;
    for (const Dimension& dimension : of.dimensions) extents.push_back(dimension.extent);
    TWILL_TRY(const Shape shape, values(extents, where));
    for (std::int64_t i = 0; i < execute::size_of(shape); ++i) {
      std::int64_t rest = i;
      for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
        sizes_[of.dimensions[d].index] = rest % shape[d];
      }
      TWILL_TRY_VOID(steps(of.body));
    }
    return {};
  }

  Result<void> call(const Call& of, const Where& where) {
    const Leaf& leaf = std::get<Leaf>(of.leaf->body);
    std::map<std::string, Window> windows;
    std::map<std::string, Shape> shapes;
    for (std::size_t a = 0; a < of.arguments.size(); ++a) {
      const std::string& name = of.task->arguments[a].name;
      TWILL_TRY(windows[name], window(of.arguments[a], where));
      shapes[name] = windows[name].shape();
    }
    std::map<std::string, Tile> inputs;
    std::map<std::string, std::int64_t> sizes;
    for (const Argument& argument : of.task->arguments) {
      for (std::size_t d = 0; d < argument.shape.size(); ++d) {
        if (argument.shape[d].constant()) continue;
        sizes.try_emplace(argument.shape[d].name(), shapes[argument.name][d]);
      }
    }
    for (std::size_t p = 0; p < of.positions.size(); ++p) {
      const auto value = value_of(of.positions[p], sizes_);
      if (!value) return fail_task("T13", where, value.error().why);
      inputs[of.task->positions[p]] = position_tile(*value);
    }
    for (const Node& node : leaf.nodes) {
      if (node.function != Function::argument || windows.count(node.argument) == 0) continue;
      inputs[node.argument] = read(windows[node.argument]);
    }
    const std::vector<Tile> outputs = evaluate(*of.task, leaf, inputs, shapes, sizes);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const Window& to = windows[leaf.outputs[o].argument];
      const auto combines = leaf.outputs[o].combines;
      write(to,
            combines ? combined(*combines, to.storage->scalar, read(to), outputs[o]) : outputs[o]);
    }
    return {};
  }

  Result<Shape> values(const std::vector<Size>& sizes, const Where& where) const {
    Shape shape;
    for (const Size& size : sizes) {
      const auto value = value_of(size, sizes_);
      if (!value || *value < 0) {
        return fail_task("T13", where,
                         fmt::format("{}: {}", to_string(size),
                                     value ? std::string("is negative") : value.error().why));
      }
      shape.push_back(*value);
    }
    return shape;
  }

  Result<Window> window(const Ref& ref, const Where& where) {
    const Buffer& buffer = flow_.buffers[ref.buffer];
    std::shared_ptr<Storage>& storage = storages_[ref.buffer];
    if (storage == nullptr) {
      TWILL_TRY(Shape shape, values(buffer.shape, where));
      storage = make_storage(buffer.name, buffer.scalar, std::move(shape));
    }
    Window found = whole_of(storage);
    for (const Block& block : ref.blocks) {
      const auto part = with_values(block, sizes_);
      if (!part) return fail_task("T13", where, part.error().why);
      if (block.cut == Cut::mma) {
        TWILL_TRY_VOID(check_fragment(*part, found.shape(), where));
      }
      found = part_of(found, *part);
    }
    return found;
  }

  static Tile read(const Window& from) {
    Tile tile{from.shape(), {}};
    tile.data = numbers_beyond(from);
    for_each_element(from, [&](std::size_t element, std::size_t place) {
      tile.numbers()[place] = from.storage->tile.numbers()[element];
    });
    return tile;
  }

  static void write(const Window& to, const Tile& tile) {
    for_each_element(to, [&](std::size_t element, std::size_t place) {
      to.storage->tile.numbers()[element] = tile.numbers()[place];
    });
  }

  const Flow& flow_;
  std::map<std::string, std::int64_t> sizes_;
  std::vector<std::shared_ptr<Storage>> storages_;
};

}  // namespace

Result<std::map<std::string, Tile>> run(const Flow& flow,
                                        const std::map<std::string, Tile>& arrays) {
  return FlowRun(flow).run(arrays);
}

}  // namespace twill::tasks
