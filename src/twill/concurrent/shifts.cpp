#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "twill/concurrent/deciding.h"
#include "twill/concurrent/guide.h"
#include "twill/ir/operands.h"

/// Counters of which only remainders matter: the search, and a check of each op.
namespace twill::concurrent {
namespace {

using ir::OpKind;

constexpr std::int64_t kLongestPeriod = 128;  ///< longest period of a counter

bool counts(ir::Type type) { return is_wide(type) && type->kind != ir::TypeKind::pointer; }

std::optional<std::int64_t> exact_part(std::int64_t shift, std::int64_t by) {
  if (by <= 0 || shift % by != 0) return std::nullopt;
  return shift / by;
}

std::optional<std::int64_t> power_of_two(std::optional<std::int64_t> exponent) {
  if (!exponent || *exponent < 0 || *exponent > 30) return std::nullopt;
  return std::int64_t{1} << *exponent;
}

/// Shift of one period, and the check that every op keeps its result.
class Shifting {
 public:
  Shifting(const ir::Program& program, const std::vector<ir::OpId>& ops, const Guide& guide,
           const std::set<ir::ValueId>& counters, std::int64_t period, bool given = false)
      : program_(program),
        ops_(ops),
        guide_(guide),
        counters_(counters),
        period_(period),
        given_(given) {}

  /// Makes the shift; empty if states that differ by the period are not alike.
  std::optional<Shift> make() {
    for (const ir::OpId id : ops_) {
      if (!visit(id)) return std::nullopt;
    }
    Shift made;
    made.counters = counters_;
    made.period = period_;
    made.least = least_;
    for (const auto& [value, by] : by_) {
      if (by && *by != 0) made.by[value] = *by;
    }
    made.loops = loops_;
    return made;
  }
  const std::set<ir::OpId>& told_apart() const { return told_apart_; }

 private:
  bool needed(ir::ValueId value) const { return guide_.needed[value.index()]; }

  /// Shift of the value; nullopt if it cannot be determined. Values that loops and blocks pass on
  /// count as not shifted, unless they are counters: `visit` checks that.
  std::optional<std::int64_t> of(ir::ValueId value) {
    if (counters_.contains(value)) return by_[value] = period_;
    if (!needed(value)) return 0;
    if (const auto found = by_.find(value); found != by_.end()) return found->second;
    by_[value] = std::nullopt;
    const ir::Value& known = program_.value(value);
    const auto shift = known.op ? result(*known.op, known.index) : std::optional<std::int64_t>(0);
    return by_[value] = shift;
  }

  std::optional<std::int64_t> result(ir::OpId id, std::size_t index) {
    const ir::Op& op = program_.op(id);
    if (op.kind == OpKind::branch) return of_branch(id, index);
    if (ir::class_of(op.kind) == ir::OpClass::structure) return 0;
    std::vector<std::int64_t> parts;
    for (const ir::ValueId operand : op.operands) {
      const auto part = of(operand);
      if (!part) return std::nullopt;
      parts.push_back(*part);
    }
    if (std::all_of(parts.begin(), parts.end(), [](std::int64_t part) { return part == 0; })) {
      return 0;
    }
    return of_arithmetic(id, parts);
  }

  std::optional<std::int64_t> of_branch(ir::OpId id, std::size_t index) {
    std::optional<std::int64_t> shift;
    for (std::size_t region = 0; region < program_.op(id).regions.size(); ++region) {
      const auto block = ir::body(program_, id, region);
      const auto end = block ? ir::terminator(program_, *block) : std::nullopt;
      if (!end || index >= program_.op(*end).operands.size()) return std::nullopt;
      const auto part = of(program_.op(*end).operands[index]);
      if (!part || (shift && *shift != *part)) return std::nullopt;
      shift = part;
    }
    return shift;
  }

