#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "twill/machine/json_location.h"
#include "twill/machine/machine.h"
#include "twill/support/spelling.h"

namespace twill::machine {
namespace {

using Json = nlohmann::json;
using Names = std::span<const std::string_view>;

constexpr double kLargest = 1e12;

struct Document {
  std::string_view text;
  std::string file;
  Json root;
  std::map<std::string, bool, std::less<>> sources;  ///< key: was it measured?
  std::map<std::string, std::string, std::less<>> source_texts;
};

/// A value of the document that knows its way from the root, for messages.
class Node {
 public:
  explicit Node(const Document& document) : document_(&document), json_(&document.root) {}

  tl::unexpected<Diagnostic> wrong(std::string_view message, std::string hint = {}) const {
    std::string pointer;
    for (const std::string& segment : path_) pointer += "/" + segment;
    if (pointer.empty()) pointer = "the file";
    Diagnostic diagnostic;
    diagnostic.location = locate(document_->text, path_, document_->file);
    diagnostic.message = fmt::format("{}: {}", pointer, message);
    diagnostic.source_line =
        std::string(line_of(document_->text, diagnostic.location.line)).substr(0, 200);
    diagnostic.hint = std::move(hint);
    return tl::unexpected(std::move(diagnostic));
  }

  tl::unexpected<Diagnostic> expected(std::string_view what) const {
    std::string found = json_->is_primitive() ? json_->dump(-1, ' ', true, kReplace)
                        : json_->is_object()  ? "an object"
                                              : "an array";
    if (found.size() > 60) found = found.substr(0, 60) + "...";
    return wrong(fmt::format("expected {}, found {}", what, found));
  }

  std::optional<Node> find(std::string_view name) const {
    if (!json_->is_object()) return std::nullopt;
    const auto member = json_->find(name);
    if (member == json_->end()) return std::nullopt;
    return Node(*document_, *member, path_, std::string(name));
  }

  Result<Node> at(std::string_view name) const {
    if (!json_->is_object()) return expected("an object");
    if (auto node = find(name)) return *node;
    return wrong(fmt::format("the member \"{}\" is missing", name));
  }

  /// The elements of an array, or the members of an object with their names.
  Result<std::vector<Node>> items() const {
    if (!json_->is_array()) return expected("an array");
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < json_->size(); ++i) {
      nodes.push_back(Node(*document_, (*json_)[i], path_, std::to_string(i)));
    }
    return nodes;
  }
  Result<std::vector<Node>> members() const {
    if (!json_->is_object()) return expected("an object");
    std::vector<Node> nodes;
    for (const auto& [name, value] : json_->items()) {
      nodes.push_back(Node(*document_, value, path_, name));
    }
    return nodes;
  }
  const std::string& name() const { return path_.back(); }

  Result<void> only(std::initializer_list<std::string_view> names) const {
    TWILL_TRY(const auto nodes, members());
    const Names known(names.begin(), names.size());
    for (const Node& node : nodes) {
      if (std::find(known.begin(), known.end(), node.name()) == known.end()) {
        return node.wrong("unknown member", did_you_mean(node.name(), known));
      }
    }
    return {};
  }

  Result<std::string> text() const {
    if (!json_->is_string()) return expected("a string");
    return json_->get<std::string>();
  }
  Result<bool> flag() const {
    if (!json_->is_boolean()) return expected("true or false");
    return json_->get<bool>();
  }
  Result<double> number(double least, double most) const {
    const double value = json_->is_number() ? json_->get<double>() : -1;
    if (!json_->is_number() || !std::isfinite(value) || value < least || value > most) {
      return expected(fmt::format("a number from {:g} to {:g}", least, most));
    }
    return value;
  }
  Result<int> integer(int least, int most) const {
    const double value = json_->is_number_integer() ? json_->get<double>() : least - 1.0;
    if (value < least || value > most) {
      return expected(fmt::format("a whole number from {} to {}", least, most));
    }
    return static_cast<int>(value);
  }
  Result<std::size_t> one_of(Names names) const {
    TWILL_TRY(const std::string word, text());
    const auto found = std::find(names.begin(), names.end(), word);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    std::string hint = did_you_mean(word, names);
    return wrong(
        fmt::format("expected one of {}, found {}", fmt::join(names, ", "), in_quotes(word)),
        std::move(hint));
  }

