#include "twill/gate/code.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "twill/gate/flow.h"

namespace twill::gate {
namespace {

bool is(const Instruction& instruction, std::string_view opcode) {
  const std::string_view text = instruction.opcode;
  return text.starts_with(opcode) && (text.size() == opcode.size() || text[opcode.size()] == '.');
}

bool has_modifier(const Instruction& instruction, std::string_view modifier) {
  const std::string_view text = instruction.opcode;
  const std::size_t at = text.find(modifier);
  const std::size_t end = at + modifier.size();
  return at != std::string_view::npos && (end == text.size() || text[end] == '.');
}

int number_at(std::string_view text, std::size_t at) {
  int value = -1;
  std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

/// The register of an operand: 24 for "R24", "-R24", "[R24.64+0x10]" or "R24.reuse"; -1 for others.
int register_of(std::string_view operand) {
  for (std::size_t i = 0; i + 1 < operand.size(); ++i) {
    const bool starts = i == 0 || std::isalnum(static_cast<unsigned char>(operand[i - 1])) == 0;
    const bool digit = std::isdigit(static_cast<unsigned char>(operand[i + 1])) != 0;
    if (operand[i] == 'R' && starts && digit) return number_at(operand, i + 1);
  }
  return -1;
}

/// Number of registers that operand `index` takes. Exact for wgmma, which has the largest operands;
/// for others, the width by the modifiers of the value that is loaded, stored or computed.
int width_of(const Instruction& instruction, std::size_t index) {
  if (is(instruction, "HGMMA")) {
    const std::size_t columns = instruction.opcode.find('x');
    const bool is_half = has_modifier(instruction, ".F16");
    if (index == 0 || index > 1) {
      return number_at(instruction.opcode, columns + 1) / (is_half ? 4 : 2);
    }
    return 4;
  }
  const bool loads = instruction.opcode.starts_with("LD");
  const bool stores = instruction.opcode.starts_with("ST");
  const bool is_value = stores ? index + 1 == instruction.operands.size() : index == 0;
  if (!is_value) return 1;
  if ((loads || stores) && has_modifier(instruction, ".128")) return 4;
  if ((loads || stores) && has_modifier(instruction, ".64")) return 2;
  return has_modifier(instruction, ".WIDE") ? 2 : 1;
}

int highest_register(const Instruction& instruction) {
  int highest = -1;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const int first = register_of(instruction.operands[i]);
    if (first >= 0) highest = std::max(highest, first + width_of(instruction, i) - 1);
  }
  return highest;
}

int last_number(const Instruction& instruction) {
  if (instruction.operands.empty()) return 0;
  std::string_view last = instruction.operands.back();
  int value = 0;
  const bool hex = last.starts_with("0x");
  if (hex) last.remove_prefix(2);
  std::from_chars(last.data(), last.data() + last.size(), value, hex ? 16 : 10);
  return value;
}

/// Whether this is a product: an HGMMA without operands closes an empty batch and does not count. A
/// batch is empty, too, where ptxas dropped its products since no instruction reads the result.
bool is_product(const Instruction& instruction) {
  return is(instruction, "HGMMA") && !instruction.operands.empty() &&
         instruction.operands.front() != "RZ";
}
bool is_wait(const Instruction& instruction) { return is(instruction, "WARPGROUP.DEPBAR"); }
bool is_exponential(const Instruction& instruction) { return is(instruction, "MUFU.EX2"); }

LoopCode loop_code(const SassFunction& function, const Flow& flow,
                   const std::vector<std::size_t>& body) {
  LoopCode loop;
  loop.address = function.instructions[flow.order[body.front()]].address;
  Wait wait;
  for (const std::size_t position : body) {
    const Instruction& instruction = function.instructions[flow.order[position]];
    wait.products += is_product(instruction) ? 1 : 0;
    wait.exponentials += is_exponential(instruction) ? 1 : 0;
    if (!is_wait(instruction)) continue;
    wait.pending = last_number(instruction);
    loop.waits.push_back(wait);
    wait = {};
  }
  loop.products_after = wait.products;
  loop.exponentials_after = wait.exponentials;
  return loop;
}

/// Innermost loops that contain products.
std::vector<LoopCode> loops_with_products(const SassFunction& function, const Flow& flow) {
  std::vector<std::vector<std::size_t>> bodies = loops_of(flow);
  std::erase_if(bodies, [&](const std::vector<std::size_t>& body) {
    return std::none_of(body.begin(), body.end(), [&](std::size_t position) {
      return is_product(function.instructions[flow.order[position]]);
    });
  });
  std::vector<LoopCode> loops;
  for (const std::vector<std::size_t>& body : bodies) {
    const bool has_inner =
        std::any_of(bodies.begin(), bodies.end(), [&](const std::vector<std::size_t>& other) {
          return other.size() < body.size() &&
                 std::includes(body.begin(), body.end(), other.begin(), other.end());
        });
    if (!has_inner) loops.push_back(loop_code(function, flow, body));
  }
  std::sort(loops.begin(), loops.end(),
            [](const LoopCode& a, const LoopCode& b) { return a.address < b.address; });
  return loops;
}

RoleCode role_from(const SassFunction& function, std::size_t first) {
  const Flow flow = flow_from(function, first);
  const Instruction& start = function.instructions[first];
  RoleCode role;
  if (is(start, "USETMAXREG")) {
    role.registers = last_number(start);
    role.raises = is(start, "USETMAXREG.TRY_ALLOC");
  }
  for (const std::size_t i : flow.order) {
    const Instruction& instruction = function.instructions[i];
    role.highest_register = std::max(role.highest_register, highest_register(instruction));
    role.products += is_product(instruction) ? 1 : 0;
    role.batches += is(instruction, "WARPGROUP.ARRIVE") ? 1 : 0;
    role.waits += is_wait(instruction) ? 1 : 0;
    role.exponentials += is_exponential(instruction) ? 1 : 0;
    role.local += is(instruction, "LDL") || is(instruction, "STL") ? 1 : 0;
  }
  role.loops = loops_with_products(function, flow);
  return role;
}

void refuse_role(const RoleCode& role, const std::string& name, std::vector<std::string>& reasons) {
  if (role.local > 0) {
    reasons.push_back(fmt::format("{} loads or stores local memory {} times", name, role.local));
  }
  if (role.batches > 0 && role.products == 0) {
    reasons.push_back(name + " has batches of wgmma without a product: nothing reads their result");
  }
  if (role.registers > 0 && role.highest_register >= role.registers) {
    reasons.push_back(fmt::format("{} uses R{} and has {} registers", name, role.highest_register,
                                  role.registers));
  }
}

}  // namespace

FunctionCode code_of(const SassFunction& function) {
  FunctionCode code;
  code.name = function.name;
  if (function.instructions.empty()) return code;
  code.entry = role_from(function, 0);
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    if (is(function.instructions[i], "USETMAXREG")) code.roles.push_back(role_from(function, i));
  }
  return code;
}

