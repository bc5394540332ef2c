#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "twill/emit/cuda/role.h"
#include "twill/emit/cuda/stamps.h"

namespace twill::emit::cuda {

using plan::Instance;
using plan::Step;
using Counts = plan::Channel::Counts;

namespace {

void declare_positions(Text& text, const std::set<std::pair<int, int>>& positions, char ring) {
  for (const auto& [depth, offset] : positions) {
    text.line(fmt::format("const auto {0}{1}_{2}{3} = {4}{1}.at<{5}>();", ring, depth,
                          offset < 0 ? "m" : "", std::abs(offset), ring == 't' ? "tiles" : "ring",
                          offset));
  }
}

}  // namespace

/// Depths of the rings in which the role tracks its position.
std::set<int> RolePrinter::depths(Counts counts) const {
  std::set<int> depths;
  const auto look = [&](const Steps& steps) {
    for (const Step& step : steps) {
      if (step.channel && plan_[*step.channel].counts == counts &&
          plan_[*step.channel].kind != plan::ChannelKind::token) {
        depths.insert(plan_[*step.channel].depth);
      }
      // Operands and results in shared memory lie in the slot of their iteration.
      if (counts == Counts::iterations && step.op) {
        for (const plan::Buffer& buffer : plan_.buffers) {
          if (buffer.residence == plan::Residence::shared && !buffer.invariant_buffer) {
            depths.insert(buffer.depth);
          }
        }
      }
    }
  };
  look(role_.before);
  look(role_.sections.prologue);
  look(role_.sections.steady);
  look(role_.sections.drain);
  look(role_.after);
  look(role_.tail);
  return depths;
}

void RolePrinter::advance(Text& text, const std::string& by) const {
  for (const int depth : depths(Counts::iterations)) {
    text.line(fmt::format("ring{}.advance{};", depth, by));
  }
}

RolePrinter::Point RolePrinter::at_start() const {
  Point point;
  for (const plan::Buffer& buffer : plan_.buffers) {
    if (buffer.role == id_ && buffer.depth > 1) point.latest[identifier(buffer.name)] = -1;
  }
  return point;
}

/// The copies at the beginning of a window: the latest is of the iteration before the window's own.
/// After the last window, iterations are counted from the trip count.
RolePrinter::Point RolePrinter::at_steady(const Point& entered) const {
  Point point = entered;
  for (const Step& step : role_.sections.steady) {
    if (step.kind != plan::StepKind::compute || !step.op) continue;
    for (const Registers::Made& made : registers_.made_by(*step.op)) {
      if (made.variable->depth > 1) point.latest[made.variable->name] = step.instance.offset - 1;
    }
  }
  return point;
}

/// Prints the stamp at the beginning of a step of the plan, if stamps are requested; `steps` is a
/// section of the plan.
void RolePrinter::stamp(Text& text, const Steps& steps, std::size_t index) const {
  if (view_.stamps() == Stamps::none) return;
  if (view_.stamps() == Stamps::sections && (index > 0 || &steps == &role_.sections.steady)) return;
  for (const StampedSection& section : stamped_sections(plan_)) {
    if (section.steps == &steps) text.line(fmt::format("stamps.mark({});", section.first + index));
  }
}

Result<void> RolePrinter::section(Text& text, const Steps& steps, Point& point) {
  positions_.clear();
  tile_positions_.clear();
  Text body(text.depth());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    stamp(body, steps, i);
    TWILL_TRY_VOID(step(body, steps, i, point));
    if (wrong_) return tl::unexpected(*wrong_);
  }
  declare_positions(text, positions_, 'r');
  declare_positions(text, tile_positions_, 't');
  text.append(body);
  return {};
}

