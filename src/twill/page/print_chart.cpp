#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "twill/page/print.h"

/// Charts of lanes over time. Places along time are percentages: a chart is as wide as its reader's
/// screen while letters keep their size. Heights are pixels.
namespace twill::page {
namespace {

constexpr int kAxis = 24;  ///< height of the numbers above the lanes
constexpr int kRow = 34;   ///< height of a lane
constexpr int kBar = 22;   ///< height of a bar within its lane
/// Least width of a chart on a screen, equal to the style's.
constexpr double kNarrowChart = 700;
constexpr Widths kChartWidths = {480, kNarrowChart, 950,
                                 "screen"};  ///< paper, screens, wide screens

int top_of(std::size_t lane) { return kAxis + static_cast<int>(lane) * kRow; }

/// Step of the axis: 1, 2 or 5 times a power of ten, so that the length has about eight steps.
double step_of(double length) {
  const double rough = length / 8;
  const double power = std::pow(10.0, std::floor(std::log10(std::max(rough, 1e-9))));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

void print_axis(const Chart& chart, Markup& out) {
  const std::string bottom = std::to_string(top_of(chart.lanes.size()));
  const double step = step_of(chart.length);
  const auto count = static_cast<int>(chart.length / step);
  for (int i = 0; i <= count; ++i) {
    const std::string x = percent(i * step / chart.length);
    out.empty("line", {{"class", "grid"}, {"x1", x}, {"x2", x}, {"y1", "18"}, {"y2", bottom}});
    if (i == count && i * step > 0.96 * chart.length) continue;  // no room for its number
    out.leaf("text", {{"class", "axis"}, {"x", x}, {"dx", "3"}, {"y", "14"}}, number(i * step));
  }
  for (int i = 1; i * chart.interval < chart.length * 0.999; ++i) {
    const std::string x = percent(i * chart.interval / chart.length);
    out.empty("line", {{"class", "border"}, {"x1", x}, {"x2", x}, {"y1", "18"}, {"y2", bottom}});
  }
}

std::string relative(int iteration) {
  if (iteration == 0) return "";
  return fmt::format("{}{}", iteration > 0 ? "+" : "\u2212", std::abs(iteration));
}

std::string title_of(const Facts& facts, const Lane& lane, const Bar& bar) {
  std::string text = bar.label;
  if (bar.iteration != 0) text += fmt::format(", iteration n{:+d}", bar.iteration);
  text += fmt::format(" on {}: {} to {}", lane.name, number(bar.begin), number(bar.end));
  for (const std::string& line : bar.details) text += "\n" + line;
  if (!bar.op || bar.waits) return text;
  const Operation& op = facts.ops[*bar.op];
  if (!op.line.empty()) text += "\n" + op.line;
  for (const std::string& source : op.sources) text += "\n" + source;
  return text;
}

/// Prints a bar that is too short for a rectangle.
void print_tick(const Facts& facts, const Lane& lane, const Bar& bar, const std::string& look,
                int top, double length, Markup& out) {
  const std::string x = percent(bar.begin / length);
  out.open("g", {{"class", look + " tick"}, {"data-op", bar.op ? facts.ops[*bar.op].name : ""}});
  out.leaf("title", {}, title_of(facts, lane, bar));
  out.empty(
      "line",
      {{"x1", x}, {"x2", x}, {"y1", std::to_string(top)}, {"y2", std::to_string(top + kBar)}});
  out.close("g");
}

std::string look_of(const Facts& facts, const Bar& bar) {
  if (bar.waits) return "bar wait";
  const std::string parity = bar.iteration % 2 != 0 ? "bar odd " : "bar ";
  return parity + (bar.op ? colour(facts.ops[*bar.op].resource) : "none");
}

void print_bar(const Facts& facts, const Lane& lane, const Bar& bar, int top, double length,
               Markup& out) {
  const double share = (bar.end - bar.begin) / length;
  const std::string look = look_of(facts, bar);
  constexpr double kShortest = 2.5 / kNarrowChart;
  if (share < kShortest && !bar.waits) {
    return print_tick(facts, lane, bar, look, top, length, out);
  }
  out.open("svg", {{"class", look},
                   {"x", percent(bar.begin / length)},
                   {"width", percent(share)},
                   {"y", std::to_string(top)},
                   {"height", std::to_string(kBar)},
                   {"data-op", bar.op && !bar.waits ? facts.ops[*bar.op].name : ""}});
  out.leaf("title", {}, title_of(facts, lane, bar));
  out.empty("rect", {{"class", "fill"}, {"width", "100%"}, {"height", "100%"}});
  if (!bar.before && !bar.waits) {
    out.empty("rect", {{"class", "edge"}, {"width", "3"}, {"height", "100%"}});
  }
  const std::string after = bar.waits ? "" : relative(bar.iteration);
  const std::size_t letters =
      bar.label.size() + (after.empty() ? 0 : fmt::formatted_size("{:+d}", bar.iteration));
  if (const auto readers = class_of_name(share, letters, kChartWidths)) {
    out.open("text", {{"class", *readers}, {"x", "7"}, {"y", "15"}});
    out.text(bar.label);
    if (!after.empty()) out.word("tspan", {{"class", "it"}, {"dx", "2"}}, after);
    out.verbatim("</text>\n");
  }
  out.close("svg");
}

void print_arrow(const Arrow& arrow, double length, Markup& out) {
  const bool last = arrow.slack < 1;
  const bool down = arrow.to > arrow.from;
  constexpr int kEdge = (kRow - kBar) / 2;
  const int from = top_of(arrow.from) + kEdge + (down ? kBar : 0);
  const int to = top_of(arrow.to) + kEdge + (down ? 0 : kBar);
  out.open("g", {{"class", last ? "arrow last" : "arrow"}});
  out.leaf("title", {},
           fmt::format("{}: {} to {}\n{}", arrow.label, number(arrow.begin), number(arrow.end),
                       last ? "awaited: any later, and the wait is longer"
                            : fmt::format("slack {} cycles", number(arrow.slack, 0))));
  out.empty("line", {{"x1", percent(arrow.begin / length)},
                     {"y1", std::to_string(from)},
                     {"x2", percent(arrow.end / length)},
                     {"y2", std::to_string(to)},
                     {"marker-end", last ? "url(#tip-last)" : "url(#tip)"}});
  out.close("g");
}

void print_names(const Chart& chart, Markup& out) {
  out.open("div", {{"class", "names"}});
  for (const Lane& lane : chart.lanes) {
    out.open("div", {{"class", lane.unit ? "name unit" : "name"}});
    out.leaf("b", {}, lane.name);
    out.leaf("small", {}, lane.note);
    out.close("div");
  }
  out.close("div");
}

void print_lanes(const Facts& facts, const Chart& chart, Markup& out) {
  const std::string height = std::to_string(top_of(chart.lanes.size()) + 4);
  out.open("div", {{"class", "scroll"}});
  out.open("svg", {{"class", "lanes"},
                   {"role", "img"},
                   {"aria-label", chart.title},
                   {"width", "100%"},
                   {"height", height}});
  for (std::size_t i = 0; i < chart.lanes.size(); ++i) {
    out.empty("rect", {{"class", chart.lanes[i].unit ? "row unit" : "row"},
                       {"y", std::to_string(top_of(i))},
                       {"width", "100%"},
                       {"height", std::to_string(kRow)}});
  }
  print_axis(chart, out);
  for (std::size_t i = 0; i < chart.lanes.size(); ++i) {
    for (const Bar& bar : chart.lanes[i].bars) {
      print_bar(facts, chart.lanes[i], bar, top_of(i) + (kRow - kBar) / 2, chart.length, out);
    }
  }
  for (const bool last : {false, true}) {
    for (const Arrow& arrow : chart.arrows) {
      if ((arrow.slack < 1) == last) print_arrow(arrow, chart.length, out);
    }
  }
  out.close("svg");
  out.close("div");
}

/// Prints the resources that colour a bar of the chart, in their order.
void print_legend(const Facts& facts, const Chart& chart, Markup& out) {
  std::vector<bool> used(facts.resources.size() + 1, false);
  for (const Lane& lane : chart.lanes) {
    for (const Bar& bar : lane.bars) {
      if (bar.op && !bar.waits) used[facts.ops[*bar.op].resource] = true;
    }
  }
  out.open("p", {{"class", "legend"}});
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    out.word("span", {{"class", "key " + colour(i)}},
             i < facts.resources.size() ? facts.resources[i] : "no pipe");
    out.verbatim("\n");
  }
  out.close("p");
}

void print_chart(const Facts& facts, const Chart& chart, Markup& out) {
  open_section(out, chart.id, chart.title);
  print_legend(facts, chart, out);
  out.open("div", {{"class", "chart"}});
  print_names(chart, out);
  print_lanes(facts, chart, out);
  out.close("div");
  out.leaf("p", {{"class", "detail"}, {"aria-live", "polite"}},
           "Point at a bar or an arrow, or tap it.");
  out.leaf("p", {{"class", "note"}}, chart.caption);
  out.close("section");
}

}  // namespace

void print_charts(const Facts& facts, Markup& out) {
  for (const Chart& chart : facts.charts) print_chart(facts, chart, out);
}

}  // namespace twill::page