std::vector<std::string> refusals(const FunctionCode& code) {
  std::vector<std::string> reasons;
  refuse_role(code.entry, fmt::format("{}, before its roles,", code.name), reasons);
  for (std::size_t i = 0; i < code.roles.size(); ++i) {
    refuse_role(code.roles[i], fmt::format("{}, role {} of its code,", code.name, i), reasons);
  }
  return reasons;
}

std::vector<std::string> shortfalls(const LoopCode& planned, const LoopCode& found) {
  const std::string where = fmt::format("the loop at {:#x}", found.address);
  if (planned.waits.size() != found.waits.size()) {
    return {fmt::format("{} has {} waits for wgmma, the plan {}", where, found.waits.size(),
                        planned.waits.size())};
  }
  std::vector<std::string> reasons;
  int planned_exponentials = 0;
  int exponentials = 0;
  for (std::size_t i = 0; i < planned.waits.size(); ++i) {
    const Wait& want = planned.waits[i];
    const Wait& have = found.waits[i];
    planned_exponentials += want.exponentials;
    exponentials += have.exponentials;
    if (want.pending != have.pending || want.products != have.products) {
      reasons.push_back(fmt::format(
          "wait {} of {} leaves {} batches in flight, after {} products; the plan {} after {}",
          i + 1, where, have.pending, have.products, want.pending, want.products));
    }
    if (exponentials < planned_exponentials) {
      reasons.push_back(fmt::format("wait {} of {} follows {} exponentials, in the plan {}", i + 1,
                                    where, exponentials, planned_exponentials));
    }
  }
  return reasons;
}

}  // namespace twill::gate
