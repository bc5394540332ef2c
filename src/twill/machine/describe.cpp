#include <fmt/format.h>
#include <fmt/ranges.h>

#include "twill/machine/machine.h"
#include "twill/support/text_table.h"

namespace twill::machine {
namespace {

using Align = TextTable::Align;

std::string figure(const Quantity& quantity) {
  return fmt::format("{:.6g} {}", quantity.value, quantity.unit);
}

std::string origin(const Quantity& quantity) {
  return fmt::format("{}: {}", quantity.measured ? "measured" : "not measured", quantity.source);
}

std::string numbers(const Description& machine) {
  TextTable table({Align::left, Align::left, Align::left}, 2);
  const auto add = [&](const char* name, const Quantity& quantity) {
    table.add({name, figure(quantity), origin(quantity)});
  };
  add("multiprocessors", machine.sm_count);
  add("clock", machine.clock_mhz);
  add("register file", machine.register_file);
  add("most registers", machine.registers_per_thread);
  add("overhead", machine.register_overhead);
  add("threads", machine.threads);
  add("named barriers", machine.named_barriers);
  add("mbarrier signal", machine.mbarrier_signal);
  add("named signal", machine.named_barrier_signal);
  add("sub-tile", machine.subtile_rows);
  if (machine.product_rows) add("rows of products", *machine.product_rows);
  add("load latency", machine.load_latency);
  for (const Memory& memory : machine.memories) add(memory.name.c_str(), memory.capacity);
  return table.to_string();
}

std::string resources(const Description& machine) {
  std::string text = "\nexclusive units\n";
  TextTable units({Align::left, Align::left}, 2);
  for (const Unit& unit : machine.units) units.add({unit.name, unit.about});
  text += units.to_string();
  text += "\nshared pipes, and the share of each that a streaming tensor core takes\n";
  TextTable pipes({Align::left, Align::right, Align::left}, 2);
  for (const Pipe& pipe : machine.pipes) {
    pipes.add({pipe.name, fmt::format("{:g}", pipe.tensor_share.value), pipe.about});
  }
  return text + pipes.to_string();
}

std::string levels(const Description& machine) {
  std::string text = "\nlevels of code, and the memories that each sees\n";
  TextTable table({Align::left, Align::left}, 2);
  for (const Processor& level : machine.processors) {
    table.add({level.name, fmt::format("{}", fmt::join(level.sees, ", "))});
  }
  return text + table.to_string();
}

std::string pools(const Description& machine) {
  std::string text =
      "\npools of warp groups (width in warps, registers per thread for tile data)\n";
  TextTable table({Align::left, Align::left, Align::left}, 2);
  for (const Pool& pool : machine.pools) {
    std::string groups;
    for (const PoolGroup& group : pool.groups) {
      groups += fmt::format("{}{}: {}w", groups.empty() ? "" : ", ", group.name, group.warps);
      if (group.registers > 0) {
        groups += fmt::format(" {}{}r", group.shares ? "up to " : "", group.registers);
      }
    }
    table.add({pool.name, groups, pool.about + (pool.last_resort ? " (last resort)" : "")});
  }
  return text + table.to_string();
}

std::string condition(const Term& term) {
  std::string text;
  if (!term.form.empty()) text += " " + term.form;
  if (term.bits > 0) text += fmt::format(" up to {} bits", term.bits);
  if (term.m_at_most > 0) text += fmt::format(" M up to {}", term.m_at_most);
  if (term.split_rows) text += " split rows";
  return text.empty() ? text : text.substr(1);
}

std::string target_of(const Description& machine, const Term& term) {
  switch (term.on) {
    case Term::On::occupancy:
      return "occupancy";
    case Term::On::latency:
      return "latency";
    case Term::On::issue:
      return "issue";
    case Term::On::serial:
      return "serial";
    case Term::On::pipe:
      break;
  }
  return machine.pipes[term.pipe].name;
}

std::string rules(const Description& machine) {
  std::string text = "\ntile operations\n";
  TextTable table({Align::left, Align::left, Align::left, Align::left, Align::left}, 2);
  for (const CostRule& rule : machine.operations) {
    std::string name = rule.kind;
    for (const Term& term : rule.terms) {
      table.add({name, target_of(machine, term), figure(term.figure), condition(term),
                 term.figure.measured ? "measured" : "not measured"});
      name.clear();
    }
    if (rule.terms.empty()) table.add({name, "free"});
    for (const std::string& other : rule.alternatives) table.add({"", "or", other});
  }
  return text + table.to_string();
}

}  // namespace

std::string describe(const Machine& machine) {
  std::string text = fmt::format("{} ({}): {}\n\n", machine->name, machine->target, machine->about);
  text += numbers(*machine);
  text += resources(*machine);
  text += levels(*machine);
  text += pools(*machine);
  text += rules(*machine);
  return text;
}

}  // namespace twill::machine
