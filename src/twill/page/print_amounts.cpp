#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/page/print.h"

/// Tables of the load on pipes, memories and registers.
namespace twill::page {
namespace {

constexpr Widths kFillWidths = {150, 430, 860, "page"};  ///< phones, paper, wide screens
constexpr int kLevelHeight = 150;                        ///< pixels of a level's drawing

/// Prints an amount: "192 KiB", "148".
std::string amount(double value, const std::string& unit) {
  if (unit != "bytes") return number(value);
  constexpr double kKibi = 1024;
  return value < kKibi ? number(value) + " B" : number(value / kKibi) + " KiB";
}

void print_fill(const Facts& facts, const Fill& fill, double whole, Markup& out) {
  out.open("div", {{"class", "fill-row"}});
  out.open("div", {{"class", "fill-name"}});
  out.leaf("b", {}, fill.name);
  out.leaf("small", {}, fill.unit ? "unit" : "pipe");
  out.close("div");
  out.open("svg", {{"class", "fill-bar"}, {"width", "100%"}, {"height", "26"}});
  out.empty("rect",
            {{"class", "row"}, {"width", percent(facts.interval / whole)}, {"height", "26"}});
  double at = 0;
  for (const auto& [op, cycles] : fill.parts) {
    const Operation& it = facts.ops[op];
    out.open("svg", {{"class", "bar " + colour(it.resource)},
                     {"x", percent(at / whole)},
                     {"width", percent(cycles / whole)},
                     {"y", "2"},
                     {"height", "22"},
                     {"data-op", it.name}});
    out.leaf("title", {},
             fmt::format("{}: {} cycles of {}, {} % of an interval", it.name, number(cycles),
                         fill.name, number(100 * cycles / facts.interval)));
    out.empty("rect", {{"class", "fill"}, {"width", "100%"}, {"height", "100%"}});
    out.empty("rect", {{"class", "edge"}, {"width", "1"}, {"height", "100%"}});
    if (const auto readers = class_of_name(cycles / whole, it.name.size(), kFillWidths)) {
      out.leaf("text", {{"class", *readers}, {"x", "5"}, {"y", "15"}}, it.name);
    }
    out.close("svg");
    at += cycles;
  }
  const std::string x = percent(facts.interval / whole);
  out.empty("line", {{"class", "border"}, {"x1", x}, {"x2", x}, {"y1", "0"}, {"y2", "26"}});
  out.close("svg");
  out.leaf(
      "div", {{"class", "fill-total"}},
      fmt::format("{} ({} %)", number(fill.total), number(100 * fill.total / facts.interval, 0)));
  out.close("div");
}

double amount_at(const std::vector<Level::Step>& steps, double time) {
  double sum = 0;
  for (const Level::Step& it : steps) {
    if (it.begin <= time && time < it.end) sum += it.amount;
  }
  return sum;
}

/// Borders of the steps: each begin, and the end of the interval.
std::vector<double> borders_of(const std::vector<Level::Step>& some,
                               const std::vector<Level::Step>& others, double interval) {
  std::vector<double> borders = {interval};
  for (const Level::Step& it : some) borders.push_back(it.begin);
  for (const Level::Step& it : others) borders.push_back(it.begin);
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  return borders;
}

/// Prints rectangles of the layers, each on those before it.
void print_layers(const Level& level, double most, Markup& out) {
  const auto y_of = [&](double amount) { return kLevelHeight - amount / most * kLevelHeight; };
  std::vector<Level::Step> below;
  for (std::size_t i = 0; i < level.layers.size(); ++i) {
    const Level::Layer& layer = level.layers[i];
    const std::vector<double> borders = borders_of(layer.steps, below, level.interval);
    std::vector<Level::Step> above;
    for (std::size_t b = 0; b + 1 < borders.size(); ++b) {
      const double own = amount_at(layer.steps, borders[b]);
      const double ground = amount_at(below, borders[b]);
      above.push_back({borders[b], borders[b + 1], ground + own});
      if (own <= 0) continue;
      out.open("g", {{"class", "bar " + (layer.op ? colour(i) : std::string("kept"))}});
      out.leaf("title", {},
               fmt::format("{}: {}\n{}", layer.name, amount(own, level.unit), layer.note));
      out.empty("rect", {{"class", "fill solid"},
                         {"x", percent(borders[b] / level.interval)},
                         {"width", percent((borders[b + 1] - borders[b]) / level.interval)},
                         {"y", number(y_of(ground + own), 2)},
                         {"height", number(y_of(ground) - y_of(ground + own), 2)}});
      out.close("g");
    }
    below = std::move(above);
  }
}

double largest_of(const Level::Layer& layer) {
  double most = 0;
  for (const Level::Step& step : layer.steps) most = std::max(most, step.amount);
  return most;
}

void print_level(const Level& level, Markup& out) {
  out.open("figure", {{"class", "level"}});
  out.open("figcaption");
  out.leaf("b", {}, level.name);
  out.leaf(
      "small", {},
      fmt::format("at most {} of {} {}", amount(level.peak, level.unit),
                  amount(level.capacity, level.unit), level.unit == "bytes" ? "" : level.unit));
  out.close("figcaption");
  const double most = 1.06 * std::max({level.capacity, level.peak, 1.0});
  out.open("svg", {{"class", "stack"},
                   {"role", "img"},
                   {"aria-label", level.name + " over an interval"},
                   {"width", "100%"},
                   {"height", std::to_string(kLevelHeight)}});
  print_layers(level, most, out);
  const std::string y = number(kLevelHeight - level.capacity / most * kLevelHeight, 2);
  out.empty("line", {{"class", "limit"}, {"x1", "0"}, {"x2", "100%"}, {"y1", y}, {"y2", y}});
  out.close("svg");
  out.open("div", {{"class", "ends"}});
  out.leaf("span", {}, "0");
  out.leaf("span", {}, number(level.interval) + " cycles");
  out.close("div");
  out.open("ul", {{"class", "layers"}});
  for (std::size_t i = level.layers.size(); i-- > 0;) {
    const Level::Layer& layer = level.layers[i];
    out.open("li");
    out.word("span", {{"class", "key " + (layer.op ? colour(i) : std::string("kept"))}},
             layer.name);
    out.word("b", {}, amount(largest_of(layer), level.unit));
    out.leaf("small", {}, layer.note);
    out.close("li");
  }
  out.close("ul");
  out.close("figure");
}

}  // namespace

void print_fills(const Facts& facts, Markup& out) {
  if (facts.fills.empty()) return;
  open_section(out, "pipes", "What fills units and pipes");
  double whole = facts.interval;
  for (const Fill& fill : facts.fills) whole = std::max(whole, fill.total);
  for (const Fill& fill : facts.fills) print_fill(facts, fill, whole, out);
  out.leaf("p", {{"class", "note"}},
           fmt::format("Cycles that the ops of one iteration take of each, of an interval of {} "
                       "cycles. The fullest sets the pace.",
                       number(facts.interval)));
  out.close("section");
}

void print_levels(const Facts& facts, Markup& out) {
  if (facts.levels.empty()) return;
  open_section(out, "memory", "Memory and registers over an interval");
  out.open("div", {{"class", "levels"}});
  for (const Level& level : facts.levels) print_level(level, out);
  out.close("div");
  out.leaf("p", {{"class", "note"}},
           "By the schedule: each value from its issue to its last read, rings of loads for the "
           "whole interval. The dashed line is the capacity.");
  out.close("section");
}

}  // namespace twill::page
