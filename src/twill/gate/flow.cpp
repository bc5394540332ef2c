#include "twill/gate/flow.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace twill::gate {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

std::string_view base_of(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  return opcode.substr(0, opcode.find('.'));
}

/// Whether execution may continue at the next instruction.
bool falls_through(const Instruction& instruction) {
  if (!instruction.guard.empty()) return true;
  const std::string_view base = base_of(instruction);
  if (base == "BRA") return instruction.operands.size() > 1;  // BRA.DIV and BRA.U have a condition
  return base != "EXIT" && base != "RET" && base != "JMP" && !base.starts_with("BRX") &&
         !base.starts_with("JMX");
}

std::vector<std::vector<std::size_t>> successors(const SassFunction& function) {
  const std::vector<Instruction>& code = function.instructions;
  std::vector<std::vector<std::size_t>> next(code.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (falls_through(code[i]) && i + 1 < code.size()) next[i].push_back(i + 1);
    if (!code[i].target) continue;
    const auto target = std::lower_bound(
        code.begin(), code.end(), *code[i].target,
        [](const Instruction& one, std::uint32_t address) { return one.address < address; });
    if (target != code.end() && target->address == *code[i].target) {
      next[i].push_back(static_cast<std::size_t>(target - code.begin()));
    }
  }
  return next;
}

/// Reverse postorder from `first`, without recursion.
std::vector<std::size_t> ordered(const std::vector<std::vector<std::size_t>>& next,
                                 std::size_t first) {
  std::vector<std::size_t> order;
  std::vector<bool> seen(next.size(), false);
  std::vector<std::pair<std::size_t, std::size_t>> path = {
      {first, 0}};  // each instruction with the index of its next branch
  seen[first] = true;
  while (!path.empty()) {
    auto& [at, branch] = path.back();
    if (branch == next[at].size()) {
      order.push_back(at);
      path.pop_back();
      continue;
    }
    // The jump before the fall-through, so that the fall-through follows directly in the order.
    const std::size_t to = next[at][next[at].size() - 1 - branch++];
    if (!seen[to]) {
      seen[to] = true;
      path.emplace_back(to, 0);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/// A flow whose nodes are positions in its order.
struct Positions {
  std::vector<std::vector<std::size_t>> before;  ///< predecessors
  std::vector<std::size_t> dominator;  ///< the immediate dominator; of the first position, itself
};

std::size_t common_dominator(const std::vector<std::size_t>& dominator, std::size_t a,
                             std::size_t b) {
  while (a != b) {
    if (a > b) {
      a = dominator[a];
    } else {
      b = dominator[b];
    }
  }
  return a;
}

/// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
Positions positions_of(const Flow& flow) {
  std::vector<std::size_t> position(flow.next.size(), kNone);
  for (std::size_t i = 0; i < flow.order.size(); ++i) position[flow.order[i]] = i;
  Positions result;
  result.before.resize(flow.order.size());
  result.dominator.assign(flow.order.size(), kNone);
  for (std::size_t i = 0; i < flow.order.size(); ++i) {
    for (const std::size_t to : flow.next[flow.order[i]]) result.before[position[to]].push_back(i);
  }
  result.dominator[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 1; i < flow.order.size(); ++i) {
      std::size_t found = kNone;
      for (const std::size_t from : result.before[i]) {
        if (result.dominator[from] == kNone) continue;
        found = found == kNone ? from : common_dominator(result.dominator, found, from);
      }
      changed = changed || found != result.dominator[i];
      result.dominator[i] = found;
    }
  }
  return result;
}

bool dominates(const Positions& positions, std::size_t head, std::size_t at) {
  while (at > head) at = positions.dominator[at];
  return at == head;
}

/// Marks instructions that reach `tail` without passing the head, which is marked already.
void mark_body(const Positions& positions, std::size_t tail, std::vector<bool>& in_body) {
  std::vector<std::size_t> todo = {tail};
  while (!todo.empty()) {
    const std::size_t at = todo.back();
    todo.pop_back();
    if (in_body[at]) continue;
    in_body[at] = true;
    todo.insert(todo.end(), positions.before[at].begin(), positions.before[at].end());
  }
}

}  // namespace

Flow flow_from(const SassFunction& function, std::size_t first) {
  Flow flow;
  flow.next = successors(function);
  const auto is_other_role = [&](std::size_t i) {
    return i != first && base_of(function.instructions[i]) == "USETMAXREG";
  };
  for (std::vector<std::size_t>& next : flow.next) std::erase_if(next, is_other_role);
  flow.order = ordered(flow.next, first);
  std::vector<bool> reached(flow.next.size(), false);
  for (const std::size_t i : flow.order) reached[i] = true;
  for (std::size_t i = 0; i < flow.next.size(); ++i) {
    if (!reached[i]) flow.next[i].clear();
  }
  return flow;
}

std::vector<std::vector<std::size_t>> loops_of(const Flow& flow) {
  const Positions positions = positions_of(flow);
  std::vector<std::vector<std::size_t>> loops;
  for (std::size_t head = 0; head < flow.order.size(); ++head) {
    std::vector<bool> in_body(flow.order.size(), false);
    in_body[head] = true;
    bool is_loop = false;
    for (const std::size_t tail : positions.before[head]) {
      if (tail < head || !dominates(positions, head, tail)) continue;
      is_loop = true;
      mark_body(positions, tail, in_body);
    }
    if (!is_loop) continue;
    loops.emplace_back();
    for (std::size_t i = 0; i < in_body.size(); ++i) {
      if (in_body[i]) loops.back().push_back(i);
    }
  }
  return loops;
}

}  // namespace twill::gate