  std::optional<std::int64_t> of_arithmetic(ir::OpId id, const std::vector<std::int64_t>& parts) {
    const ir::Op& op = program_.op(id);
    const std::int64_t x = parts[0], y = parts.size() > 1 ? parts[1] : 0;
    const auto constant = [&](std::size_t i) { return known_integer(program_, op.operands[i]); };
    switch (op.kind) {
      case OpKind::add:
        return x + y;
      case OpKind::sub:
        return x - y;
      case OpKind::mul: {
        const auto by = y == 0 ? constant(1) : x == 0 ? constant(0) : std::nullopt;
        if (!by) return std::nullopt;
        return (y == 0 ? x : y) * *by;
      }
      case OpKind::sdiv:
      case OpKind::udiv:
      case OpKind::srem:
      case OpKind::urem: {
        const auto by = y == 0 ? constant(1) : std::nullopt;
        const auto part = by ? exact_part(x, *by) : std::nullopt;
        if (!part || x < 0) return std::nullopt;
        told_apart_.insert(id);
        return op.kind == OpKind::sdiv || op.kind == OpKind::udiv ? *part : 0;
      }
      case OpKind::ashr:
      case OpKind::lshr: {
        const auto by = y == 0 ? power_of_two(constant(1)) : std::nullopt;
        const auto part = by ? exact_part(x, *by) : std::nullopt;
        if (!part || x < 0) return std::nullopt;
        told_apart_.insert(id);
        return *part;
      }
      case OpKind::shl: {
        const auto by = y == 0 ? power_of_two(constant(1)) : std::nullopt;
        if (!by) return std::nullopt;
        return x * *by;
      }
      case OpKind::bit_and: {
        const auto mask = y == 0 ? constant(1) : constant(0);
        if (!mask || *mask < 0 || (*mask & (*mask + 1)) != 0) return std::nullopt;
        if (x != 0 && y != 0) return std::nullopt;
        return (x + y) % (*mask + 1) == 0 ? std::optional<std::int64_t>(0) : std::nullopt;
      }
      case OpKind::trunc:
      case OpKind::index_cast:
      case OpKind::index_castu: {
        const ir::Type type = ir::type_of(program_, op.results[0]);
        if (is_wide(type)) return x;
        return x % (std::int64_t{1} << type->bits) == 0 ? std::optional<std::int64_t>(0)
                                                        : std::nullopt;
      }
      case OpKind::sext:
      case OpKind::zext:
        return x;
      case OpKind::select:
        if (x != 0 || parts[1] != parts[2]) return std::nullopt;
        return parts[1];
      case OpKind::icmp:
        return of_comparison(id, x, y);
      default:
        return std::nullopt;
    }
  }

  /// Shift of a comparison's result. A comparison of a shifted with a constant value has one
  /// outcome in the end. A comparison that is asked does not read the values.
  std::optional<std::int64_t> of_comparison(ir::OpId id, std::int64_t x, std::int64_t y) {
    if (x == y) return 0;
    for (const ir::ValueId operand : program_.op(id).operands) {
      const auto constant = known_integer(program_, operand);
      if (constant && *constant < kLongestPeriod) least_ = std::max(least_, *constant + 1);
    }
    told_apart_.insert(id);
    return 0;
  }

  bool visit(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    if (const auto loop = ir::as_loop(program_, id)) return visit_loop(*loop);
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      if (!needed(op.results[i])) continue;
      if (!of(op.results[i])) return false;
      if (!given_ && counters_.contains(op.results[i]) && result(id, i) != period_) return false;
    }
    const bool counted = op.kind == OpKind::yield || op.kind == OpKind::combined;
    if (counted) return true;  // loops and branches, which check the values passed to them
    if (op.kind == OpKind::condition) {
      const ir::ValueId holds = op.operands[0];
      return !needed(holds) || of(holds) == 0;
    }
    // Memory keeps the numbers of tiles as they are, and roles may compare them.
    for (const ir::ValueId scalar : put_into_tile(program_, id)) {
      const bool is_followed = guide_.handed_on.is_followed(op.results[0]);
      if (is_followed && needed(scalar) && of(scalar) != 0) return false;
    }
    if (ir::class_of(op.kind) == ir::OpClass::elementwise) return true;
    // Values that pass into blocks, are captured, or decide steps of roles must not shift.
    const bool hands_on = ir::class_of(op.kind) == ir::OpClass::structure;
    const std::vector<ir::ValueId> noticed =
        hands_on ? op.operands : deciding_operands(program_, id, guide_);
    return std::all_of(noticed.begin(), noticed.end(), [&](ir::ValueId operand) {
      const bool same = given_ && op.kind == OpKind::warp_roles && counters_.contains(operand);
      return same || !needed(operand) || of(operand) == 0;
    });
  }

  bool visit_loop(const ir::Loop& loop) {
    const bool again = is_in_loop(program_, loop.op);
    const bool mine = loop.induction && counters_.contains(*loop.induction);
    if (mine) loops_.insert(loop.op);
    if (loop.lower && needed(*loop.lower) && of(*loop.lower) != 0) return false;
    for (const ir::Carried& carried : loop.carried) {
      if (!needed(carried.argument)) continue;
      const auto in = of(carried.init), inside = of(carried.argument), out = of(carried.yielded);
      if (given_ && in == 0 && inside == 0 && out && is_absorbed(loop, carried, *out)) continue;
      if (!in || !inside || !out || *inside != *out) return false;
      if (*inside == 0 && *in != 0) return false;
      if (carried.result && of(*carried.result) != inside) return false;
      if (*in == *inside) continue;
      // The counter starts anew: the value of an earlier start must then be unused.
      const bool left = carried.result && !program_.value(*carried.result).uses.empty();
      if (again && (left || is_left(loop))) return false;
    }
    return std::ranges::all_of(loop.forwarded, [&](const ir::Forwarded& it) {
      const auto passed = of(it.passed);
      const auto is_alike = [&](ir::ValueId to) { return !needed(to) || of(to) == passed; };
      return passed && is_alike(it.argument) && is_alike(it.result);
    });
  }

