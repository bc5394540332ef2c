#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "twill/page/print.h"

/// Tables that a reader may sort by any column.
namespace twill::page {
namespace {

struct Column {
  std::string_view name;
  bool number = false;
};

void open_table(Markup& out, const std::vector<Column>& columns) {
  out.open("div", {{"class", "table"}});
  out.open("table", {{"class", "sortable"}});
  out.open("thead");
  out.open("tr");
  for (const Column& column : columns) {
    out.open("th", {{"scope", "col"}, {"class", column.number ? "n" : ""}});
    out.leaf("button", {{"type", "button"}}, column.name);
    out.close("th");
  }
  out.close("tr");
  out.close("thead");
  out.open("tbody");
}

void close_table(Markup& out) {
  out.close("tbody");
  out.close("table");
  out.close("div");
}

void cell(Markup& out, std::string_view text) { out.leaf("td", {}, text); }

/// Begins a cell, which `close("td")` ends.
void begin_cell(Markup& out) { out.verbatim("<td>"); }

/// Prints a cell with a number, which sorts by value; an empty cell sorts last.
void number_cell(Markup& out, std::optional<double> value, const std::string& text) {
  out.leaf("td", {{"class", "n"}, {"data-value", value ? number(*value, 6) : ""}}, text);
}

void number_cell(Markup& out, std::optional<double> value, int decimals = 1) {
  number_cell(out, value, value ? number(*value, decimals) : std::string("\u2013"));
}

/// Prints a cell with a whole number in text, or an empty cell.
void count_cell(Markup& out, const std::string& text) {
  out.leaf("td", {{"class", "n"}, {"data-value", text}}, text.empty() ? "\u2013" : text);
}

void print_list(Markup& out, std::string_view title, const std::vector<std::string>& items) {
  if (items.empty()) return;
  out.open("details");
  out.leaf("summary", {}, fmt::format("{} ({})", title, items.size()));
  out.open("ul");
  for (const std::string& item : items) out.leaf("li", {}, item);
  out.close("ul");
  out.close("details");
}

/// Optional columns of the table of operations.
struct OperationColumns {
  bool line = false;
  bool sources = false;
  bool cuda = false;
  bool ttgir = false;
};

OperationColumns columns_of(const Facts& facts) {
  OperationColumns columns;
  for (const Operation& op : facts.ops) {
    columns.line = columns.line || !op.line.empty();
    columns.sources = columns.sources || !op.sources.empty();
    columns.cuda = columns.cuda || !op.cuda.empty();
    columns.ttgir = columns.ttgir || !op.ttgir.empty();
  }
  return columns;
}

/// Anchor of a line of the module on the page, for links to that line.
std::string anchor(int line) { return fmt::format("t{}", line); }

/// Prints a cell with links to lines of the module.
void links_cell(Markup& out, const std::vector<int>& lines) {
  begin_cell(out);
  if (lines.empty()) out.text("\u2013");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.text(", ");
    out.word("a", {{"href", "#" + anchor(lines[i])}}, fmt::format("{}", lines[i]));
  }
  out.close("td");
}

void print_operation(const Operation& op, const OperationColumns& columns, Markup& out) {
  out.open("tr", {{"data-op", op.name}});
  if (columns.line) cell(out, op.line);
  if (columns.sources) {
    out.leaf("td", {{"class", "lines"}}, fmt::format("{}", fmt::join(op.sources, "\n")));
  }
  begin_cell(out);
  out.word("span", {{"class", "key " + colour(op.resource)}}, op.name);
  out.close("td");
  cell(out, op.group);
  number_cell(out, static_cast<double>(op.stage));
  number_cell(out, static_cast<double>(op.slot));
  number_cell(out, op.slack ? std::optional(static_cast<double>(*op.slack)) : std::nullopt);
  if (columns.cuda) {
    cell(out, op.cuda.empty() ? "\u2013" : fmt::format("{}", fmt::join(op.cuda, ", ")));
  }
  if (columns.ttgir) links_cell(out, op.ttgir);
  out.close("tr");
}

void print_change(const Change& change, double before, Markup& out) {
  out.open("tr");
  cell(out, change.what);
  cell(out, change.from);
  cell(out, change.to);
  number_cell(out, change.interval);
  const bool lowers = change.gain > 0;
  number_cell(out, lowers ? std::optional(change.gain) : std::nullopt);
  number_cell(out, lowers ? std::optional(100 * change.gain / before) : std::nullopt);
  cell(out, change.known);
  out.close("tr");
}

void print_strategy(const Strategy& it, double most, Markup& out) {
  out.open("tr");
  begin_cell(out);
  out.word("b", {}, it.name);
  if (!it.what.empty()) out.word("small", {}, it.what);
  out.close("td");
  cell(out, it.pool);
  number_cell(out, it.interval);
  number_cell(out, it.simulated);
  out.open("td", {{"class", "n"}, {"data-value", it.ratio ? number(*it.ratio, 6) : ""}});
  if (it.ratio) {
    out.word("span", {}, fmt::format("{:.2f}", *it.ratio));
    out.open("svg", {{"class", "mini"}, {"width", "80"}, {"height", "8"}, {"aria-hidden", "true"}});
    out.empty("rect", {{"class", "row"}, {"width", "100%"}, {"height", "8"}});
    out.empty("rect", {{"class", it.name == "twill" ? "mine" : "other"},
                       {"width", percent(*it.simulated / most)},
                       {"height", "8"}});
    out.close("svg");
  } else {
    out.text("\u2013");
  }
  out.close("td");
  count_cell(out, it.stages);
  count_cell(out, it.groups);
  count_cell(out, it.registers);
  cell(out, it.memory);
  out.close("tr");
}

/// Prints the module, with the lines to which the table of operations has links.
void print_module(const Facts& facts, Markup& out) {
  for (const std::string& note : facts.ttgir.notes) out.leaf("p", {{"class", "note"}}, note);
  if (facts.ttgir.text.empty()) return;
  std::set<int> linked;
  for (const Operation& op : facts.ops) linked.insert(op.ttgir.begin(), op.ttgir.end());
  std::string_view rest = facts.ttgir.text;
  out.open("details", {{"id", "ttgir"}});
  out.leaf("summary", {},
           fmt::format("The plan as TTGIR ({} lines)", std::count(rest.begin(), rest.end(), '\n')));
  out.verbatim("<pre class=\"module\">");
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (linked.contains(number)) {
      out.word("span", {{"id", anchor(number)}}, line);
    } else {
      out.word("span", {}, line);
    }
  }
  out.verbatim("</pre>\n");
  out.close("details");
}

}  // namespace

