#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// All contents of a page as plain values: names, numbers, and sentences that other rooms wrote. An
/// empty or missing part has no section on the page. Times are cycles of one SM.
namespace twill::page {

/// Basis of a figure.
enum class Basis { proven, simulated, model, measured };

/// One figure of the strip at the top, in cycles of an iteration.
struct Figure {
  std::string who;  ///< owner: "no schedule is faster", "Twill", "Triton", "yours"
  double cycles = 0;
  Basis basis = Basis::simulated;
  std::string note;  ///< its exact meaning, one sentence
};

/// Part of the distance from the bound to the plan.
struct GapPart {
  std::string what;
  double cycles = 0;
};

/// Op of the loop.
struct Operation {
  std::string name;
  std::size_t resource = 0;  ///< index into Facts::resources
  std::string group;
  std::int64_t stage = 0;
  std::int64_t slot = 0;
  std::optional<std::int64_t> slack;  ///< cycles by which it could be later, with all other ops in
                                      ///< place
  std::vector<std::string> sources;   ///< operations of the text that the op stands for
  std::string line;                   ///< line of the user's source; may be empty
  std::vector<int> cuda;              ///< lines of the printed kernel.cu
  std::vector<int> ttgir;             ///< lines of Facts::ttgir
};

/// Dependences of the loop, with a column for each role, as in Figure 9 of the Twill paper.
struct Graph {
  struct Node {
    std::size_t op = 0;  ///< index into Facts::ops
    std::size_t column = 0;
    std::size_t row = 0;  ///< below every predecessor in its iteration; each op of a column has a
                          ///< row of its own
  };
  struct Edge {
    std::size_t from = 0;  ///< index of a node, like `to`
    std::size_t to = 0;
    int distance = 0;      ///< iterations
    bool crosses = false;  ///< from one role to another
    bool carries_value = true;
  };
  std::vector<std::string> roles;  ///< by column
  std::vector<Node> nodes;         ///< by op
  std::vector<Edge> edges;
};

/// Stretch of a lane: an op at work, or a wait.
struct Bar {
  double begin = 0;
  double end = 0;
  std::string label;
  std::vector<std::string> details;  ///< shown on a closer look, a line each
  std::optional<std::size_t> op;     ///< index into Facts::ops
  bool waits = false;
  int iteration = 0;    ///< relative to the chart's iteration
  bool before = false;  ///< began before the chart
  bool beyond = false;  ///< ends after the chart
};

struct Lane {
  std::string name;
  std::string note;  ///< "unit, 88 % busy", "4 warps, 148 registers"
  bool unit = false;
  std::vector<Bar> bars;
};

/// Order of two bars: the second begins when the first has ended.
struct Arrow {
  std::size_t from = 0;  ///< index of a lane, like `to`
  double begin = 0;
  std::size_t to = 0;
  double end = 0;
  std::string label;
  double slack = 0;  ///< cycles by which the end could have come later
};

struct Chart {
  std::string id;  ///< "steady-state", "schedule": unique on the page
  std::string title;
  std::string caption;
  double length = 0;    ///< cycles that the chart shows
  double interval = 0;  ///< a line is drawn after each interval
  std::vector<Lane> lanes;
  std::vector<Arrow> arrows;
};

/// Unit or pipe, and the ops that fill an interval of it.
struct Fill {
  std::string name;
  bool unit = false;
  double total = 0;
  std::vector<std::pair<std::size_t, double>> parts;  ///< op and cycles; the most cycles first
};

/// Contents of a memory, or of the registers of a group, over an interval.
struct Level {
  struct Step {
    double begin = 0;
    double end = 0;
    double amount = 0;
  };
  struct Layer {
    std::string name;
    std::string note;               ///< "ring of 3", "one copy, then two"
    std::optional<std::size_t> op;  ///< nullopt: reserved for the whole loop
    std::vector<Step> steps;        ///< by time, from 0 to `interval`
  };
  std::string name;
  std::string unit;  ///< "bytes", "columns", "registers per thread"
  double capacity = 0;
  double peak = 0;
  double interval = 0;
  std::vector<Layer> layers;  ///< from the bottom
};

/// Change that would help.
struct Change {
  std::string what;
  std::string from;
  std::string to;
  double interval = 0;  ///< II that becomes possible
  double gain = 0;      ///< cycles; 0 where there was no schedule before
  std::string known;    ///< strength of the claim: "least change, proven", ...
  bool of_op = false;
};

struct Changes {
  std::string question;           ///< "why not an II of 2063 cycles?"
  std::string answer;             ///< "impossible, proven", in a sentence
  std::vector<std::string> core;  ///< reasons why it is impossible, a sentence each
  std::vector<Change> helps;
  std::vector<std::string> useless;
  std::vector<std::string> undecided;
};

/// Strategy of a comparison.
struct Strategy {
  std::string name;
  std::string pool;
  std::string what;  ///< meaning in a line
  std::optional<double> interval;
  std::optional<double> simulated;
  std::optional<double> ratio;  ///< ratio to Twill's figure
  std::string stages, groups, registers, memory;
  std::string note;
};

/// Waits of a role in its steady state.
struct Wait {
  std::string role;
  double cycles = 0;  ///< cycles of an iteration
  std::string what;
};

/// Plan as a module of TTGIR.
struct PrintedModule {
  std::string text;                ///< empty: no module is printed
  std::vector<std::string> notes;  ///< the result, or the reason why there is none; a sentence each
};

struct Facts {
  std::string command;  ///< "twill schedule"
  std::string name;     ///< name of the loop
  std::string headline;
  std::string verdict;                                     ///< the proven result, a sentence
  std::vector<std::pair<std::string, std::string>> about;  ///< "machine": "h200"
  std::vector<Figure> figures;
  std::vector<GapPart> gap;  ///< parts between the proven bound and Twill's figure, which add up to
                             ///< their distance
  std::string gap_note;
  std::string no_triton;               ///< reason for a missing figure of Triton; empty if the user
                                       ///< did not ask
  std::vector<std::string> resources;  ///< units and pipes by which ops are coloured
  std::vector<Operation> ops;
  PrintedModule ttgir;
  double interval = 0;  ///< interval of which the fills are shares
  std::vector<Fill> fills;
  std::vector<Chart> charts;
  Graph graph;
  std::vector<Wait> waits;
  std::vector<Level> levels;
  std::optional<Changes> changes;
  std::vector<Strategy> strategies;
  std::vector<std::pair<std::string, std::string>> proven;  ///< claim and basis
  std::vector<std::string> assumptions;
  std::vector<std::string> warnings;
};

}  // namespace twill::page
