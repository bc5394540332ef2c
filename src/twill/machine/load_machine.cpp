#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "twill/machine/json_node.h"
#include "twill/machine/machine.h"
#include "twill/machine/read_processors.h"
#include "twill/machine/sharing.h"
#include "twill/support/sha256.h"
#include "twill/support/spelling.h"

namespace twill::machine {
namespace {

constexpr double kLargest = 1e12;
constexpr double kLeastRate = 1e-6;  ///< per cycle: its inverse is a number of cycles
constexpr int kLeastRegisters = 24;  ///< that setmaxnreg may set

std::vector<std::string_view> names_of(const auto& values) {
  std::vector<std::string_view> names;
  for (const auto& value : values) names.push_back(value.name);
  return names;
}

/// A name that problem texts can spell: letters, digits and '_', a letter first.
Result<std::string> name_in(const JsonNode& node) {
  TWILL_TRY(const JsonNode member, node.at("name"));
  TWILL_TRY(std::string name, member.text());
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || name.size() > 60 || !letter(name[0]) ||
      !std::all_of(name.begin(), name.end(), follows)) {
    return member.expected("a name of letters, digits and '_', a letter first");
  }
  return name;
}

Result<std::string> text_in(const JsonNode& node, std::string_view member) {
  TWILL_TRY(const JsonNode child, node.at(member));
  return child.text();
}

Result<void> unique(const JsonNode& list, const std::vector<std::string_view>& names) {
  std::set<std::string_view> seen;
  for (const std::string_view name : names) {
    if (!seen.insert(name).second) return list.wrong(fmt::format("'{}' occurs twice", name));
  }
  return {};
}

/// {"value": 2048, "unit": "bytes", "source": "key of /sources"}
Result<Quantity> quantity(const JsonNode& node, double least, double most) {
  TWILL_TRY(const JsonNode value, node.at("value"));
  TWILL_TRY(const JsonNode source, node.at("source"));
  Quantity result;
  TWILL_TRY(result.value, value.number(least, most));
  TWILL_TRY(result.unit, text_in(node, "unit"));
  TWILL_TRY(result.source, source.text());
  const auto& sources = node.document().sources;
  const auto found = sources.find(result.source);
  if (found == sources.end()) return source.wrong("no such key in /sources");
  result.measured = found->second.measured;
  result.source = found->second.text;
  return result;
}

Result<Quantity> plain_quantity(const JsonNode& parent, std::string_view member,
                                std::string_view unit, double least, double most) {
  TWILL_TRY(const JsonNode node, parent.at(member));
  TWILL_TRY_VOID(node.only({"value", "unit", "source"}));
  TWILL_TRY(Quantity result, quantity(node, least, most));
  if (result.unit != unit) {
    return node.wrong(
        fmt::format("expected the unit \"{}\", found {}", unit, in_quotes(result.unit)));
  }
  return result;
}

Result<void> read_sources(const JsonNode& root, Document& document) {
  TWILL_TRY(const JsonNode sources, root.at("sources"));
  TWILL_TRY(const auto nodes, sources.members());
  for (const JsonNode& node : nodes) {
    TWILL_TRY_VOID(node.only({"text", "measured"}));
    TWILL_TRY(const JsonNode measured, node.at("measured"));
    Document::Source source;
    TWILL_TRY(source.measured, measured.flag());
    TWILL_TRY(source.text, text_in(node, "text"));
    document.sources.emplace(node.name(), std::move(source));
  }
  return {};
}

Result<std::vector<Unit>> read_units(const JsonNode& root) {
  TWILL_TRY(const JsonNode list, root.at("units"));
  TWILL_TRY(const auto nodes, list.items());
  std::vector<Unit> units;
  for (const JsonNode& node : nodes) {
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

Result<std::vector<Pipe>> read_pipes(const JsonNode& root) {
  TWILL_TRY(const JsonNode list, root.at("pipes"));
  TWILL_TRY(const auto nodes, list.items());
  std::vector<Pipe> pipes;
  for (const JsonNode& node : nodes) {
    TWILL_TRY_VOID(node.only({"name", "about", "port", "tensor_share"}));
    TWILL_TRY(const JsonNode port, node.at("port"));
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

Result<std::vector<Memory>> read_memories(const JsonNode& root) {
  TWILL_TRY(const JsonNode list, root.at("memories"));
  TWILL_TRY(const auto nodes, list.items());
  std::vector<Memory> memories;
  for (const JsonNode& node : nodes) {
    TWILL_TRY_VOID(node.only({"name", "capacity"}));
    TWILL_TRY(const JsonNode capacity, node.at("capacity"));
    Memory memory;
    TWILL_TRY(memory.name, name_in(node));
    TWILL_TRY(memory.capacity, quantity(capacity, 1, 1e9));
    memories.push_back(std::move(memory));
  }
  TWILL_TRY_VOID(unique(list, names_of(memories)));
  return memories;
}

/// The meaning of a term's unit: "cycle", "cycle/element", "element/cycle".
struct PerUnit {
  Term::Per per = Term::Per::op;
  bool rate = false;
};

Result<PerUnit> per_unit(const JsonNode& node, std::string_view unit) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "op", "element", "row", "byte", "flop", "a_byte", "b_byte", "b_byte_row"};
  if (unit == "cycle") return PerUnit{};
  for (std::size_t i = 1; i < kWords.size(); ++i) {
    const auto per = static_cast<Term::Per>(i);
    if (unit == fmt::format("{}/cycle", kWords[i])) return PerUnit{per, true};
    if (unit == fmt::format("cycle/{}", kWords[i])) return PerUnit{per, false};
  }
  TWILL_TRY(const JsonNode member, node.at("unit"));
  return member.wrong(
      fmt::format("expected \"cycle\", \"cycle/X\" or \"X/cycle\" where X is one of "
                  "{}; found {}",
                  fmt::join(kWords.begin() + 1, kWords.end(), ", "), in_quotes(unit)));
}

Result<void> read_target(const JsonNode& node, const std::vector<Pipe>& pipes, Term& term) {
  std::vector<std::string_view> words = {"occupancy", "latency", "issue", "serial"};
  for (const Pipe& pipe : pipes) words.push_back(pipe.name);
  TWILL_TRY(const JsonNode on, node.at("on"));
  TWILL_TRY(const std::size_t index, on.one_of(words));
  constexpr std::size_t kFixed = 4;
  term.on = index < kFixed ? static_cast<Term::On>(index) : Term::On::pipe;
  term.pipe = index < kFixed ? 0 : index - kFixed;
  return {};
}

/// Where a product's operands A and B are read from: shared memory, registers, tensor memory. B in
/// registers is never read from there (extract/contract_product.cpp).
constexpr std::array<std::string_view, 6> kForms = {"SS", "RS", "TS", "ST", "RT", "TT"};

/// A flag that may be left out: then it is not set.
Result<bool> flag_in(const JsonNode& node, std::string_view key) {
  const auto flag = node.find(key);
  return flag ? flag->flag() : Result<bool>(false);
}

Result<void> read_conditions(const JsonNode& node, Term& term) {
  if (const auto form = node.find("form")) {
    TWILL_TRY(const std::size_t index, form->one_of(kForms));
    term.form = kForms[index];
  }
  if (const auto bits = node.find("bits")) {
    TWILL_TRY(term.bits, bits->integer(1, 1024));
  }
  if (const auto rows = node.find("m_at_most")) {
    TWILL_TRY(term.m_at_most, rows->integer(1, 1 << 20));
  }
  TWILL_TRY(term.split_rows, flag_in(node, "split_rows"));
  return {};
}

Result<Term> read_term(const JsonNode& node, const std::vector<Pipe>& pipes) {
  TWILL_TRY_VOID(node.only(
      {"on", "value", "slow", "unit", "source", "form", "bits", "m_at_most", "split_rows"}));
  Term term;
  TWILL_TRY_VOID(read_target(node, pipes, term));
  TWILL_TRY(term.figure, quantity(node, 0, kLargest));
  TWILL_TRY(const PerUnit per, per_unit(node, term.figure.unit));
  const auto cycles = [&](double value) { return per.rate ? 1 / value : value; };
  if (per.rate && term.figure.value < kLeastRate) {
    TWILL_TRY(const JsonNode value, node.at("value"));
    return value.wrong(
        fmt::format("a rate is at least {}, found {}", kLeastRate, term.figure.value));
  }
  term.per = per.per;
  term.cycles = cycles(term.figure.value);
  term.slow_cycles = term.cycles;
  if (const auto slow = node.find("slow")) {
    TWILL_TRY(const double value, slow->number(per.rate ? kLeastRate : 0, kLargest));
    term.slow_cycles = cycles(value);
    if (term.slow_cycles < term.cycles) return slow->wrong("faster than \"value\"");
  }
  TWILL_TRY_VOID(read_conditions(node, term));
  return term;
}

Result<CostRule> read_rule(const JsonNode& node, const Description& machine) {
  TWILL_TRY_VOID(node.only({"about", "unit", "asynchronous", "variable_latency", "terms", "or"}));
  CostRule rule;
  rule.kind = node.name();
  TWILL_TRY(rule.about, text_in(node, "about"));
  if (const auto unit = node.find("unit")) {
    TWILL_TRY(rule.unit, unit->one_of(names_of(machine.units)));
  }
  TWILL_TRY(rule.asynchronous, flag_in(node, "asynchronous"));
  TWILL_TRY(rule.variable_latency, flag_in(node, "variable_latency"));
  if (rule.unit && !rule.asynchronous) {
    return node.wrong("work on an exclusive unit is asynchronous: say \"asynchronous\": true");
  }
  if (const auto list = node.find("or")) {
    TWILL_TRY(const auto names, list->items());
    for (const JsonNode& name : names) {
      TWILL_TRY(rule.alternatives.emplace_back(), name.text());
    }
  }
  TWILL_TRY(const JsonNode terms, node.at("terms"));
  TWILL_TRY(const auto nodes, terms.items());
  for (const JsonNode& term : nodes) {
    TWILL_TRY(rule.terms.emplace_back(), read_term(term, machine.pipes));
    if (rule.terms.back().on == Term::On::occupancy && !rule.unit) {
      return term.wrong("only work on a \"unit\" has an occupancy");
    }
  }
  return rule;
}

/// Alternatives must be synchronous: for asynchronous work, the waiting groups depend on the kind.
Result<void> check_alternatives(const JsonNode& list, const std::vector<CostRule>& rules) {
  const auto plain = [](const CostRule& rule) {
    return !rule.unit && !rule.asynchronous && !rule.variable_latency;
  };
  for (const CostRule& rule : rules) {
    if (rule.alternatives.empty()) continue;
    TWILL_TRY(const JsonNode node, list.at(rule.kind));
    TWILL_TRY(const JsonNode names, node.at("or"));
    for (const std::string& name : rule.alternatives) {
      const auto other = std::find_if(rules.begin(), rules.end(),
                                      [&](const CostRule& it) { return it.kind == name; });
      if (other == rules.end()) return names.wrong("there is no operation '" + name + "'");
      if (!plain(rule) || !plain(*other)) {
        return names.wrong("alternatives are of synchronous work without a unit");
      }
      if (!other->alternatives.empty()) {
        return names.wrong("'" + name + "' has alternatives itself");
      }
    }
  }
  return {};
}

Result<std::vector<CostRule>> read_operations(const JsonNode& root, const Description& machine) {
  TWILL_TRY(const JsonNode list, root.at("operations"));
  TWILL_TRY(const auto nodes, list.members());
  std::vector<CostRule> rules;
  for (const JsonNode& node : nodes) {
    TWILL_TRY(rules.emplace_back(), read_rule(node, machine));
  }
  for (const char* kind : {"default", "mma", "smem_store", "smem_load"}) {
    if (!list.find(kind)) return list.wrong(fmt::format("the operation \"{}\" is missing", kind));
  }
  TWILL_TRY_VOID(check_alternatives(list, rules));
  std::sort(rules.begin(), rules.end(),
            [](const CostRule& a, const CostRule& b) { return a.kind < b.kind; });
  return rules;
}

/// Range of a warpgroup's setmaxnreg: least equals most unless its group shares registers.
struct RegisterRange {
  int least = 0;
  int most = 0;
  bool shares = false;
};

Result<RegisterRange> read_range(const JsonNode& node, const Description& machine) {
  const auto read = [&](const JsonNode& limit) -> Result<int> {
    TWILL_TRY(const int value,
              limit.integer(kLeastRegisters, static_cast<int>(machine.registers_per_thread.value)));
    if (value % kRegisterStep != 0) return limit.expected("a multiple of 8");
    return value;
  };
  if (!node.find("least") && !node.find("most")) {
    TWILL_TRY(const int value, read(node));
    return RegisterRange{value, value, false};
  }
  TWILL_TRY_VOID(node.only({"least", "most"}));
  TWILL_TRY(const JsonNode least, node.at("least"));
  TWILL_TRY(const JsonNode most, node.at("most"));
  RegisterRange range{0, 0, true};
  TWILL_TRY(range.least, read(least));
  TWILL_TRY(range.most, read(most));
  if (range.least > range.most) return most.wrong("it is below the least");
  return range;
}

Result<PoolGroup> read_group(const JsonNode& node, const RegisterRange& range, int overhead) {
  TWILL_TRY_VOID(node.only({"name", "warps", "loads"}));
  TWILL_TRY(const JsonNode warps, node.at("warps"));
  PoolGroup group;
  TWILL_TRY(group.name, name_in(node));
  TWILL_TRY(group.warps, warps.integer(1, 32));
  if (group.warps > kWarpsPerWarpgroup && group.warps % kWarpsPerWarpgroup != 0) {
    return warps.wrong("a group of more than 4 warps has whole warpgroups: 8, 12, ...");
  }
  group.registers = std::max(0, range.most - overhead);
  group.shares = range.shares;
  TWILL_TRY(group.loads, flag_in(node, "loads"));
  if (group.shares && (group.loads || group.warps != kWarpsPerWarpgroup)) {
    return node.wrong("registers are shared by compute groups of 4 warps",
                      "give its warpgroup one value of setmaxnreg");
  }
  return group;
}

Result<void> read_warpgroup(const JsonNode& node, const Description& machine, Pool& pool) {
  TWILL_TRY_VOID(node.only({"setmaxnreg", "groups"}));
  TWILL_TRY(const JsonNode limit, node.at("setmaxnreg"));
  TWILL_TRY(const RegisterRange range, read_range(limit, machine));
  TWILL_TRY(const JsonNode groups, node.at("groups"));
  TWILL_TRY(const auto nodes, groups.items());
  int warps = 0;
  for (const JsonNode& group : nodes) {
    TWILL_TRY(pool.groups.emplace_back(),
              read_group(group, range, static_cast<int>(machine.register_overhead.value)));
    warps += pool.groups.back().warps;
  }
  if (warps > kWarpsPerWarpgroup && nodes.size() > 1) {
    return groups.wrong("a hardware warpgroup has 4 warps, and one group alone may have several");
  }
  const int warpgroups = std::max(1, warps / kWarpsPerWarpgroup);
  pool.setmaxnreg.insert(pool.setmaxnreg.end(), static_cast<std::size_t>(warpgroups), range.least);
  if (!range.shares) return {};
  const SharedRegisters shared{0, range.least, range.most};
  if (pool.shared.most > 0 && pool.shared != shared) {
    return limit.wrong("groups that share registers have the same least and the same most");
  }
  pool.shared = shared;
  return {};
}

Result<Pool> read_pool(const JsonNode& node, const Description& machine) {
  TWILL_TRY_VOID(node.only({"name", "about", "last_resort", "warpgroups"}));
  Pool pool;
  TWILL_TRY(pool.name, text_in(node, "name"));
  TWILL_TRY(pool.about, text_in(node, "about"));
  TWILL_TRY(pool.last_resort, flag_in(node, "last_resort"));
  TWILL_TRY(const JsonNode list, node.at("warpgroups"));
  TWILL_TRY(const auto nodes, list.items());
  for (const JsonNode& warpgroup : nodes) {
    TWILL_TRY_VOID(read_warpgroup(warpgroup, machine, pool));
  }
  TWILL_TRY_VOID(unique(list, names_of(pool.groups)));
  const int warpgroups = static_cast<int>(pool.setmaxnreg.size());
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
  const auto sharing = std::count_if(pool.groups.begin(), pool.groups.end(),
                                     [](const PoolGroup& it) { return it.shares; });
  if (sharing == 1) return list.wrong("a single group shares registers: at least two must");
  share_registers(pool, most);
  return pool;
}

Result<void> read_numbers(const JsonNode& root, Description& machine) {
  TWILL_TRY(const JsonNode node, root.at("numbers"));
  TWILL_TRY_VOID(
      node.only({"sm_count", "clock", "register_file", "registers_per_thread", "register_overhead",
                 "threads", "named_barriers", "mbarrier_signal", "named_barrier_signal",
                 "subtile_rows", "product_rows", "load_latency"}));
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
  if (node.find("product_rows")) {
    TWILL_TRY_VOID(read(machine.product_rows.emplace(), "product_rows", "rows", 1, 1e6));
  }
  return read(machine.load_latency, "load_latency", "cycle", 0, 1e6);
}

Result<void> read_goals(const JsonNode& root, Description& machine) {
  static constexpr std::array<std::string_view, 3> kObjectives = {"groups", "crossings", "length"};
  TWILL_TRY(const JsonNode list, root.at("objectives"));
  TWILL_TRY(const auto nodes, list.items());
  for (const JsonNode& node : nodes) {
    TWILL_TRY(const std::size_t index, node.one_of(kObjectives));
    machine.objectives.emplace_back(kObjectives[index]);
  }
  TWILL_TRY_VOID(unique(list, {machine.objectives.begin(), machine.objectives.end()}));
  TWILL_TRY(const JsonNode groups, root.at("minimum_compute_groups"));
  TWILL_TRY(machine.minimum_compute_groups, groups.integer(1, 32));
  return {};
}

Result<void> read_pools(const JsonNode& root, Description& machine) {
  TWILL_TRY(const JsonNode list, root.at("pools"));
  TWILL_TRY(const auto nodes, list.items());
  for (const JsonNode& node : nodes) {
    TWILL_TRY(machine.pools.emplace_back(), read_pool(node, machine));
  }
  if (machine.pools.empty()) return list.wrong("a machine has at least one pool");
  return unique(list, names_of(machine.pools));
}

Result<Description> read_description(const JsonNode& root) {
  TWILL_TRY_VOID(root.only({"name", "about", "target", "measured", "sources", "numbers", "units",
                            "tensor_unit", "pipes", "issue_pipe", "memories", "processors", "pools",
                            "objectives", "minimum_compute_groups", "operations"}));
  Description machine;
  TWILL_TRY(machine.name, name_in(root));
  TWILL_TRY(machine.about, text_in(root, "about"));
  TWILL_TRY(machine.target, text_in(root, "target"));
  TWILL_TRY(const JsonNode measured, root.at("measured"));
  TWILL_TRY(machine.measured, measured.flag());
  TWILL_TRY_VOID(read_numbers(root, machine));
  TWILL_TRY(machine.units, read_units(root));
  TWILL_TRY(const JsonNode tensor_unit, root.at("tensor_unit"));
  TWILL_TRY(machine.tensor_unit, tensor_unit.one_of(names_of(machine.units)));
  TWILL_TRY(machine.pipes, read_pipes(root));
  TWILL_TRY(const JsonNode issue_pipe, root.at("issue_pipe"));
  TWILL_TRY(machine.issue_pipe, issue_pipe.one_of(names_of(machine.pipes)));
  TWILL_TRY(machine.memories, read_memories(root));
  TWILL_TRY(machine.processors, read_processors(root));
  TWILL_TRY(machine.operations, read_operations(root, machine));
  TWILL_TRY_VOID(read_pools(root, machine));
  TWILL_TRY_VOID(read_goals(root, machine));
  return machine;
}

}  // namespace

Result<Machine> load_machine(std::string_view text, std::string_view file) {
  Document document{text, std::string(file), {}, {}};
  TWILL_TRY(document.root, parse_json(text, document.file));
  const JsonNode root(document);
  TWILL_TRY_VOID(read_sources(root, document));
  TWILL_TRY(Description description, read_description(root));
  description.digest = sha256(text);
  return Machine(std::move(description));
}

}  // namespace twill::machine
