#include "twill/report/gantt.h"

#include <algorithm>
#include <array>
#include <utility>

#include "twill/problem/problem.h"

namespace twill::report {
namespace {

constexpr std::size_t kLongestName = 20;
/// Limit on lines of a row; further lines are counted.
constexpr std::size_t kMostRows = 12;
/// Mark of a blank beside a name that no other bar may take; printed as a blank.
constexpr char kKept = '~';
/// Columns per cycle, at most: figure 1, a loop of a few cycles, should not fill the screen.
constexpr std::size_t kWidestCycle = 12;

struct Bar {
  std::string name;
  Cycles start = 0;   ///< in [0, II)
  Cycles cycles = 0;  ///< at most II
  Cycles stage = 0;
};

struct Row {
  std::string name;
  std::vector<Bar> bars;
};

std::string shortened(std::string name) {
  if (name.size() > kLongestName) name = name.substr(0, kLongestName - 2) + "..";
  return name;
}

/// Maps cycles of the interval to columns of the drawing.
struct Scale {
  Cycles ii = 1;
  std::size_t columns = 1;

  std::size_t column(Cycles cycle) const {
    // No overflow: both factors are bounded (II by kLargestNumber sums, columns by a line).
    return static_cast<std::size_t>(cycle * static_cast<Cycles>(columns) / ii);
  }
};

Scale make_scale(Cycles ii, std::size_t room) {
  const auto cycles = static_cast<std::size_t>(ii);
  if (cycles >= room) return {ii, room};
  return {ii, cycles * std::min(room / cycles, kWidestCycle)};
}

/// Lines of one row; a bar is put on the first line with room for it.
class Canvas {
 public:
  explicit Canvas(Scale scale) : scale_(scale) {}

  void draw(const Bar& bar) {
    for (std::string& line : lines_) {
      if (place(line, bar)) return;
    }
    if (lines_.size() == kMostRows) {
      ++left_out_;
      return;
    }
    lines_.emplace_back(scale_.columns, ' ');
    place(lines_.back(), bar);
  }

  const std::vector<std::string>& lines() const { return lines_; }
  int left_out() const { return left_out_; }

 private:
  struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t size() const { return end - begin; }
  };

  /// Columns of the bar: one piece, or two where it runs over the end of the interval.
  std::pair<Piece, Piece> pieces_of(const Bar& bar) const {
    const Cycles end = bar.start + bar.cycles;
    const std::size_t begin = scale_.column(bar.start);
    if (end <= scale_.ii) {
      return {{begin, std::max(begin + 1, scale_.column(end))}, {}};
    }
    return {{begin, scale_.columns}, {0, std::max<std::size_t>(1, scale_.column(end - scale_.ii))}};
  }

  bool place(std::string& line, const Bar& bar) const {
    const auto [head, tail] = pieces_of(bar);
    if (!is_free(line, tail) || !is_free(line, head) || would_blend(line, head)) return false;
    const std::string name = shortened(bar.name);
    const char digit = static_cast<char>('0' + bar.stage % 10);
    if (head.size() >= name.size() + 3) {
      paint(line, head, digit, true);
      line.replace(head.begin + 1, name.size(), name);
      line[head.begin + 1 + name.size()] = ' ';
    } else if (!paint_beside(line, head, tail, name, digit)) {
      return false;
    }
    paint(line, tail, digit, false);
    return true;
  }

  /// Whether a bar of one column, which has no `|`, would look like part of a bar that ends where
  /// it begins.
  static bool would_blend(const std::string& line, Piece head) {
    return head.size() == 1 && head.begin > 0 && line[head.begin - 1] >= '0' &&
           line[head.begin - 1] <= '9';
  }

  /// Puts `name` at column `at`, and keeps the columns around the name free where they exist.
  static void write_name(std::string& line, std::size_t at, const std::string& name) {
    if (at > 0 && line[at - 1] == ' ') line[at - 1] = kKept;
    line.replace(at, name.size(), name);
    if (at + name.size() < line.size()) line[at + name.size()] = kKept;
  }

  /// Paints a bar with its name to the right or left, with a blank between and around.
  static bool paint_beside(std::string& line, Piece head, Piece tail, const std::string& name,
                           char digit) {
    const bool wraps = tail.size() > 0;
    const Piece right{head.end, head.end + name.size() + 2};
    if (!wraps && right.end <= line.size() + 1 &&
        is_free(line, {right.begin, std::min(right.end, line.size())})) {
      paint(line, head, digit, head.size() > 1);
      write_name(line, head.end + 1, name);
      return true;
    }
    if (head.begin < name.size() + 2) return draw_alone(line, head, name, digit, wraps);
    const Piece left{head.begin - name.size() - 2, head.begin};
    if (!is_free(line, left)) return false;
    paint(line, head, digit, head.size() > 1);
    write_name(line, left.begin + 1, name);
    return true;
  }