  const Document& document() const { return *document_; }

 private:
  static constexpr auto kReplace = Json::error_handler_t::replace;

  Node(const Document& document, const Json& json, std::vector<std::string> path, std::string name)
      : document_(&document), json_(&json), path_(std::move(path)) {
    path_.push_back(std::move(name));
  }

  const Document* document_;
  const Json* json_;
  std::vector<std::string> path_;
};

std::vector<std::string_view> names_of(const auto& values) {
  std::vector<std::string_view> names;
  for (const auto& value : values) names.push_back(value.name);
  return names;
}

/// A name that problem texts can spell: letters, digits and '_', a letter first.
Result<std::string> name_in(const Node& node) {
  TWILL_TRY(const Node member, node.at("name"));
  TWILL_TRY(std::string name, member.text());
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || name.size() > 60 || !letter(name[0]) ||
      !std::all_of(name.begin(), name.end(), follows)) {
    return member.expected("a name of letters, digits and '_', a letter first");
  }
  return name;
}

Result<std::string> text_in(const Node& node, std::string_view member) {
  TWILL_TRY(const Node child, node.at(member));
  return child.text();
}

Result<void> unique(const Node& list, const std::vector<std::string_view>& names) {
  std::set<std::string_view> seen;
  for (const std::string_view name : names) {
    if (!seen.insert(name).second) return list.wrong(fmt::format("'{}' occurs twice", name));
  }
  return {};
}

/// {"value": 2048, "unit": "bytes", "source": "key of /sources"}
Result<Quantity> quantity(const Node& node, double least, double most) {
  TWILL_TRY(const Node value, node.at("value"));
  TWILL_TRY(const Node source, node.at("source"));
  Quantity result;
  TWILL_TRY(result.value, value.number(least, most));
  TWILL_TRY(result.unit, text_in(node, "unit"));
  TWILL_TRY(result.source, source.text());
  const auto& sources = node.document().sources;
  const auto found = sources.find(result.source);
  if (found == sources.end()) return source.wrong("no such key in /sources");
  result.measured = found->second;
  result.source = node.document().source_texts.find(result.source)->second;
  return result;
}

Result<Quantity> plain_quantity(const Node& parent, std::string_view member, std::string_view unit,
                                double least, double most) {
  TWILL_TRY(const Node node, parent.at(member));
  TWILL_TRY_VOID(node.only({"value", "unit", "source"}));
  TWILL_TRY(Quantity result, quantity(node, least, most));
  if (result.unit != unit) {
    return node.wrong(
        fmt::format("expected the unit \"{}\", found {}", unit, in_quotes(result.unit)));
  }
  return result;
}

Result<void> read_sources(const Node& root, Document& document) {
  TWILL_TRY(const Node sources, root.at("sources"));
  TWILL_TRY(const auto nodes, sources.members());
  for (const Node& node : nodes) {
    TWILL_TRY_VOID(node.only({"text", "measured"}));
    TWILL_TRY(const Node measured, node.at("measured"));
    TWILL_TRY(document.sources[node.name()], measured.flag());
    TWILL_TRY(document.source_texts[node.name()], text_in(node, "text"));
  }
  return {};
}

Result<std::vector<Unit>> read_units(const Node& root) {
  TWILL_TRY(const Node list, root.at("units"));
  TWILL_TRY(const auto nodes, list.items());
  std::vector<Unit> units;
  for (const Node& node : nodes) {
    TWILL_TRY_VOID(node.only({"name", "about"}));
    Unit unit;
    TWILL_TRY(unit.name, name_in(node));
    TWILL_TRY(unit.about, text_in(node, "about"));
    units.push_back(std::move(unit));
  }
  if (units.empty()) return list.wrong("a machine has at least one unit");
  TWILL_TRY_VOID(unique(list, names_of(units)));
  return units;
}