  /// Whether an op behind the while loop reads a counter that the loop carries.
  bool is_left(const ir::Loop& loop) const {
    return std::ranges::any_of(loop.forwarded, [&](const ir::Forwarded& it) {
      return counters_.contains(it.result) && !program_.value(it.result).uses.empty();
    });
  }

  /// Whether a counter grows by whole periods of its own, and no other value changes with it.
  bool is_absorbed(const ir::Loop& loop, const ir::Carried& carried, std::int64_t by) const {
    return std::any_of(guide_.shifts.begin(), guide_.shifts.end(), [&](const Shift& shift) {
      const auto members =
          std::count_if(loop.carried.begin(), loop.carried.end(), [&](const ir::Carried& other) {
            return needed(other.argument) && shift.by.contains(other.argument);
          });
      return shift.counters.contains(carried.argument) && members == 1 && by % shift.period == 0;
    });
  }

  const ir::Program& program_;
  const std::vector<ir::OpId>& ops_;
  const Guide& guide_;
  const std::set<ir::ValueId>& counters_;
  std::int64_t period_;
  bool given_;  ///< the counters are quantities, which no op computes
  std::int64_t least_ = 0;
  std::map<ir::ValueId, std::optional<std::int64_t>> by_;
  std::set<ir::OpId> told_apart_;
  std::set<ir::OpId> loops_;
};

/// Values that loops carry to each other, with additions of constants only.
class Counters {
 public:
  Counters(const ir::Program& program, const std::vector<ir::OpId>& ops, const Guide& guide)
      : program_(program), guide_(guide) {
    for (const ir::OpId id : ops) {
      const auto loop = ir::as_loop(program, id);
      if (!loop) continue;
      if (loop->induction) add_induction(*loop);
      for (const ir::Carried& carried : loop->carried) add(carried);
      for (const ir::Forwarded& forwarded : loop->forwarded) add(forwarded);
    }
    for (const ir::OpId id : ops) add_branch(id);
  }

  struct Group {
    std::set<ir::ValueId> values;
    std::int64_t step = 0;  ///< greatest common divisor of the added constants
  };
  std::vector<Group> groups() {
    std::map<ir::ValueId, Group> by_root;
    for (const auto& [value, parent] : parents_) by_root[root(value)].values.insert(value);
    for (const auto& [value, step] : steps_) {
      Group& group = by_root[root(value)];
      group.step = std::gcd(group.step, step);
    }
    std::vector<Group> groups;
    for (auto& [value, group] : by_root) {
      if (group.step > 0) groups.push_back(std::move(group));
    }
    return groups;
  }

 private:
  ir::ValueId root(ir::ValueId value) {
    while (true) {
      const auto found = parents_.try_emplace(value, value).first;
      if (found->second == value) return value;
      value = found->second;
    }
  }
  void join(ir::ValueId a, ir::ValueId b) {
    const ir::ValueId from = root(a), to = root(b);
    if (from != to) parents_.at(std::max(from, to)) = std::min(from, to);
  }

  bool is_candidate(ir::ValueId value) const {
    return guide_.needed[value.index()] && counts(ir::type_of(program_, value));
  }

  void add_induction(const ir::Loop& loop) {
    const auto step = known_integer(program_, *loop.step);
    if (!step || *step <= 0 || !is_candidate(*loop.induction)) return;
    root(*loop.induction);
    steps_.emplace_back(*loop.induction, *step);
  }

  /// The added constant, or 1 for a quantity, which may be any number.
  std::optional<std::int64_t> added(ir::ValueId value) const {
    if (guide_.valued.contains(value)) return 1;
    return known_integer(program_, value);
  }

  /// The value to which constants are added, and their sum.
  std::pair<ir::ValueId, std::int64_t> base_of(ir::ValueId value) const {
    std::int64_t sum = 0;
    while (const ir::Op* op = ir::defining_op(program_, value)) {
      if (op->kind != OpKind::add) break;
      const auto by = added(op->operands[1]);
      const auto other = added(op->operands[0]);
      if (!by && !other) break;
      value = op->operands[by ? 0 : 1];
      sum += by ? *by : *other;
    }
    return {value, sum};
  }

