#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "twill/machine/machine.h"

namespace twill::machine {
namespace {

/// The tensor core and the groups are each guaranteed this share of a pipe that both want
/// (docs/decisions/0004-shared-pipes.md).
constexpr double kGuaranteedShare = 0.5;

/// Sums over the terms of one op, before they are rounded.
struct Sums {
  std::vector<double> demand;  ///< by pipe: cycles of the whole pipe
  std::vector<double> held;    ///< by pipe: cycles one group needs on it
  double occupancy = 0;
  double latency = 0;
  double issue = 0;
  double serial = 0;
};

double amount_of(const Work& work, Term::Per per) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const double bytes_per_element = work.bits / 8.0;
  switch (per) {
    case Term::Per::op:
      return 1;
    case Term::Per::element:
      return number(work.elements);
    case Term::Per::row:
      return number(work.rows) * work.parts_of_row;
    case Term::Per::byte:
      return number(work.bytes);
    case Term::Per::flop:
      return 2 * number(work.m) * number(work.n) * number(work.k);
    case Term::Per::a_byte:
      return number(work.m) * number(work.k) * bytes_per_element;
    case Term::Per::b_byte:
      return number(work.n) * number(work.k) * bytes_per_element;
    case Term::Per::b_byte_row:
      return number(work.m) * number(work.n) * number(work.k) * bytes_per_element;
  }
  return 0;
}

/// The smallest element size that the rule states and `bits` fit in. Returns 0 if the rule states
/// no size, and no value if all stated sizes are smaller.
std::optional<int> stated_bits(const CostRule& rule, int bits) {
  constexpr int kNone = std::numeric_limits<int>::max();
  int best = kNone;
  bool stated = false;
  for (const Term& term : rule.terms) {
    if (term.bits == 0) continue;
    stated = true;
    if (term.bits >= bits) best = std::min(best, term.bits);
  }
  if (!stated) return 0;
  if (best == kNone) return std::nullopt;
  return best;
}

bool applies(const Term& term, const Work& work, int bits) {
  return (term.form.empty() || term.form == work.form) && (term.bits == 0 || term.bits == bits) &&
         (term.m_at_most == 0 || work.m <= term.m_at_most) &&
         (!term.split_rows || work.parts_of_row > 1);
}

/// Cycles that a group needs for `demand` cycles of a pipe while the tensor core streams.
double beside_tensor_core(const Pipe& pipe, double demand) {
  return demand / (1 - std::min(pipe.tensor_share.value, kGuaranteedShare));
}

void add_term(const Machine& machine, const Term& term, double amount, Rate rate, Sums& sums) {
  const bool slow = rate == Rate::slowest;
  const double cycles = (slow ? term.slow_cycles : term.cycles) * amount;
  switch (term.on) {
    case Term::On::occupancy:
      sums.occupancy += cycles;
      return;
    case Term::On::latency:
      sums.latency += cycles;
      return;
    case Term::On::issue:
      sums.issue += cycles;
      return;
    case Term::On::serial:
      sums.serial += cycles;
      return;
    case Term::On::pipe:
      break;
  }
  const double demand = term.cycles * amount;
  const double beside = beside_tensor_core(machine.pipes()[term.pipe], demand);
  sums.demand[term.pipe] += demand;
  sums.held[term.pipe] += slow ? std::max(cycles, beside) : demand;
}

Result<const CostRule*> add_work(const Machine& machine, const Work& work, Rate rate, Sums& sums) {
  const CostRule* rule = machine.rule_for(work.kind);
  if (rule == nullptr) rule = machine.rule_for("default");
  const auto bits = stated_bits(*rule, work.bits);
  if (!bits) {
    return fail({}, fmt::format("{} has no rate for '{}' on elements of {} bits", machine->name,
                                work.kind, work.bits));
  }
  for (const Term& term : rule->terms) {
    if (applies(term, work, *bits)) {
      add_term(machine, term, amount_of(work, term.per), rate, sums);
    }
  }
  return rule;
}

/// Adds the demand that the tensor core itself makes on the pipes while it works.
void add_tensor_share(const Machine& machine, Sums& sums) {
  const auto pipes = machine.pipes();
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    sums.demand[i] += pipes[i].tensor_share.value * sums.occupancy;
  }
}

