#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "twill/page/graph.h"
#include "twill/page/markup.h"
#include "twill/page/print.h"

/// Graph of dependences and roles, on the page and as files of their own.
namespace twill::page {
namespace {

constexpr int kColumn = 190;  ///< pixels of a role's column
constexpr int kNodeRow = 44;
constexpr int kNodeWidth = 132;
constexpr int kNodeHeight = 28;
constexpr int kTop = 34;  ///< room for the names of roles

int left_of(const Graph::Node& node) {
  return static_cast<int>(node.column) * kColumn + (kColumn - kNodeWidth) / 2;
}
int top_of_node(const Graph::Node& node) { return kTop + static_cast<int>(node.row) * kNodeRow; }

/// Curve from one side of a node to the same side of another, `out` pixels away from them.
std::string bow(int x1, int y1, int x2, int y2, int out) {
  return fmt::format("M{} {}C{} {} {} {} {} {}", x1, y1, x1 + out, y1, x2 + out, y2, x2, y2);
}

/// Path of an edge: down to a node below, left around nodes of its column, or right and up to a
/// later iteration.
std::string path_of(const Graph& graph, const Graph::Edge& edge) {
  const Graph::Node& from = graph.nodes[edge.from];
  const Graph::Node& to = graph.nodes[edge.to];
  const int half = kNodeHeight / 2;
  const int y1 = top_of_node(from) + kNodeHeight;
  const int y2 = top_of_node(to);
  if (y2 <= y1) {
    const int apart = edge.from == edge.to ? half / 2 : 0;
    return bow(left_of(from) + kNodeWidth, y1 - half + apart, left_of(to) + kNodeWidth,
               y2 + half - apart, 24);
  }
  if (from.column == to.column && to.row > from.row + 1) {
    const int reach = std::min(24, 10 + 2 * static_cast<int>(to.row - from.row));
    return bow(left_of(from), y1 - half, left_of(to), y2 + half, -reach);
  }
  const int x1 = left_of(from) + kNodeWidth / 2;
  const int x2 = left_of(to) + kNodeWidth / 2;
  const int down = std::max(14, (y2 - y1) / 2);
  return fmt::format("M{} {}C{} {} {} {} {} {}", x1, y1, x1, y1 + down, x2, y2 - down, x2, y2);
}

void print_node(const Facts& facts, const Graph::Node& node, Markup& out) {
  const Operation& op = facts.ops[node.op];
  const std::string x = std::to_string(left_of(node));
  const std::string y = std::to_string(top_of_node(node));
  out.open("g", {{"class", "bar node " + colour(node.column)}, {"data-op", op.name}});
  out.leaf("title", {},
           fmt::format("{} in {}: stage {}, cycle {}", op.name, op.group, op.stage, op.slot));
  out.empty("rect", {{"class", "ground"},
                     {"x", x},
                     {"y", y},
                     {"width", std::to_string(kNodeWidth)},
                     {"height", std::to_string(kNodeHeight)},
                     {"rx", "5"}});
  out.empty("rect", {{"class", "fill"},
                     {"x", x},
                     {"y", y},
                     {"width", std::to_string(kNodeWidth)},
                     {"height", std::to_string(kNodeHeight)},
                     {"rx", "5"}});
  out.leaf("text",
           {{"x", std::to_string(left_of(node) + kNodeWidth / 2)},
            {"y", std::to_string(top_of_node(node) + 18)},
            {"text-anchor", "middle"}},
           op.name);
  out.close("g");
}

void print_edge(const Facts& facts, const Graph::Edge& edge, Markup& out) {
  const Graph& graph = facts.graph;
  std::string look = "edge";
  if (edge.distance > 0) look += " later";
  if (edge.crosses) look += " crosses";
  out.open("g", {{"class", look}});
  out.leaf("title", {},
           fmt::format("{} to {}{}{}", facts.ops[graph.nodes[edge.from].op].name,
                       facts.ops[graph.nodes[edge.to].op].name,
                       edge.distance > 0 ? fmt::format(", {} iterations later", edge.distance) : "",
                       edge.carries_value ? "" : ", order only"));
  out.empty("path", {{"d", path_of(graph, edge)}, {"marker-end", "url(#tip)"}});
  out.close("g");
}

void print_roles(const Facts& facts, Markup& out) {
  const Graph& graph = facts.graph;
  for (std::size_t i = 0; i < graph.roles.size(); ++i) {
    out.leaf("text",
             {{"class", "role " + colour(i)},
              {"x", std::to_string(static_cast<int>(i) * kColumn + kColumn / 2)},
              {"y", "18"},
              {"text-anchor", "middle"}},
             graph.roles[i]);
  }
  for (const Graph::Edge& edge : graph.edges) print_edge(facts, edge, out);
  for (const Graph::Node& node : graph.nodes) print_node(facts, node, out);
}

int width_of(const Graph& graph) { return static_cast<int>(graph.roles.size()) * kColumn; }

int height_of(const Graph& graph) {
  std::size_t rows = 0;
  for (const Graph::Node& node : graph.nodes) rows = std::max(rows, node.row + 1);
  return kTop + static_cast<int>(rows) * kNodeRow;
}

/// Quotes a name for Graphviz.
std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

// Number of colours in Graphviz's scheme "set39" (Brewer): pale, so that black names are legible.
constexpr int kDotColours = 9;

/// Style of the graph as a file of its own, without the style of the page.
constexpr const char* kGraphStyle =
    "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1d1c1a}"
    ".role{font-weight:600}.c0{--c:#3d62c4}.c1{--c:#2f9a58}.c2{--c:#d9822b}.c3{--c:#9353c9}"
    ".c4{--c:#c93f5f}.c5{--c:#1698a5}.c6{--c:#8a6a3c}.c7{--c:#6f7d8c}.c8{--c:#b4a018}"
    ".c9{--c:#d160ab}.fill{fill:var(--c);fill-opacity:.34;stroke:var(--c)}"
    ".edge path{fill:none;stroke:#66625c}.crosses path{stroke:#1d1c1a;stroke-width:1.6}"
    ".later path{stroke-dasharray:5 4}.tip{fill:#66625c}.ground{fill:#fff}";

}  // namespace

void print_graph(const Facts& facts, Markup& out) {
  if (facts.graph.nodes.empty()) return;
  open_section(out, "roles", "Who does what");
  out.open("div", {{"class", "scroll"}});
  const std::string width = std::to_string(width_of(facts.graph));
  const std::string height = std::to_string(height_of(facts.graph));
  out.open("svg", {{"class", "graph"},
                   {"role", "img"},
                   {"aria-label", "dependences of the ops, in a column for each role"},
                   {"width", width},
                   {"height", height},
                   {"viewBox", fmt::format("0 0 {} {}", width, height)}});
  print_roles(facts, out);
  out.close("svg");
  out.close("div");
  out.leaf("p", {{"class", "detail"}, {"aria-live", "polite"}},
           "Point at an op or an edge, or tap it.");
  out.leaf("p", {{"class", "note"}},
           "Ops of one iteration by role, in the order of their issue, with what each needs: "
           "bold, from another role; dashed, from an earlier iteration.");
  out.close("section");
}

std::string roles_svg(const Facts& facts) {
  const std::string width = std::to_string(width_of(facts.graph));
  const std::string height = std::to_string(height_of(facts.graph));
  Markup out;
  out.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                   {"width", width},
                   {"height", height},
                   {"viewBox", fmt::format("0 0 {} {}", width, height)}});
  out.leaf("title", {}, facts.name + ": roles");
  out.open("style");
  out.verbatim(kGraphStyle);
  out.close("style");
  out.verbatim(
      "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
      "markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" d=\"M0 0.8 8 4 0 "
      "7.2z\"/></marker></defs>\n");
  out.empty("rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "#fff"}});
  print_roles(facts, out);
  out.close("svg");
  return out.str();
}

