#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/page/loop_view.h"
#include "twill/problem/problem.h"
#include "twill/report/buffers.h"
#include "twill/schedule/analysis.h"

/// Contents of memories and registers over an interval of the schedule.
namespace twill::page {
namespace {

using problem::OpId;

Cycles rounded_down(Cycles dividend, Cycles divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

/// Counts copies of a value that live at a cycle of the steady state, one from each iteration.
Cycles living_at(const schedule::Life& life, Cycles cycle, Cycles interval) {
  return rounded_down(cycle - life.begin, interval) - rounded_down(cycle - life.end, interval);
}

/// Steps of a value over an interval: a step begins where the number of its copies changes.
std::vector<Level::Step> steps_of(const schedule::Life& life, Amount each, Cycles interval) {
  const std::set<Cycles> borders = {0, life.begin % interval, life.end % interval, interval};
  std::vector<Level::Step> steps;
  for (auto it = borders.begin(); std::next(it) != borders.end(); ++it) {
    const Cycles copies = living_at(life, *it, interval);
    steps.push_back({static_cast<double>(*it), static_cast<double>(*std::next(it)),
                     static_cast<double>(copies * each)});
  }
  return steps;
}

std::string copies_note(const schedule::Life& life) {
  return fmt::format("lives {} cycles{}", life.end - life.begin,
                     life.copies > 1 ? fmt::format(", up to {} copies", life.copies) : "");
}

double peak_of(const Level& level) {
  std::set<double> begins;
  for (const Level::Layer& layer : level.layers) {
    for (const Level::Step& step : layer.steps) begins.insert(step.begin);
  }
  double peak = 0;
  for (const double at : begins) {
    double sum = 0;
    for (const Level::Layer& layer : level.layers) {
      for (const Level::Step& step : layer.steps) {
        if (step.begin <= at && at < step.end) sum += step.amount;
      }
    }
    peak = std::max(peak, sum);
  }
  return peak;
}

Level::Layer whole(std::string name, std::string note, double amount, double interval) {
  return {std::move(name), std::move(note), std::nullopt, {{0, interval, amount}}};
}

/// Adds memory that is reserved for the whole loop.
void add_reserved(const report::Outcome* outcome, const std::string& memory, Level& level) {
  if (outcome == nullptr) return;
  for (const extract::Reserved& it : outcome->reserved) {
    if (it.memory != memory) continue;
    const auto amount = static_cast<double>(it.amount);
    level.layers.push_back(whole(it.what, it.why, amount, level.interval));
    level.capacity += amount;
  }
}

void add_values(const LoopView& loop, problem::MemoryId memory, const report::Outcome* outcome,
                const std::vector<schedule::Life>& lives, Level& level) {
  std::vector<std::optional<schedule::Ring>> rings(loop.problem().ops().size());
  for (const schedule::Ring& ring : schedule::rings_of(
           loop.problem(), loop.schedule(),
           outcome != nullptr && outcome->ring_depth ? std::optional<Cycles>(*outcome->ring_depth)
                                                     : std::nullopt)) {
    rings[ring.op.index()] = ring;
  }
  for (const schedule::Buffer& buffer : schedule::buffers_of(loop.problem(), loop.schedule())) {
    if (buffer.memory != memory || !loop.exists(buffer.value)) continue;
    const std::size_t v = buffer.value.index();
    Level::Layer layer{loop.problem()[buffer.value].name, "", loop.place(buffer.value), {}};
    if (const auto& ring = rings[v]) {
      layer.note =
          fmt::format("{}, hides {} of {} cycles",
                      ring->depth == 1 ? "one copy" : fmt::format("ring of {} copies", ring->depth),
                      std::min(ring->hides, ring->wants), ring->wants);
      layer.steps = {{0, level.interval, static_cast<double>(buffer.amount * ring->depth)}};
    } else {
      layer.note = copies_note(lives[v]);
      layer.steps = steps_of(lives[v], buffer.amount, loop.schedule().initiation_interval);
    }
    level.layers.push_back(std::move(layer));
  }
}

void add_registers(const LoopView& loop, problem::GroupId group,
                   const std::vector<schedule::Life>& lives, Level& level) {
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const problem::Op& op = loop.problem().ops()[i];
    const schedule::Life& life = lives[i];
    if (op.registers == 0 || loop.schedule().ops[i].group != group || !loop.exists(OpId(i))) {
      continue;
    }
    if (life.end == life.begin) continue;
    level.layers.push_back({op.name, copies_note(life), loop.place(OpId(i)),
                            steps_of(life, op.registers, loop.schedule().initiation_interval)});
  }
}

void keep(Level level, Facts& facts) {
  if (level.layers.empty()) return;
  level.peak = peak_of(level);
  facts.levels.push_back(std::move(level));
}

}  // namespace

void add_levels(const LoopView& loop, const Material& material, Facts& facts) {
  const std::vector<schedule::Life> lives = schedule::lives_of(loop.problem(), loop.schedule());
  const double interval = loop.interval();
  for (std::size_t m = 0; m < loop.problem().memories().size(); ++m) {
    const problem::Memory& memory = loop.problem().memories()[m];
    Level level{memory.name,
                memory.name == "TMEM" ? "columns" : "bytes",
                static_cast<double>(memory.capacity),
                0,
                interval,
                {}};
    add_reserved(material.outcome, memory.name, level);
    add_values(loop, problem::MemoryId(m), material.outcome, lives, level);
    keep(std::move(level), facts);
  }
  for (std::size_t g = 0; g < loop.problem().groups().size(); ++g) {
    const problem::Group& group = loop.problem().groups()[g];
    Level level{"registers of " + group.name,
                "registers per thread",
                static_cast<double>(group.registers),
                0,
                interval,
                {}};
    add_registers(loop, problem::GroupId(g), lives, level);
    keep(std::move(level), facts);
  }
}

}  // namespace twill::page