/// Cycles for which the pipes hold one group: those of its most loaded pipe if no other work
/// competes. Beside a streaming tensor core one group's pipes no longer overlap, and several groups
/// share each pipe.
double held_by_pipes(const Machine& machine, const Sums& sums, Rate rate, int compute_groups) {
  double longest = 0;
  double total = 0;
  for (std::size_t i = 0; i < sums.held.size(); ++i) {
    longest = std::max(longest, sums.held[i]);
    if (!machine.pipes()[i].port) total += sums.held[i];
  }
  if (rate == Rate::fastest) return longest;
  return std::max(total, longest * compute_groups);
}

Cycles rounded(double cycles, Rate rate) {
  constexpr double kSlack = 1e-6;  // sums of rates such as 1/3 are not exact
  const double whole =
      rate == Rate::fastest ? std::floor(cycles + kSlack) : std::ceil(cycles - kSlack);
  return static_cast<Cycles>(std::min(whole, 1e15));
}

void set_times(const Machine& machine, const Sums& sums, Rate rate, int compute_groups,
               Cost& cost) {
  if (cost.unit) cost.occupancy = std::max<Cycles>(1, rounded(sums.occupancy, rate));
  if (cost.asynchronous) {
    const double start = std::max(sums.occupancy, sums.issue);
    cost.issue = rounded(sums.issue, rate);
    cost.latency = rounded(start + sums.latency, rate);
    return;
  }
  const double held = held_by_pipes(machine, sums, rate, compute_groups);
  const double whole = std::max(held + sums.serial, sums.issue);
  const double slots = std::max(sums.demand[machine->issue_pipe], sums.issue);
  cost.issue = rounded(rate == Rate::fastest ? slots : whole, rate);
  cost.latency = rounded(whole + sums.latency, rate);
}

}  // namespace

Result<Cost> price(const Machine& machine, std::span<const Work> work, Rate rate,
                   int compute_groups) {
  Sums sums;
  sums.demand.resize(machine.pipes().size());
  sums.held.resize(machine.pipes().size());
  Cost cost;
  for (const Work& one : work) {
    TWILL_TRY(const CostRule* rule, add_work(machine, one, rate, sums));
    if (rule->unit && cost.unit && *rule->unit != *cost.unit) {
      return fail({}, fmt::format("'{}' cannot be one op with work on another unit", one.kind));
    }
    if (rule->unit) cost.unit = rule->unit;
    cost.asynchronous = cost.asynchronous || rule->asynchronous;
    cost.variable_latency = cost.variable_latency || rule->variable_latency;
    cost.defaulted = cost.defaulted || rule->kind != one.kind;
  }
  if (cost.unit == machine->tensor_unit) add_tensor_share(machine, sums);
  set_times(machine, sums, rate, std::max(compute_groups, 1), cost);
  for (std::size_t i = 0; i < sums.demand.size(); ++i) {
    const Cycles demand = rounded(sums.demand[i], Rate::fastest);
    if (demand > 0) cost.pipes.push_back({i, demand});
  }
  return cost;
}

Result<Cost> price(const Machine& machine, const Work& work, Rate rate, int compute_groups) {
  return price(machine, std::span(&work, 1), rate, compute_groups);
}

std::vector<Choice> choices_of(const Machine& machine, std::vector<Work> works) {
  std::vector<Choice> choices = {{"", works}};
  std::vector<std::string> seen;
  for (const Work& work : works) {
    const CostRule* rule = machine.rule_for(work.kind);
    const bool known = std::find(seen.begin(), seen.end(), work.kind) != seen.end();
    if (rule == nullptr || rule->alternatives.empty() || known) continue;
    seen.push_back(work.kind);
    choices.front().name = seen.front();
    for (const std::string& other : rule->alternatives) {
      Choice choice{other, works};
      for (Work& each : choice.works) {
        if (each.kind == work.kind) each.kind = other;
      }
      choices.push_back(std::move(choice));
    }
  }
  return choices;
}

Result<Cycles> transfer(const Machine& machine, std::int64_t bytes, Rate rate, int compute_groups) {
  Cycles cycles = rounded(machine->named_barrier_signal.value, rate);
  if (bytes == 0) return cycles;
  for (const char* kind : {"smem_store", "smem_load"}) {
    Work work;
    work.kind = kind;
    work.bytes = bytes;
    TWILL_TRY(const Cost cost, price(machine, work, rate, compute_groups));
    cycles += cost.latency;
  }
  return cycles;
}

}  // namespace twill::machine