Result<std::vector<Pipe>> read_pipes(const Node& root) {
  TWILL_TRY(const Node list, root.at("pipes"));
  TWILL_TRY(const auto nodes, list.items());
  std::vector<Pipe> pipes;
  for (const Node& node : nodes) {
    TWILL_TRY_VOID(node.only({"name", "about", "port", "tensor_share"}));
    TWILL_TRY(const Node port, node.at("port"));
    Pipe pipe;
    TWILL_TRY(pipe.name, name_in(node));
    TWILL_TRY(pipe.about, text_in(node, "about"));
    TWILL_TRY(pipe.port, port.flag());
    TWILL_TRY(pipe.tensor_share, plain_quantity(node, "tensor_share", "share", 0, 1));
    pipes.push_back(std::move(pipe));
  }
  if (pipes.empty()) return list.wrong("a machine has at least one pipe");
  TWILL_TRY_VOID(unique(list, names_of(pipes)));
  return pipes;
}

Result<std::vector<Memory>> read_memories(const Node& root) {
  TWILL_TRY(const Node list, root.at("memories"));
  TWILL_TRY(const auto nodes, list.items());
  std::vector<Memory> memories;
  for (const Node& node : nodes) {
    TWILL_TRY_VOID(node.only({"name", "capacity"}));
    TWILL_TRY(const Node capacity, node.at("capacity"));
    Memory memory;
    TWILL_TRY(memory.name, name_in(node));
    TWILL_TRY(memory.capacity, quantity(capacity, 1, 1e9));
    memories.push_back(std::move(memory));
  }
  TWILL_TRY_VOID(unique(list, names_of(memories)));
  return memories;
}

/// What a term's unit says: "cycle", "cycle/element", "element/cycle".
struct PerUnit {
  Term::Per per = Term::Per::op;
  bool rate = false;
};

Result<PerUnit> per_unit(const Node& node, std::string_view unit) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "op", "element", "row", "byte", "flop", "a_byte", "b_byte", "b_byte_row"};
  if (unit == "cycle") return PerUnit{};
  for (std::size_t i = 1; i < kWords.size(); ++i) {
    const auto per = static_cast<Term::Per>(i);
    if (unit == fmt::format("{}/cycle", kWords[i])) return PerUnit{per, true};
    if (unit == fmt::format("cycle/{}", kWords[i])) return PerUnit{per, false};
  }
  TWILL_TRY(const Node member, node.at("unit"));
  return member.wrong(
      fmt::format("expected \"cycle\", \"cycle/X\" or \"X/cycle\" where X is one of "
                  "{}; found {}",
                  fmt::join(kWords.begin() + 1, kWords.end(), ", "), in_quotes(unit)));
}

Result<void> read_target(const Node& node, const std::vector<Pipe>& pipes, Term& term) {
  std::vector<std::string_view> words = {"occupancy", "latency", "issue", "serial"};
  for (const Pipe& pipe : pipes) words.push_back(pipe.name);
  TWILL_TRY(const Node on, node.at("on"));
  TWILL_TRY(const std::size_t index, on.one_of(words));
  constexpr std::size_t kFixed = 4;
  term.on = index < kFixed ? static_cast<Term::On>(index) : Term::On::pipe;
  term.pipe = index < kFixed ? 0 : index - kFixed;
  return {};
}

Result<void> read_conditions(const Node& node, Term& term) {
  if (const auto form = node.find("form")) {
    TWILL_TRY(term.form, form->text());
  }
  if (const auto bits = node.find("bits")) {
    TWILL_TRY(term.bits, bits->integer(1, 1024));
  }
  if (const auto rows = node.find("m_at_most")) {
    TWILL_TRY(term.m_at_most, rows->integer(1, 1 << 20));
  }
  return {};
}

