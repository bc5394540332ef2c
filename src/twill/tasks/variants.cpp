#include "twill/tasks/variants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "twill/execute/compare.h"
#include "twill/tasks/run.h"

namespace twill::tasks {
namespace {

using Arrays = std::map<std::string, execute::Tile>;
using Numbers = std::map<std::string, std::int64_t>;

constexpr int kRuns = 4;     // runs of a variant that must agree
constexpr int kDraws = 400;  // attempts to find sizes
constexpr std::int64_t kMostWork = std::int64_t{1}
                                   << 18;  // limit of the product of all sizes, and of elements

/// Small sizes, sizes of small tiles, and sizes that instructions divide.
constexpr std::array<std::array<std::int64_t, 6>, 3> kSizes = {
    {{1, 2, 3, 4, 5, 7}, {4, 6, 8, 12, 16, 24}, {16, 32, 64, 64, 128, 128}}};
constexpr std::array kOrders = {Order::shuffled, Order::forward, Order::backward};
constexpr std::array<std::int64_t, 8> kTunables = {1, 2, 2, 3, 4, 8, 16, 32};

/// Difference due to rounding, relative to the larger of a number and the root mean square of all.
double tolerance(Scalar scalar) {
  if (is_whole(scalar)) return 0;
  if (is_f8(scalar)) return 4e-1;
  return scalar == Scalar::f32 ? 1e-3 : scalar == Scalar::f16 ? 1e-2 : 6e-2;
}

/// Choices of one attempt.
struct Draw {
  Numbers sizes;     ///< sizes of the signature
  Numbers tunables;  ///< tunables of all variants
  std::vector<std::int64_t> positions;
  Arrays arrays;
};

/// Whether a run failed with that code because of the variant, and not because of its sizes. Such a
/// variant reads elements before they are written, writes twice at once, or leaves elements out.
bool is_of_variant(std::string_view code) {
  return code == "T06" || code == "T07" || code == "T14";
}

class Comparing {
 public:
  Comparing(const Library& library, const TaskValue& task)
      : task_(task), around_("all of " + task.name) {
    Library all = library;
    all.tasks.push_back(around());
    library_ = std::make_shared<const Library>(std::move(all));
    for (const TaskValue& it : library.tasks) {
      for (const Variant& variant : it.variants) {
        const auto* inner = std::get_if<Inner>(&variant.body);
        if (inner != nullptr) tunables_.insert(inner->tunables.begin(), inner->tunables.end());
      }
    }
  }

  Result<ComparedVariant> with(const Variant& variant, const Variant& meaning) {
    ComparedVariant out{task_.name + "." + variant.name, task_.name + "." + meaning.name, {}, 0};
    std::mt19937_64 random(1);
    for (int draw = 0; draw < kDraws && out.runs < kRuns; ++draw) {
      const auto drawn = drawn_by(random, static_cast<std::size_t>(draw) % kSizes.size());
      if (!drawn) continue;
      const Order order = kOrders[static_cast<std::size_t>(out.runs) % kOrders.size()];
      TWILL_TRY(const auto found, run_one(variant, *drawn, order));
      if (!found) continue;  // most attempts fail
      TWILL_TRY(const auto expected, run_one(meaning, *drawn, Order::forward));
      if (!expected) continue;
      TWILL_TRY_VOID(compare(variant, meaning, *drawn, *expected, *found));
      out.sizes = text_of(*drawn);
      ++out.runs;
    }
    return out;
  }

 private:
  /// Makes a task that only launches the compared task. Its tunables, less 1, are the positions.
  TaskValue around() const {
    TaskValue made;
    made.name = around_;
    made.arguments = task_.arguments;
    made.where = task_.where;
    Inner all;
    Launch launch{task_.name, {}, task_.where};
    for (const Argument& argument : task_.arguments) {
      launch.pieces.push_back({argument.name, {}, argument.where});
    }
    for (std::size_t p = 0; p < task_.positions.size(); ++p) {
      all.tunables.push_back(position_name(p));
      launch.positions.push_back(Size::named(position_name(p)) - 1);
    }
    all.body = {{std::move(launch)}};
    made.variants = {{"all", std::move(all), task_.where}};
    return made;
  }
  static std::string position_name(std::size_t p) { return fmt::format("position {}", p); }

  template <class Values>
  static std::int64_t one_of(const Values& values, std::mt19937_64& random) {
    return values[random() % values.size()];
  }

  /// Multiplies; false if the product exceeds the limit of work.
  static bool multiply(std::int64_t& product, std::int64_t by) {
    if (by > kMostWork / std::max<std::int64_t>(1, product)) return false;
    product *= by;
    return true;
  }

  /// Draws sizes and tunables; nullopt if they would exceed the limit of work.
  std::optional<Draw> drawn_by(std::mt19937_64& random, std::size_t kind) const {
    Draw draw;
    std::int64_t work = 1;
    for (const Argument& argument : task_.arguments) {
      for (const Size& size : argument.shape) {
        const bool is_new = !size.constant() && draw.sizes.count(size.name()) == 0;
        if (is_new) draw.sizes[size.name()] = one_of(kSizes[kind], random);
        if (is_new && !multiply(work, draw.sizes[size.name()])) return std::nullopt;
      }
    }
    for (const std::string& name : tunables_) {
      const auto size = draw.sizes.find(name);
      const std::int64_t any = one_of(kTunables, random);
      draw.tunables[name] = size == draw.sizes.end() ? any : size->second;
    }
    for (std::size_t p = 0; p < task_.positions.size(); ++p) {
      draw.positions.push_back(one_of(kSizes[kind], random) - 1);
    }
    for (const Argument& argument : task_.arguments) {
      execute::Shape shape;
      std::int64_t elements = 1;
      for (const Size& size : argument.shape) {
        shape.push_back(*value_of(size, draw.sizes));
        if (!multiply(elements, shape.back())) return std::nullopt;
      }
      execute::Tile tile{std::move(shape), {}};
      execute::Numbers numbers(tile.size());
      for (float& it : numbers) it = static_cast<float>(random() % 2001) / 1000 - 1;
      tile.data = std::move(numbers);
      draw.arrays[argument.name] = std::move(tile);
    }
    return draw;
  }

