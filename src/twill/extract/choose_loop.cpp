#include "twill/extract/choose_loop.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "twill/ir/operands.h"

namespace twill::extract {
namespace {

std::int64_t product_flops(const ir::Program& program, const ir::Op& op) {
  const auto operands = ir::mma_operands(op);
  if (!operands) return 0;
  const ir::Type a = ir::type_of(program, operands->a);
  const ir::Type d = ir::type_of(program, operands->accumulator);
  if (a->shape.empty() || d->shape.empty()) return 0;
  std::int64_t flops = 2;
  for (std::int64_t extent : d->shape) flops *= std::clamp<std::int64_t>(extent, 1, 1 << 14);
  return flops * std::clamp<std::int64_t>(a->shape.back(), 1, 1 << 14);
}

/// The innermost loop around `op`.
std::optional<ir::OpId> loop_around(const ir::Program& program, ir::OpId op) {
  for (auto up = ir::parent(program, op); up; up = ir::parent(program, *up)) {
    if (ir::is_loop(program.op(*up).kind)) return up;
  }
  return std::nullopt;
}

std::string place_of(const ir::Program& program, ir::OpId op) {
  const Location text = ir::text_location(program, op);
  std::string place = "line " + std::to_string(text.line);
  if (const auto source = ir::source_location(program, op); source && *source != text) {
    place += " (" + source->file + ":" + std::to_string(source->line) + ")";
  }
  return place;
}

std::string list_of(const ir::Program& program, const std::vector<LoopChoice>& loops) {
  std::string list;
  for (const LoopChoice& loop : loops) {
    if (!list.empty()) list += ", ";
    list += std::to_string(loop.number) + " at " + place_of(program, loop.loop);
    list += loop.flops > 0 ? " with " + std::to_string(loop.flops) + " tensor-core FLOP"
                           : std::string(" without tensor-core work");
    if (loop.number == 15 && loops.size() > 16) return list + ", ...";
  }
  return list;
}

bool ends_with_path(std::string_view path, std::string_view tail) {
  if (!path.ends_with(tail)) return false;
  return path.size() == tail.size() || path[path.size() - tail.size() - 1] == '/';
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool stands_at(const ir::Program& program, ir::OpId op, std::string_view file, int line) {
  const Location text = ir::text_location(program, op);
  if (text.line == line && (file.empty() || ends_with_path(text.file, file))) return true;
  const auto source = ir::source_location(program, op);
  return source && source->line == line && !file.empty() && ends_with_path(source->file, file);
}

std::optional<LoopChoice> selected(const ir::Program& program, const std::vector<LoopChoice>& loops,
                                   std::string_view selector) {
  if (const auto number = number_of<std::size_t>(selector)) {
    if (*number < loops.size()) return loops[*number];
    return std::nullopt;
  }
  const std::size_t colon = selector.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto line = number_of<int>(selector.substr(colon + 1));
  if (!line) return std::nullopt;
  std::optional<LoopChoice> first;
  for (const LoopChoice& loop : loops) {
    if (!stands_at(program, loop.loop, selector.substr(0, colon), *line)) continue;
    if (loop.flops > 0) return loop;
    if (!first) first = loop;
  }
  return first;
}

std::optional<LoopChoice> busiest(const ir::Program& program,
                                  const std::vector<LoopChoice>& loops) {
  std::optional<LoopChoice> best;
  bool best_innermost = false;
  for (const LoopChoice& loop : loops) {
    if (loop.flops == 0) continue;
    const auto structure = ir::as_loop(program, loop.loop);
    const bool innermost = structure && structure->innermost;
    const bool better = !best || (innermost && !best_innermost) ||
                        (innermost == best_innermost && loop.flops > best->flops);
    if (!better) continue;
    best = loop;
    best_innermost = innermost;
  }
  return best;
}

/// Refuses clusters: a tile that several CTAs share would be charged to each CTA in full.
Result<void> check_ctas(const ir::Program& program) {
  const int ctas = ir::launch_traits(program).num_ctas.value_or(1);
  if (ctas <= 1) return {};
  return fail(ir::text_location(program, program.module()),
              "the kernel was compiled for " + std::to_string(ctas) +
                  " CTAs that share its tiles, which the model does not have",
              "compile it with num_ctas=1");
}

}  // namespace

std::vector<LoopChoice> loops_of(const ir::Program& program) {
  std::vector<LoopChoice> found;
  for (const ir::Loop& loop : ir::loops(program, program.module())) {
    LoopChoice choice;
    choice.loop = loop.op;
    choice.number = static_cast<int>(found.size());
    for (ir::OpId op : ir::walk(program, loop.op)) {
      const std::int64_t flops = product_flops(program, program.op(op));
      if (flops > 0 && loop_around(program, op) == loop.op) choice.flops += flops;
    }
    found.push_back(choice);
  }
  return found;
}

Result<LoopChoice> choose_loop(const ir::Program& program, std::string_view selector) {
  TWILL_TRY_VOID(check_ctas(program));
  const std::vector<LoopChoice> loops = loops_of(program);
  const Location file{program.file(), 0, 0};
  const auto functions = ir::functions(program);
  const Location kernel = functions.empty() ? file : ir::text_location(program, functions.front());
  if (loops.empty()) {
    return fail(kernel, "the kernel has no loop, so there is nothing to pipeline",
                "Twill schedules the main loop of a Tensor Core kernel");
  }
  if (selector.empty()) {
    if (const auto best = busiest(program, loops)) return *best;
    return fail(kernel,
                "no loop of the kernel has tensor-core work, so there is nothing to schedule",
                "loops: " + list_of(program, loops));
  }
  const auto choice = selected(program, loops, selector);
  if (!choice) {
    return fail(file, "no loop '" + std::string(selector) + "'",
                "--loop takes a number, FILE:LINE, or :LINE of the text; loops: " +
                    list_of(program, loops));
  }
  if (choice->flops == 0) {
    return fail(ir::text_location(program, choice->loop),
                "loop " + std::to_string(choice->number) + " has no tensor-core work of its own",
                "loops: " + list_of(program, loops));
  }
  return *choice;
}

}  // namespace twill::extract