  void add(const ir::Carried& carried) {
    if (!is_candidate(carried.argument)) return;
    root(carried.argument);
    if (carried.result) join(carried.argument, *carried.result);
    const auto [base, sum] = base_of(carried.yielded);
    const auto [start, offset] = base_of(carried.init);
    if (!known_integer(program_, start)) join(carried.argument, start);
    if (!known_integer(program_, base)) join(carried.argument, base);
    if (sum > 0) steps_.emplace_back(carried.argument, sum);
    if (offset > 0) steps_.emplace_back(carried.argument, offset);
  }

  void add(const ir::Forwarded& forwarded) {
    if (!is_candidate(forwarded.passed)) return;
    const auto [base, sum] = base_of(forwarded.passed);
    if (known_integer(program_, base)) return;
    for (const ir::ValueId value : {forwarded.argument, forwarded.result}) {
      if (is_candidate(value)) join(value, base);
    }
    if (sum > 0) steps_.emplace_back(base, sum);
  }

  /// Joins a counter that is a branch's result with the counters that its sides yield.
  void add_branch(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    if (op.kind != OpKind::branch) return;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      if (!is_candidate(op.results[i]) || !parents_.contains(op.results[i])) continue;
      for (std::size_t region = 0; region < op.regions.size(); ++region) {
        const auto block = ir::body(program_, id, region);
        const auto end = block ? ir::terminator(program_, *block) : std::nullopt;
        if (!end || i >= program_.op(*end).operands.size()) continue;
        const auto [base, sum] = base_of(program_.op(*end).operands[i]);
        if (!known_integer(program_, base)) join(op.results[i], base);
        if (sum > 0) steps_.emplace_back(op.results[i], sum);
      }
    }
  }

  const ir::Program& program_;
  const Guide& guide_;
  std::map<ir::ValueId, ir::ValueId> parents_;
  std::vector<std::pair<ir::ValueId, std::int64_t>> steps_;
};

/// The smallest quantity that shifts each counter to which it is added, after all subtracted
/// constants. Larger quantities are alike except for remainders.
std::int64_t first_of_remainders(const ir::Program& program, const std::vector<ir::OpId>& ops,
                                 const Guide& guide) {
  std::int64_t below = 0;
  for (const ir::OpId id : ops) {
    const ir::Op& op = program.op(id);
    const auto is_needed = [&](ir::ValueId value) { return guide.needed[value.index()]; };
    if (std::none_of(op.results.begin(), op.results.end(), is_needed)) continue;
    for (const ir::ValueId operand : op.operands) {
      const auto constant = known_integer(program, operand);
      if (!constant || !counts(ir::type_of(program, operand))) continue;
      const bool subtracted = op.kind == OpKind::sub && operand == op.operands.back();
      if (subtracted || *constant < 0) below += std::abs(*constant);
    }
  }
  std::int64_t least = 0;
  for (const Shift& shift : guide.shifts) least = std::max(least, shift.least);
  return guide.common_period + least + below;
}

/// Adds quantities from which values are computed. Whole periods of these quantities must have no
/// effect except on counters. Other quantities are not checked.
void add_quantities(const ir::Program& program, const std::vector<ir::OpId>& ops, Guide& guide) {
  for (const std::size_t form : std::set<std::size_t>(guide.valued_forms)) {
    std::set<ir::ValueId> values;
    for (const auto& [value, known] : guide.valued) {
      if (known.first == form) values.insert(value);
    }
    Shifting shifting(program, ops, guide, values, guide.common_period, true);
    const bool alike = shifting.make().has_value();
    const bool compared =
        std::any_of(shifting.told_apart().begin(), shifting.told_apart().end(),
                    [&](ir::OpId op) { return program.op(op).kind == OpKind::icmp; });
    if (alike && !compared) {
      for (const ir::OpId op : shifting.told_apart()) guide.shifted[op].push_back(kAlways);
      continue;
    }
    guide.valued_forms.erase(form);
    for (const ir::ValueId value : values) guide.valued.erase(value);
  }
}

}  // namespace

void add_shifts(const ir::Program& program, ir::OpId function, Guide& guide) {
  const auto ops = ir::walk(program, function);
  for (const Counters::Group& group : Counters(program, ops, guide).groups()) {
    for (std::int64_t steps = 1; steps <= kLongestPeriod; ++steps) {
      Shifting shifting(program, ops, guide, group.values, steps * group.step);
      auto shift = shifting.make();
      if (!shift) continue;
      for (const ir::OpId op : shifting.told_apart()) {
        guide.shifted[op].push_back(guide.shifts.size());
      }
      guide.shifts.push_back(*std::move(shift));
      guide.common_period = std::lcm(guide.common_period, guide.shifts.back().period);
      break;
    }
  }
  add_quantities(program, ops, guide);
  guide.only_remainders = first_of_remainders(program, ops, guide);
}

}  // namespace twill::concurrent