Result<Term> read_term(const Node& node, const std::vector<Pipe>& pipes) {
  TWILL_TRY_VOID(node.only({"on", "value", "slow", "unit", "source", "form", "bits", "m_at_most"}));
  Term term;
  TWILL_TRY_VOID(read_target(node, pipes, term));
  TWILL_TRY(term.figure, quantity(node, 0, kLargest));
  TWILL_TRY(const PerUnit per, per_unit(node, term.figure.unit));
  const auto cycles = [&](double value) { return per.rate ? 1 / value : value; };
  if (per.rate && term.figure.value < 1e-6) {
    TWILL_TRY(const Node value, node.at("value"));
    return value.wrong("a rate is greater than 0");
  }
  term.per = per.per;
  term.cycles = cycles(term.figure.value);
  term.slow_cycles = term.cycles;
  if (const auto slow = node.find("slow")) {
    TWILL_TRY(const double value, slow->number(per.rate ? 1e-6 : 0, kLargest));
    term.slow_cycles = cycles(value);
    if (term.slow_cycles < term.cycles) return slow->wrong("faster than \"value\"");
  }
  TWILL_TRY_VOID(read_conditions(node, term));
  return term;
}

Result<CostRule> read_rule(const Node& node, const Description& machine) {
  TWILL_TRY_VOID(node.only({"about", "unit", "asynchronous", "variable_latency", "terms"}));
  CostRule rule;
  rule.kind = node.name();
  TWILL_TRY(rule.about, text_in(node, "about"));
  if (const auto unit = node.find("unit")) {
    TWILL_TRY(rule.unit, unit->one_of(names_of(machine.units)));
  }
  if (const auto flag = node.find("asynchronous")) {
    TWILL_TRY(rule.asynchronous, flag->flag());
  }
  if (const auto flag = node.find("variable_latency")) {
    TWILL_TRY(rule.variable_latency, flag->flag());
  }
  if (rule.unit && !rule.asynchronous) {
    return node.wrong("work on an exclusive unit is asynchronous: say \"asynchronous\": true");
  }
  TWILL_TRY(const Node terms, node.at("terms"));
  TWILL_TRY(const auto nodes, terms.items());
  for (const Node& term : nodes) {
    TWILL_TRY(rule.terms.emplace_back(), read_term(term, machine.pipes));
    if (rule.terms.back().on == Term::On::occupancy && !rule.unit) {
      return term.wrong("only work on a \"unit\" has an occupancy");
    }
  }
  return rule;
}

Result<std::vector<CostRule>> read_operations(const Node& root, const Description& machine) {
  TWILL_TRY(const Node list, root.at("operations"));
  TWILL_TRY(const auto nodes, list.members());
  std::vector<CostRule> rules;
  for (const Node& node : nodes) {
    TWILL_TRY(rules.emplace_back(), read_rule(node, machine));
  }
  for (const char* kind : {"default", "mma", "smem_store", "smem_load"}) {
    if (!list.find(kind)) return list.wrong(fmt::format("the operation \"{}\" is missing", kind));
  }
  std::sort(rules.begin(), rules.end(),
            [](const CostRule& a, const CostRule& b) { return a.kind < b.kind; });
  return rules;
}

Result<PoolGroup> read_group(const Node& node, int registers) {
  TWILL_TRY_VOID(node.only({"name", "warps", "loads"}));
  TWILL_TRY(const Node warps, node.at("warps"));
  PoolGroup group;
  TWILL_TRY(group.name, name_in(node));
  TWILL_TRY(group.warps, warps.integer(1, 4));
  group.registers = registers;
  if (const auto loads = node.find("loads")) {
    TWILL_TRY(group.loads, loads->flag());
  }
  return group;
}