  /// Draws a bar whose name has no room beside it, even on an empty line. The name is cut to the
  /// part that fits.
  static bool draw_alone(std::string& line, Piece head, const std::string& name, char digit,
                         bool wraps) {
    const bool empty = line.find_first_not_of(' ') == std::string::npos;
    if (!empty) return false;
    paint(line, head, digit, head.size() > 1);
    const std::size_t room = line.size() > head.end + 1 && !wraps ? line.size() - head.end - 1 : 0;
    const std::size_t shown = std::min(room, name.size());
    if (shown > 0) line.replace(head.end + 1, shown, name.substr(0, shown));
    return true;
  }

  static bool is_free(const std::string& line, Piece piece) {
    return std::all_of(line.begin() + static_cast<std::ptrdiff_t>(piece.begin),
                       line.begin() + static_cast<std::ptrdiff_t>(piece.end),
                       [](char c) { return c == ' '; });
  }

  static void paint(std::string& line, Piece piece, char digit, bool starts) {
    std::fill(line.begin() + static_cast<std::ptrdiff_t>(piece.begin),
              line.begin() + static_cast<std::ptrdiff_t>(piece.end), digit);
    if (starts) line[piece.begin] = '|';
  }

  Scale scale_;
  std::vector<std::string> lines_;
  int left_out_ = 0;
};

std::string axis(Scale scale, const std::string& margin) {
  std::string line(scale.columns + 12, ' ');
  const std::array<Cycles, 4> ticks = {0, scale.ii / 4, scale.ii / 2, 3 * scale.ii / 4};
  std::size_t free_from = 0;
  for (const Cycles tick : ticks) {
    const std::string text = std::to_string(tick);
    const std::size_t at = scale.column(tick);
    if (at < free_from || at + text.size() > scale.columns) continue;
    line.replace(at, text.size(), text);
    free_from = at + text.size() + 1;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return margin + line + "\n";
}

std::string draw(const std::vector<Row>& rows, Cycles ii, std::size_t width) {
  std::size_t name_width = 0;
  for (const Row& row : rows) name_width = std::max(name_width, shortened(row.name).size());
  const std::string margin(2 + name_width + 2, ' ');
  const Scale scale = make_scale(ii, width - margin.size());
  std::string out = axis(scale, margin);
  for (const Row& row : rows) {
    std::vector<Bar> bars = row.bars;
    // Order of bars: first bars that wrap, since their tails need the left edge, then from left to
    // right.
    std::stable_sort(bars.begin(), bars.end(), [&](const Bar& a, const Bar& b) {
      const bool a_wraps = a.start + a.cycles > ii;
      const bool b_wraps = b.start + b.cycles > ii;
      if (a_wraps != b_wraps) return a_wraps;
      return a.start < b.start;
    });
    Canvas canvas(scale);
    for (const Bar& bar : bars) canvas.draw(bar);
    const std::string name = shortened(row.name);
    std::string head = "  " + name + std::string(name_width - name.size(), ' ') + "  ";
    for (std::string line : canvas.lines()) {
      std::replace(line.begin(), line.end(), kKept, ' ');
      line.erase(line.find_last_not_of(' ') + 1);
      out += head + line + "\n";
      head = margin;
    }
    if (canvas.left_out() > 0) {
      out += margin + "(" + std::to_string(canvas.left_out()) + " more not drawn)\n";
    }
  }
  return out;
}

}  // namespace

std::string draw_steady_state(const problem::Problem& problem, const schedule::Schedule& schedule,
                              std::size_t width) {
  const Cycles ii = schedule.initiation_interval;
  std::vector<Row> units;
  std::vector<Row> groups;
  for (const problem::Unit& unit : problem.units()) units.push_back({unit.name, {}});
  for (const problem::Group& group : problem.groups()) groups.push_back({group.name, {}});
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    const problem::OpId op(i);
    const schedule::Placement& at = schedule.ops[i];
    const problem::Alternative& alternative =
        problem[op].alternatives[static_cast<std::size_t>(at.alternative)];
    const Bar bar{problem[op].name, schedule::slot_of(schedule, op), 0,
                  schedule::stage_of(schedule, op)};
    if (alternative.unit) {
      Bar held = bar;
      held.cycles = std::min(alternative.occupancy, ii);
      units[alternative.unit->index()].bars.push_back(std::move(held));
    }
    Bar issued = bar;
    issued.cycles = std::min(alternative.issue, ii);
    groups[at.group.index()].bars.push_back(std::move(issued));
  }
  std::vector<Row> rows = std::move(units);
  rows.insert(rows.end(), std::make_move_iterator(groups.begin()),
              std::make_move_iterator(groups.end()));
  std::erase_if(rows, [](const Row& row) { return row.bars.empty(); });
  return draw(rows, ii, width);
}

}  // namespace twill::report