Result<void> RolePrinter::initial_values(Text& text) {
  std::set<std::string> done;
  for (const ir::Carried& carried : view_.loop().carried) {
    const ir::ValueId yielded = view_.behind_views(carried.yielded);
    for (const int part : registers_.parts()) {
      const Variable* variable = registers_.find(yielded, part);
      if (variable == nullptr || !done.insert(variable->name).second) continue;
      Tiles tiles(view_, scalars_, part, "", [](ir::ValueId) { return std::optional<Found>(); });
      TWILL_TRY_VOID(tiles.assign(text, {{variable, carried.init}}));
      // The compiler would move a constant into the loop, between products in flight.
      if (variable->shape.kind == Shape::Kind::matrix && variable->type == "float") {
        text.line(fmt::format("twill::settle({});", variable->name));
      }
    }
  }
  return {};
}

Result<void> RolePrinter::sections(Text& text) {
  const plan::Sections& sections = role_.sections;
  TWILL_TRY(const std::string lower, scalars_(*view_.loop().lower, ""));
  TWILL_TRY(const std::string upper, scalars_(*view_.loop().upper, ""));
  TWILL_TRY(const std::string step, scalars_(*view_.loop().step, ""));
  text.line(fmt::format("const int trips = twill::trip_count({}, {}, {});", lower, upper, step));
  TWILL_TRY_VOID(initial_values(text));
  TWILL_TRY_VOID(prepare_copies(text));
  sums_.begin(text);
  Point point = at_start();
  if (sections.spread > 0) {
    text.open(fmt::format("if (trips >= {})", sections.spread));
    text.line("// prologue");
    TWILL_TRY_VOID(section(text, sections.prologue, point));
    advance(text, fmt::format("<{}>()", sections.spread));
  }
  if (view_.stamps() == Stamps::sections) {
    for (const StampedSection& section : stamped_sections(plan_)) {
      if (section.steps != &sections.steady) continue;
      text.line(fmt::format("stamps.mark({}, trips - {});", section.first, sections.spread));
    }
  }
  text.line("#pragma unroll 1");
  text.open(fmt::format("for (int n = {}; n < trips; ++n)", sections.spread));
  point = at_steady(point);
  TWILL_TRY_VOID(section(text, sections.steady, point));
  advance(text, "<1>()");
  text.close();
  if (sections.spread == 0) return {};
  text.line("// drain");
  point = at_steady(point);
  text.open("");
  TWILL_TRY_VOID(section(text, sections.drain, point));
  text.close();
  for (std::size_t n = sections.short_trips.size(); n-- > 0;) {
    if (n == 0 && sections.short_trips[0].empty()) break;
    text.otherwise(fmt::format("else if (trips == {})", n));
    Point short_point = at_start();
    TWILL_TRY_VOID(section(text, sections.short_trips[n], short_point));
    if (n > 0) advance(text, fmt::format("<{}>()", n));
  }
  text.close();
  return {};
}

std::string RolePrinter::tile_loop_head() {
  switch (plan_.kernel->tiles) {
    case plan::Tiles::one_per_cta:
      return "";
    case plan::Tiles::program_loop: {
      const auto lower = scalars_(*view_.outer()->lower, "");
      const auto upper = scalars_(*view_.outer()->upper, "");
      const auto step = scalars_(*view_.outer()->step, "");
      for (const auto* bound : {&lower, &upper, &step}) {
        if (!*bound) refuse_once(bound->error());
      }
      if (wrong_) return "";
      return fmt::format("for (int tile = {}; tile < {}; tile += {})", *lower, *upper, *step);
    }
    case plan::Tiles::persistent:
      return "for (int tile = args.first_tile(); tile < args.tiles; tile += args.tile_step())";
  }
  return "";
}

/// Prints the program ids, where a scalar needs them.
void RolePrinter::ids(Text& text, const Scalars& scalars) const {
  const bool walks = plan_.kernel->tiles == plan::Tiles::persistent;
  const bool cluster = plan_.kernel->cluster > 1;
  if (!scalars.uses_ids() && !(cluster && asks_own_)) return;
  text.line(fmt::format("[[maybe_unused]] const auto [pid_x, pid_y, pid_z{}] = {};",
                        cluster ? ", own" : "",
                        walks ? "args.ids_of(tile)" : "twill::block_ids()"));
}

