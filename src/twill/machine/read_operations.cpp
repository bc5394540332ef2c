#include "twill/machine/read_operations.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "twill/machine/read_parts.h"
#include "twill/support/spelling.h"

namespace twill::machine {
namespace {

constexpr double kLargest = 1e12;
constexpr double kLeastRate = 1e-6;  ///< per cycle: its inverse is a number of cycles

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

/// Sources of a product's operands A and B: shared memory, registers, tensor memory. B is never
/// read from registers (extract/contract_product.cpp).
constexpr std::array<std::string_view, 6> kForms = {"SS", "RS", "TS", "ST", "RT", "TT"};

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
        return names.wrong("alternatives are allowed only for synchronous work without a unit");
      }
      if (!other->alternatives.empty()) {
        return names.wrong("'" + name + "' has alternatives itself");
      }
    }
  }
  return {};
}

}  // namespace

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

}  // namespace twill::machine