std::string roles_dot(const Facts& facts) {
  const Graph& graph = facts.graph;
  std::string out = "digraph " + quoted(facts.name) + " {\n";
  out += "  node [shape=box, style=\"filled,rounded\", colorscheme=set39, fontname=monospace];\n";
  for (std::size_t i = 0; i < graph.roles.size(); ++i) {
    out += fmt::format("  subgraph \"cluster_{}\" {{\n    label={};\n", i, quoted(graph.roles[i]));
    for (const Graph::Node& node : graph.nodes) {
      if (node.column != i) continue;
      const Operation& op = facts.ops[node.op];
      out += fmt::format("    {} [fillcolor={}, tooltip=\"stage {}, cycle {}\"];\n",
                         quoted(op.name), i % kDotColours + 1, op.stage, op.slot);
    }
    out += "  }\n";
  }
  for (const Graph::Edge& edge : graph.edges) {
    out += fmt::format("  {} -> {}", quoted(facts.ops[graph.nodes[edge.from].op].name),
                       quoted(facts.ops[graph.nodes[edge.to].op].name));
    if (edge.distance > 0) {
      out += fmt::format(" [style=dashed, label=\"{}\", constraint=false]", edge.distance);
    } else if (edge.crosses) {
      out += " [style=bold]";
    }
    out += ";\n";
  }
  return out + "}\n";
}

}  // namespace twill::page