/// Prints the epilogue ops. They compute their scalars anew, so these scalars hold no registers in
/// the loop.
Result<void> RolePrinter::after(Text& text) {
  if (role_.after.empty()) return {};
  const Scalars in_loop = std::exchange(scalars_, Scalars(view_, 3, 3));
  const bool asked = std::exchange(asks_own_, false);
  Text body(text.depth() + 1);
  Point point = at_start();
  TWILL_TRY_VOID(section(body, role_.after, point));
  text.line("// after the loop");
  text.open("");
  ids(text, scalars_);
  text.append(scalars_.kernel_scope());
  text.append(scalars_.tile_scope());
  text.append(body);
  text.close();
  scalars_ = in_loop;
  asks_own_ = asked;
  return {};
}

/// Prints a tile: one run of the loop with its prologue and epilogue ops.
Result<Text> RolePrinter::tile() {
  Text body(2);
  const bool walks = plan_.kernel->tiles == plan::Tiles::persistent;
  for (const ir::Exit& exit : view_.exits()) {
    TWILL_TRY_VOID(scalars_.leave_at(exit, walks ? "continue" : "return"));
  }
  if (!role_.before.empty()) {
    Point point = at_start();
    body.line("// before the loop");
    TWILL_TRY_VOID(section(body, role_.before, point));
  }
  body.line("// the loop");
  TWILL_TRY_VOID(sections(body));
  sums_.complete(body);
  TWILL_TRY_VOID(after(body));
  return body;
}

Result<std::string> RolePrinter::print(const View& view, plan::RoleId id, Maps& maps,
                                       std::set<ir::OpId>& printed) {
  TWILL_TRY(Registers registers, Registers::of(view, id));
  TWILL_TRY(PartialSums sums, PartialSums::of(view, id, registers));
  RolePrinter printer(view, id, maps, printed, std::move(registers), std::move(sums));
  const plan::Role& role = printer.role_;
  const Result<Text> body = printer.tile();
  const std::string head = body ? printer.tile_loop_head() : "";
  if (printer.wrong_) return tl::unexpected(*printer.wrong_);  // found before what `body` says
  if (!body) return tl::unexpected(body.error());

  Text text(0);
  text.line(fmt::format("/// Warps {} to {}.", role.first_warp, role.first_warp + role.warps - 1));
  text.open(
      fmt::format("__device__ __forceinline__ void {}(const Arguments& args, char* smem, "
                  "Barriers& barriers)",
                  function_name(role)));
  if (!printer.alone()) {
    text.line(fmt::format("const bool leader = twill::warp_index() == {} && twill::elect_one();",
                          role.first_warp));
  }
  if (view.stamps() != Stamps::none) {
    text.line(fmt::format(
        "twill::Stamps stamps(args.stamps + {}ll * args.stamp_limit, args.stamp_limit, {});",
        id.index(), role.first_warp));
  }
  if (printer.asks_rank_) {
    text.line("const int rank = static_cast<int>(twill::cluster_rank());");
  }
  const bool walks = view.plan().kernel->tiles == plan::Tiles::persistent;
  if (!walks) printer.ids(text, printer.scalars_);
  for (const int depth : printer.depths(Counts::iterations)) {
    text.line(fmt::format("twill::Ring<{0}> ring{0};", depth));
  }
  for (const int depth : printer.depths(Counts::tiles)) {
    text.line(fmt::format("twill::Ring<{0}> tiles{0};", depth));
  }
  text.append(printer.scalars_.kernel_scope());
  text.open(head);
  if (walks) printer.ids(text, printer.scalars_);
  text.append(printer.scalars_.tile_scope());
  printer.registers_.declare(text);
  text.append(*body);
  for (const int depth : printer.depths(Counts::tiles)) {
    text.line(fmt::format("tiles{}.advance<1>();", depth));
  }
  text.close();
  Text tail(1);
  Point point;
  TWILL_TRY_VOID(printer.section(tail, role.tail, point));
  if (view.stamps() != Stamps::none) {
    const StampedSection last = stamped_sections(printer.plan_).back();
    tail.line(fmt::format("stamps.mark({});", last.first + last.steps->size()));
  }
  text.append(tail);
  text.close();
  return text.str();
}

}  // namespace twill::emit::cuda