void print_operations(const Facts& facts, Markup& out) {
  if (facts.ops.empty()) return;
  open_section(out, "operations", "From source line to slot");
  const OperationColumns columns = columns_of(facts);
  std::vector<Column> heads;
  if (columns.line) heads.push_back({"source"});
  if (columns.sources) heads.push_back({"operations of the text"});
  for (const Column head : {Column{"op"}, Column{"runs in"}, Column{"stage", true},
                            Column{"cycle", true}, Column{"slack", true}}) {
    heads.push_back(head);
  }
  if (columns.cuda) heads.push_back({"kernel.cu"});
  if (columns.ttgir) heads.push_back({"TTGIR"});
  open_table(out, heads);
  for (const Operation& op : facts.ops) print_operation(op, columns, out);
  close_table(out);
  out.leaf("p", {{"class", "note"}},
           "Stage: so many intervals after its iteration began, at that cycle of the interval. "
           "Slack: cycles by which the op could be later, all others as they are, until a reader "
           "would get its result too late.");
  if (columns.cuda || columns.ttgir) {
    out.leaf("p", {{"class", "note"}},
             "Lines of a printed kernel are those at which work of the op begins, one for each "
             "part of the loop that has it.");
  }
  print_module(facts, out);
  out.close("section");
}

void print_changes(const Facts& facts, Markup& out) {
  if (!facts.changes) return;
  const Changes& changes = *facts.changes;
  open_section(out, "changes", changes.question);
  out.leaf("p", {}, changes.answer);
  if (!changes.core.empty()) {
    out.open("ul", {{"class", "core"}});
    for (const std::string& it : changes.core) out.leaf("li", {}, it);
    out.close("ul");
  }
  if (!changes.helps.empty()) {
    out.leaf("h3", {}, "What would make it faster, each alone");
    open_table(
        out,
        {{"change"}, {"from"}, {"to"}, {"II then", true}, {"buys", true}, {"%", true}, {"known"}});
    for (const Change& change : changes.helps) {
      print_change(change, change.interval + change.gain, out);
    }
    close_table(out);
  }
  print_list(out, "Changing any of these alone buys nothing", changes.useless);
  print_list(out, "Not decided within the work limit", changes.undecided);
  out.close("section");
}

void print_strategies(const Facts& facts, Markup& out) {
  if (facts.strategies.empty()) return;
  open_section(out, "strategies", "What others make of the loop");
  double most = 0;
  for (const Strategy& it : facts.strategies) most = std::max(most, it.simulated.value_or(0));
  open_table(out, {{"strategy"},
                   {"pool"},
                   {"II", true},
                   {"simulated", true},
                   {"ratio", true},
                   {"stages", true},
                   {"groups", true},
                   {"registers", true},
                   {"memory"}});
  for (const Strategy& it : facts.strategies) print_strategy(it, most, out);
  close_table(out);
  out.leaf("p", {{"class", "note"}},
           "All in the model, but what was measured: cycles of the loop alone, in a kernel of "
           "Twill's.");
  for (const Strategy& it : facts.strategies) {
    if (!it.note.empty()) out.leaf("p", {{"class", "note"}}, it.name + ": " + it.note);
  }
  out.close("section");
}

void print_waits(const Facts& facts, Markup& out) {
  if (facts.waits.empty()) return;
  open_section(out, "waits", "What roles wait for");
  open_table(out, {{"role"}, {"cycles of an iteration", true}, {"at and for"}});
  for (const Wait& wait : facts.waits) {
    out.open("tr");
    cell(out, wait.role);
    number_cell(out, wait.cycles);
    cell(out, wait.what);
    out.close("tr");
  }
  close_table(out);
  out.close("section");
}

void print_basis(const Facts& facts, Markup& out) {
  if (facts.proven.empty() && facts.assumptions.empty() && facts.warnings.empty()) return;
  open_section(out, "basis", "What is proven, and what is assumed");
  out.open("dl", {{"class", "facts"}});
  for (const auto& [what, text] : facts.proven) {
    out.leaf("dt", {}, what);
    out.leaf("dd", {}, text);
  }
  out.close("dl");
  if (!facts.warnings.empty()) {
    out.leaf("h3", {}, "Warnings");
    out.open("ul");
    for (const std::string& it : facts.warnings) out.leaf("li", {}, it);
    out.close("ul");
  }
  if (!facts.assumptions.empty()) {
    out.leaf("h3", {}, "Assumptions");
    out.open("ul");
    for (const std::string& it : facts.assumptions) out.leaf("li", {}, it);
    out.close("ul");
  }
  out.close("section");
}

}  // namespace twill::page
