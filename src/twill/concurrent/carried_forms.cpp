#include <algorithm>
#include <set>

#include "twill/concurrent/forms.h"
#include "twill/ir/op_types.h"
#include "twill/ir/operands.h"
#include "twill/ir/passing.h"

/// Integers that loops carry: equal in loops that are alike, if their first values and their
/// recurrences are equal.
namespace twill::concurrent {
namespace {

using ir::OpKind;

constexpr std::size_t kMostRecurrences = 20'000;  ///< with more, values are told apart

/// The value by which a while loop decides whether to go on.
std::optional<ir::ValueId> condition_value(const ir::Program& program, const ir::Loop& loop) {
  const auto end = loop.before ? ir::terminator(program, *loop.before) : std::nullopt;
  if (!end || program.op(*end).operands.empty()) return std::nullopt;
  return program.op(*end).operands[0];
}

void add_sources_in_loop(const ir::Program& program, const ir::Loop& loop, ir::ValueId value,
                         std::vector<ir::ValueId>& sources) {
  bool is_result = loop.induction == value;
  for (const ir::Carried& it : loop.carried) {
    if (it.argument != value && it.result != value) continue;
    sources.push_back(it.init);
    sources.push_back(it.yielded);
    is_result = is_result || it.result == value;
  }
  for (const ir::Forwarded& it : loop.forwarded) {
    if (it.argument != value && it.result != value) continue;
    sources.push_back(it.passed);
    is_result = is_result || it.result == value;
  }
  if (!is_result) return;
  const auto end = end_of(program, loop);
  sources.insert(sources.end(), end.begin(), end.end());
}

}  // namespace

std::vector<ir::ValueId> end_of(const ir::Program& program, const ir::Loop& loop) {
  if (loop.induction) return {*loop.lower, *loop.upper, *loop.step};
  const auto condition = condition_value(program, loop);
  return condition ? std::vector{*condition} : std::vector<ir::ValueId>();
}

std::vector<ir::ValueId> sources_of(const ir::Program& program, ir::ValueId value) {
  if (const auto from = ir::captured(program, value)) return {*from};
  const ir::Value& known = program.value(value);
  const ir::OpId id = known.op ? *known.op : program.region(program.block(*known.block).region).op;
  const ir::Op& op = program.op(id);
  std::vector<ir::ValueId> sources;
  if (const auto loop = ir::as_loop(program, id)) {
    add_sources_in_loop(program, *loop, value, sources);
    return sources;
  }
  if (!known.op) return {};
  sources = op.operands;
  if (op.kind != OpKind::branch) return sources;
  for (std::size_t region = 0; region < op.regions.size(); ++region) {
    const auto block = ir::body(program, id, region);
    const auto end = block ? ir::terminator(program, *block) : std::nullopt;
    if (!end || known.index >= program.op(*end).operands.size()) continue;
    sources.push_back(program.op(*end).operands[known.index]);
  }
  return sources;
}

/// The carried values on which a value depends, by number. The order of the numbers follows from
/// the ops of the loop.
std::vector<std::size_t> Forms::carried_behind(const ir::Loop& loop, ir::ValueId value) const {
  std::vector<std::size_t> found;
  std::set<ir::ValueId> seen;
  std::vector<ir::ValueId> todo = {value};
  for (std::size_t next = 0; next < todo.size(); ++next) {
    if (!seen.insert(todo[next]).second) continue;
    const auto argument = std::ranges::find(loop.carried, todo[next], &ir::Carried::argument);
    if (argument != loop.carried.end()) {
      found.push_back(static_cast<std::size_t>(argument - loop.carried.begin()));
      todo.push_back(argument->yielded);
      continue;
    }
    for (const ir::ValueId source : sources_of(program_, todo[next])) todo.push_back(source);
  }
  return found;
}

/// Integers that ops and blocks in the loop define. Induction variables are left out: their forms
/// follow from their loops.
const std::vector<ir::ValueId>& Forms::values_inside(const ir::Loop& loop) {
  const auto [place, added] = inside_.try_emplace(loop.op);
  if (!added) return place->second;
  std::vector<ir::ValueId>& inside = place->second;
  for (const ir::OpId id : ir::walk(program_, loop.op)) {
    const ir::Op& op = program_.op(id);
    if (id != loop.op) inside.insert(inside.end(), op.results.begin(), op.results.end());
    const auto inner = ir::as_loop(program_, id);
    for (const ir::RegionId region : op.regions) {
      for (const ir::BlockId block : program_.region(region).blocks) {
        for (const ir::ValueId argument : program_.block(block).arguments) {
          const bool counts = inner && inner->induction == argument;
          if (!counts) inside.push_back(argument);
        }
      }
    }
  }
  return inside;
}

/// Text of a value's recurrence: the ops that compute the value in an iteration. Carried values
/// among the operands are described by their first values and their own recurrences. Two values
/// with equal texts are equal in every iteration.
std::string Forms::recurrence(const ir::Loop& loop, ir::ValueId value) {
  if (++recurrences_ > kMostRecurrences) return text(unique(value));
  const std::vector<std::size_t> behind = carried_behind(loop, value);
  std::string made;
  for (const std::size_t i : behind) made += text(of(loop.carried[i].init)) + " ";
  const auto before = memo_;
  const auto assumed_before = assumed_;
  for (const ir::ValueId open : computed_) {
    if (!assumed_.contains(open)) memo_.erase(open);
  }
  for (const ir::ValueId inside : values_inside(loop)) memo_.erase(inside);
  ++nested_;  // atoms of a loop within a loop differ
  std::size_t number = 0;
  for (const std::size_t i : behind) {
    const std::string key = "self " + std::to_string(nested_) + " " + std::to_string(number++);
    memo_[loop.carried[i].argument] = known_by(key, loop.carried[i].argument, true);
    assumed_.insert(loop.carried[i].argument);
  }
  for (const std::size_t i : behind) made += text(of(loop.carried[i].yielded)) + " ";
  made += text(of(value));
  assumed_ = assumed_before;
  --nested_;
  memo_ = before;
  return made;
}

std::string Forms::condition_of(const ir::Loop& loop) {
  const auto condition = condition_value(program_, loop);
  return condition ? recurrence(loop, *condition) : "none";
}

/// Text of a loop's place, equal for loops that are alike. Atoms with this text are in the same
/// iteration.
std::string Forms::place_of(const ir::Loop& loop) {
  if (loop.before) return "while " + condition_of(loop);
  const auto found = loops_.find(loop.op);
  if (found == loops_.end()) return "loop " + std::to_string(loop.op.index());
  const CountedLoop& known = found->second;
  return std::to_string(known.position) + " " + std::to_string(known.first) + " " +
         std::to_string(known.step);
}

LinearForm Forms::known_by(const std::string& key, ir::ValueId value, bool varies) {
  if (!ir::is_whole(ir::type_of(program_, value))) return unique(value);
  return {0, {{atom(key, varies), 1}}};
}

/// Form of a value that the loop carries, or of a result of the loop.
LinearForm Forms::carried(const ir::Loop& loop, ir::ValueId value) {
  if (!ir::is_whole(ir::type_of(program_, value))) return unique(value);
  for (const ir::Carried& it : loop.carried) {
    if (it.argument == value) {
      return known_by("carried " + place_of(loop) + " " + recurrence(loop, value), value, true);
    }
    if (it.result != value) continue;
    const std::string how = recurrence(loop, it.argument);
    return known_by("left " + place_of(loop) + " " + how, value, is_in_loop(program_, loop.op));
  }
  for (const ir::Forwarded& it : loop.forwarded) {
    if (it.argument == value) return of(it.passed);
    if (it.result != value) continue;
    const std::string how = recurrence(loop, it.passed);
    return known_by("left " + place_of(loop) + " " + how, value, is_in_loop(program_, loop.op));
  }
  return unique(value);
}

LinearForm Forms::of_drawn(ir::ValueId value, ir::ValueId drawn) {
  const auto before = memo_;
  memo_.clear();
  for (const auto& [id, counted] : loops_) {
    const auto loop = ir::as_loop(program_, id);
    memo_[*loop->induction] = before.at(*loop->induction);
  }
  memo_[drawn] = this->drawn();
  LinearForm form = of(value);
  memo_ = before;
  return form;
}

/// Adds a while loop, whose quantity is the number of iterations.
void Forms::add_while(const ir::Loop& loop) {
  CountedLoop made;
  made.form = number(
      {0, {{atom("iterations while " + condition_of(loop), is_in_loop(program_, loop.op)), 1}}});
  made.role = role_of(program_, loop.op);
  made.occurrence = counts_[{made.role, made.form}]++;
  made.position =
      atom("position " + std::to_string(made.form) + " " + std::to_string(made.occurrence), true);
  whiles_.emplace(loop.op, made);
}

}  // namespace twill::concurrent