Result<void> read_warpgroup(const Node& node, const Description& machine, Pool& pool) {
  TWILL_TRY_VOID(node.only({"setmaxnreg", "groups"}));
  TWILL_TRY(const Node limit, node.at("setmaxnreg"));
  TWILL_TRY(const int registers,
            limit.integer(24, static_cast<int>(machine.registers_per_thread.value)));
  if (registers % 8 != 0) return limit.expected("a multiple of 8");
  pool.setmaxnreg.push_back(registers);
  const int usable = std::max(0, registers - static_cast<int>(machine.register_overhead.value));
  TWILL_TRY(const Node groups, node.at("groups"));
  TWILL_TRY(const auto nodes, groups.items());
  int warps = 0;
  for (const Node& group : nodes) {
    TWILL_TRY(pool.groups.emplace_back(), read_group(group, usable));
    warps += pool.groups.back().warps;
  }
  if (warps > 4) return groups.wrong("a hardware warpgroup has 4 warps");
  return {};
}

Result<Pool> read_pool(const Node& node, const Description& machine) {
  TWILL_TRY_VOID(node.only({"name", "about", "warpgroups"}));
  Pool pool;
  TWILL_TRY(pool.name, text_in(node, "name"));
  TWILL_TRY(pool.about, text_in(node, "about"));
  TWILL_TRY(const Node list, node.at("warpgroups"));
  TWILL_TRY(const auto nodes, list.items());
  for (const Node& warpgroup : nodes) {
    TWILL_TRY_VOID(read_warpgroup(warpgroup, machine, pool));
  }
  TWILL_TRY_VOID(unique(list, names_of(pool.groups)));
  const int warpgroups = static_cast<int>(nodes.size());
  const int threads = 128 * warpgroups;
  if (warpgroups == 0 || threads > machine.threads.value) {
    return list.expected(fmt::format("1 to {:g} warpgroups", machine.threads.value / 128));
  }
  const int file = static_cast<int>(machine.register_file.value);
  const int most = warpgroups * (file / threads / 8 * 8);
  int sum = 0;
  for (const int registers : pool.setmaxnreg) sum += registers;
  if (sum > most) {
    return list.wrong(
        fmt::format("the setmaxnreg sum to {}, but a launch of {} threads has only {} "
                    "to hand out: setmaxnreg would wait forever",
                    sum, threads, most));
  }
  return pool;
}

Result<void> read_numbers(const Node& root, Description& machine) {
  TWILL_TRY(const Node node, root.at("numbers"));
  TWILL_TRY_VOID(node.only({"sm_count", "clock", "register_file", "registers_per_thread",
                            "register_overhead", "threads", "named_barriers", "mbarrier_signal",
                            "named_barrier_signal", "subtile_rows", "load_latency"}));
  const auto read = [&](Quantity& to, std::string_view name, std::string_view unit, double least,
                        double most) -> Result<void> {
    TWILL_TRY(to, plain_quantity(node, name, unit, least, most));
    return {};
  };
  TWILL_TRY_VOID(read(machine.sm_count, "sm_count", "SMs", 1, 1e6));
  TWILL_TRY_VOID(read(machine.clock_mhz, "clock", "MHz", 1, 1e6));
  TWILL_TRY_VOID(read(machine.register_file, "register_file", "registers", 1024, 1e7));
  TWILL_TRY_VOID(read(machine.registers_per_thread, "registers_per_thread", "registers", 24, 4096));
  TWILL_TRY_VOID(read(machine.register_overhead, "register_overhead", "registers", 0, 4096));
  TWILL_TRY_VOID(read(machine.threads, "threads", "threads", 128, 65536));
  TWILL_TRY_VOID(read(machine.named_barriers, "named_barriers", "barriers", 0, 1e6));
  TWILL_TRY_VOID(read(machine.mbarrier_signal, "mbarrier_signal", "cycle", 0, 1e6));
  TWILL_TRY_VOID(read(machine.named_barrier_signal, "named_barrier_signal", "cycle", 0, 1e6));
  TWILL_TRY_VOID(read(machine.subtile_rows, "subtile_rows", "rows", 1, 1e6));
  return read(machine.load_latency, "load_latency", "cycle", 0, 1e6);
}

