#include <array>

#include "twill/machine/json_node.h"
#include "twill/machine/machine.h"
#include "twill/machine/read_operations.h"
#include "twill/machine/read_parts.h"
#include "twill/machine/read_pools.h"
#include "twill/machine/read_processors.h"
#include "twill/support/sha256.h"
#include "twill/support/spelling.h"

namespace twill::machine {
namespace {

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
  TWILL_TRY(machine.pools, read_pools(root, machine));
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