  /// Contents after the variant; nullopt if it does not run with these sizes and tunables.
  Result<std::optional<Arrays>> run_one(const Variant& variant, const Draw& draw, Order order) {
    Mapping mapping;
    mapping.name = "compared";
    mapping.task = around_;
    mapping.where = variant.where;
    for (const auto& [name, value] : draw.tunables) {
      mapping.tunables.push_back({name, {value}, variant.where});
    }
    for (std::size_t p = 0; p < draw.positions.size(); ++p) {
      mapping.tunables.push_back({position_name(p), {draw.positions[p] + 1}, variant.where});
    }
    mapping.instances.resize(2);
    Instance& entry = mapping.instances[0];
    entry.entry = true;
    entry.name = "all";
    entry.task = around_;
    entry.variant = "all";
    entry.calls = {"it"};
    mapping.instances[1].name = "it";
    mapping.instances[1].task = task_.name;
    mapping.instances[1].variant = variant.name;
    const auto tree = instantiate(library_, mapping);
    if (!tree) return std::nullopt;
    auto left = run(*tree, draw.arrays, {order, 1});
    if (left) return std::optional(*std::move(left));
    if (!is_of_variant(code_of(left.error()))) return std::nullopt;
    left.error().message += ", with " + text_of(draw);
    return tl::unexpected(left.error());
  }

  Result<void> compare(const Variant& variant, const Variant& meaning, const Draw& draw,
                       const Arrays& expected, const Arrays& found) const {
    for (const Argument& argument : task_.arguments) {
      if (!may_write(argument.privilege)) continue;
      const auto& wanted = expected.at(argument.name).numbers();
      const auto& got = found.at(argument.name).numbers();
      double squares = 0;
      for (const float it : wanted)
        squares += std::isfinite(it) ? std::pow(static_cast<double>(it), 2) : 0;
      const double size =
          std::sqrt(squares / std::max<double>(1, static_cast<double>(wanted.size())));
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto a = static_cast<double>(wanted[i]), b = static_cast<double>(got[i]);
        const double room = tolerance(argument.scalar) * std::max(std::fabs(a), size);
        const bool near = std::isfinite(a) && std::isfinite(b) && std::fabs(a - b) <= room;
        if (near || execute::same_element(a, b)) continue;
        return fail_task(
            "T16", variant.where,
            fmt::format("'{0}.{1}' is not what '{0}.{2}' is: element {3} of '{4}' is {5:g}, and "
                        "{6:g} there, with {7}",
                        task_.name, variant.name, meaning.name, i, argument.name, b, a,
                        text_of(draw)),
            "variants of a task leave the same; what leaves something else is another task");
      }
    }
    return {};
  }

  static std::string text_of(const Draw& draw) {
    std::vector<std::string> texts;
    for (const auto* numbers : {&draw.sizes, &draw.tunables}) {
      for (const auto& [name, value] : *numbers) {
        if (numbers == &draw.tunables && draw.sizes.count(name) > 0) continue;
        texts.push_back(fmt::format("{} = {}", name, value));
      }
    }
    for (const std::int64_t position : draw.positions) {
      texts.push_back(fmt::format("at {}", position));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  const TaskValue& task_;
  std::string around_;  ///< no word, so no task has this name
  std::shared_ptr<const Library> library_;
  std::set<std::string> tunables_;
};

bool is_external(const Variant& variant) {
  const auto* leaf = std::get_if<Leaf>(&variant.body);
  return leaf != nullptr && leaf->external;
}

}  // namespace

Result<std::vector<ComparedVariant>> compare_variants(const Library& library) {
  std::vector<ComparedVariant> all;
  for (const TaskValue& task : library.tasks) {
    // Starts with the last variant: faults of inner variants would show in outer variants that
    // launch them.
    const Variant* meaning = nullptr;
    std::vector<ComparedVariant> of_task;
    for (auto variant = task.variants.rbegin(); variant != task.variants.rend(); ++variant) {
      if (is_external(*variant)) continue;
      if (meaning == nullptr) {
        meaning = &*variant;
        of_task.push_back({task.name + "." + variant->name, {}, {}, 0});
        continue;
      }
      TWILL_TRY(ComparedVariant compared, Comparing(library, task).with(*variant, *meaning));
      of_task.push_back(std::move(compared));
    }
    all.insert(all.end(), of_task.rbegin(), of_task.rend());
  }
  return all;
}

std::string to_string(const std::vector<ComparedVariant>& compared) {
  std::string out;
  for (const ComparedVariant& it : compared) {
    out += it.variant + ": ";
    if (it.with.empty()) {
      out += "says what its task means\n";
    } else if (it.runs == 0) {
      out += fmt::format("not compared with {}: no small sizes are known with which both run\n",
                         it.with);
    } else {
      out += fmt::format("as {}, in {} runs, the last with {}\n", it.with, it.runs, it.sizes);
    }
  }
  return out;
}

}  // namespace twill::tasks