Result<std::size_t> named_in(const Node& root, std::string_view member,
                             const std::vector<std::string_view>& names) {
  TWILL_TRY(const Node node, root.at(member));
  return node.one_of(names);
}

Result<void> read_goals(const Node& root, Description& machine) {
  static constexpr std::array<std::string_view, 3> kObjectives = {"groups", "crossings", "length"};
  TWILL_TRY(const Node list, root.at("objectives"));
  TWILL_TRY(const auto nodes, list.items());
  for (const Node& node : nodes) {
    TWILL_TRY(const std::size_t index, node.one_of(kObjectives));
    machine.objectives.emplace_back(kObjectives[index]);
  }
  TWILL_TRY_VOID(unique(list, {machine.objectives.begin(), machine.objectives.end()}));
  TWILL_TRY(const Node groups, root.at("minimum_compute_groups"));
  TWILL_TRY(machine.minimum_compute_groups, groups.integer(1, 32));
  return {};
}

Result<void> read_pools(const Node& root, Description& machine) {
  TWILL_TRY(const Node list, root.at("pools"));
  TWILL_TRY(const auto nodes, list.items());
  for (const Node& node : nodes) {
    TWILL_TRY(machine.pools.emplace_back(), read_pool(node, machine));
  }
  if (machine.pools.empty()) return list.wrong("a machine has at least one pool");
  return unique(list, names_of(machine.pools));
}

Result<Description> read_description(const Node& root) {
  TWILL_TRY_VOID(root.only({"name", "about", "target", "measured", "sources", "numbers", "units",
                            "tensor_unit", "pipes", "issue_pipe", "memories", "pools", "objectives",
                            "minimum_compute_groups", "operations"}));
  Description machine;
  TWILL_TRY(machine.name, name_in(root));
  TWILL_TRY(machine.about, text_in(root, "about"));
  TWILL_TRY(machine.target, text_in(root, "target"));
  TWILL_TRY(const Node measured, root.at("measured"));
  TWILL_TRY(machine.measured, measured.flag());
  TWILL_TRY_VOID(read_numbers(root, machine));
  TWILL_TRY(machine.units, read_units(root));
  TWILL_TRY(machine.tensor_unit, named_in(root, "tensor_unit", names_of(machine.units)));
  TWILL_TRY(machine.pipes, read_pipes(root));
  TWILL_TRY(machine.issue_pipe, named_in(root, "issue_pipe", names_of(machine.pipes)));
  TWILL_TRY(machine.memories, read_memories(root));
  TWILL_TRY(machine.operations, read_operations(root, machine));
  TWILL_TRY_VOID(read_pools(root, machine));
  TWILL_TRY_VOID(read_goals(root, machine));
  return machine;
}

tl::unexpected<Diagnostic> not_json(const Document& document, const Json::parse_error& error) {
  Diagnostic diagnostic;
  const std::size_t byte = error.byte > 0 ? error.byte - 1 : 0;
  diagnostic.location = location_at(document.text, byte, document.file);
  diagnostic.message = "not valid JSON here";
  diagnostic.source_line =
      std::string(line_of(document.text, diagnostic.location.line)).substr(0, 200);
  return tl::unexpected(std::move(diagnostic));
}

}  // namespace

Result<Machine> load_machine(std::string_view text, std::string_view file) {
  Document document{text, std::string(file), {}, {}, {}};
  try {
    document.root = Json::parse(text);
  } catch (const Json::parse_error& error) {
    return not_json(document, error);
  }
  const Node root(document);
  TWILL_TRY_VOID(read_sources(root, document));
  TWILL_TRY(Description description, read_description(root));
  return Machine(std::move(description));
}

}  // namespace twill::machine
