#include "twill/concurrent/guide.h"

#include <algorithm>

#include "twill/concurrent/deciding.h"
#include "twill/concurrent/launches.h"
#include "twill/concurrent/noticed.h"
#include "twill/ir/op_types.h"
#include "twill/ir/operands.h"
#include "twill/ir/passing.h"

namespace twill::concurrent {
namespace {

using ir::OpKind;

/// Comparison of x and y, as a statement about x - y or y - x.
struct Compared {
  bool swapped = false;  ///< the statement is y - x > 0, else x - y > 0
  bool negated = false;
  bool exact = false;  ///< the statement is x - y == 0
};

std::optional<Compared> compared(std::int64_t predicate) {
  switch (predicate) {
    case 0:
      return Compared{false, false, true};
    case 1:
      return Compared{false, true, true};
    case 2:
      return Compared{true, false, false};
    case 3:
      return Compared{false, true, false};
    case 4:
      return Compared{false, false, false};
    case 5:
      return Compared{true, true, false};
    default:
      return std::nullopt;
  }
}

class Maker {
 public:
  Maker(const ir::Program& program, ir::OpId function)
      : program_(program),
        function_(function),
        ops_(ir::walk(program, function)),
        forms_(program, function) {}

  Result<Guide> make(std::int64_t at_least) {
    TWILL_TRY_VOID(check());
    guide_.needed.resize(program_.value_count(), false);
    guide_.loops = forms_.loops();
    guide_.whiles = forms_.whiles();
    guide_.handed_on = HandedOn(program_, ops_);
    guide_.reads = reads_of(program_, function_);
    guide_.idle = idle_ops(program_, function_);
    find_asked_ends();
    guide_.told_apart = deepest_ring(program_, function_) + 1;
    for (const auto& [op, loop] : guide_.loops) add_wrap(op);
    for (const ir::OpId id : ops_) {
      const auto found = wrap_about(program_.op(id));
      if (found != wrapped_.end()) guide_.last_of_tile[id] = found->second;
    }
    find_needed();
    guide_.handed_on.follow_all(program_, guide_.needed);
    for (const ir::OpId id : ops_) add_condition(id);
    find_going_on(at_least);
    for (const auto& [op, loop] : guide_.loops) add_drawn_loop(op);
    guide_.drawn_form = forms_.number(forms_.drawn());
    for (const auto* loops : {&guide_.loops, &guide_.drawn_loops, &guide_.whiles}) {
      note_loops(*loops);
    }
    add_bounds(at_least);
    find_valued();
    add_shifts(program_, function_, guide_);
    for (const ir::OpId id : ops_) {
      auto deciding = deciding_operands(program_, id, guide_);
      if (!deciding.empty()) guide_.decides.emplace(id, std::move(deciding));
    }
    return std::move(guide_);
  }

 private:
  Result<void> check() {
    std::size_t partitions = 0;
    for (const ir::OpId id : ops_) {
      const ir::Op& op = program_.op(id);
      if (op.count) guide_.most_open = std::max(guide_.most_open, open_after(op));
      if (std::ranges::any_of(op.successors, [&](ir::BlockId to) { return is_behind(to, op); })) {
        return cannot_follow(id, "jumps back, in a loop that is no op");
      }
      if (op.kind != OpKind::warp_roles) continue;
      if (++partitions > 1) return cannot_follow(id, "gives warps roles a second time");
      if (is_in_loop(program_, id)) {
        return cannot_follow(id, "gives warps roles in a loop");
      }
      guide_.role_count = op.warps.size() + 1;
      if (op.warps.size() > 60) return cannot_follow(id, "has too many roles");
    }
    return {};
  }

  /// Whether a block does not come later than the op's block.
  bool is_behind(ir::BlockId block, const ir::Op& op) const {
    const auto& blocks = program_.region(program_.block(block).region).blocks;
    return std::ranges::find(blocks, block) <= std::ranges::find(blocks, op.block);
  }

  static std::int64_t open_after(const ir::Op& op) {
    const bool waits = op.kind == OpKind::wgmma_wait || op.kind == OpKind::copy_wait ||
                       op.kind == OpKind::block_store_wait;
    return waits ? std::clamp<std::int64_t>(*op.count, 0, 1000) : 0;
  }

  tl::unexpected<Diagnostic> cannot_follow(ir::OpId op, const std::string& why) const {
    return fail(ir::text_location(program_, op),
                "cannot be followed: " + program_.op(op).name + " " + why,
                "`twill run` checks one number of iterations after the other");
  }

  std::optional<ir::OpId> end_of(ir::OpId id) const { return condition_of(program_, id); }

  /// Finds while loops whose ends depend on no memory that changes. All other while loops of a role
  /// count together.
  void find_asked_ends() {
    std::map<std::size_t, std::size_t> counts;  // counts by role
    for (auto& [id, counted] : guide_.whiles) {
      const auto end = end_of(id);
      if (!end || program_.op(*end).operands.empty()) continue;
      if (!is_read_from_changing(program_, program_.op(*end).operands[0])) {
        guide_.asked_ends.insert(*end);
        continue;
      }
      counted.form = forms_.number(forms_.iterations());
      counted.occurrence = counts[counted.role]++;
    }
  }

  void need(ir::ValueId value) {
    const ir::Type type = ir::type_of(program_, value);
    if (type->kind == ir::TypeKind::tensor || type->kind == ir::TypeKind::token) return;
    if (guide_.needed[value.index()]) return;
    guide_.needed[value.index()] = true;
    open_.push_back(value);
  }
  void need_all(std::span<const ir::ValueId> values) {
    for (const ir::ValueId value : values) need(value);
  }

  /// Finds all values that decide which memory roles touch, and for which barriers roles wait.
  void find_needed() {
    for (const ir::OpId id : ops_) need_all(deciding_operands(program_, id, guide_));
    for (const auto& [loop, wrap] : guide_.wraps) need_all(program_.op(wrap.condition).results);
    while (!open_.empty()) {
      const ir::ValueId value = open_.back();
      open_.pop_back();
      need_sources(value);
    }
  }

  void need_sources(ir::ValueId value) {
    if (const auto from = ir::captured(program_, value)) return need(*from);
    const ir::Value& known = program_.value(value);
    const ir::OpId id =
        known.op ? *known.op : program_.region(program_.block(*known.block).region).op;
    const ir::Op& op = program_.op(id);
    if (const auto loop = ir::as_loop(program_, id)) return need_carried(*loop, value);
    if (op.kind == OpKind::function) return need_passed(*known.block, known.index);
    if (op.kind == OpKind::branch) {
      guide_.idle.erase(id);
      if (!op.operands.empty()) need(op.operands[0]);
      for (std::size_t i = 0; i < op.regions.size(); ++i) need_yielded(id, i, known.index);
      return;
    }
    if (op.kind == OpKind::warp_roles) return need_yielded(id, 0, known.index);
    if (op.kind == OpKind::reduce || op.kind == OpKind::unsplat) {
      need_all(guide_.handed_on.follow(program_, value));
    }
    if (!guide_.last_of_tile.contains(id)) need_all(op.operands);
  }

  void add_wrap(ir::OpId id) {
    const auto flat = tile_counter(program_, forms_, id);
    if (!flat) return;
    const std::size_t number = forms_.number(flat->count);
    const auto& compared = program_.op(flat->condition).operands;
    guide_.wraps[id] = {flat->condition, number};
    wrapped_[{compared[0], compared[1]}] = id;
    note_threshold({number, kEverywhere}, guide_.told_apart);
  }

  /// The loop over iterations of all tiles whose last iteration in a tile the comparison finds.
  std::map<std::pair<ir::ValueId, ir::ValueId>, ir::OpId>::const_iterator wrap_about(
      const ir::Op& op) const {
    const bool compares = op.kind == OpKind::icmp && op.predicate && *op.predicate < 2;
    return compares ? wrapped_.find({op.operands[0], op.operands[1]}) : wrapped_.end();
  }

  void need_yielded(ir::OpId id, std::size_t region, std::size_t index) {
    const auto block = ir::body(program_, id, region);
    const auto end = block ? ir::terminator(program_, *block) : std::nullopt;
    if (end && index < program_.op(*end).operands.size()) need(program_.op(*end).operands[index]);
  }

  void need_carried(const ir::Loop& loop, ir::ValueId value) {
    guide_.idle.erase(loop.op);
    const auto end = end_of(loop.op);
    if (end && guide_.idle.erase(*end) > 0) need_all(deciding_operands(program_, *end, guide_));
    for (const ir::Forwarded& it : loop.forwarded) {
      if (it.argument == value || it.result == value) need(it.passed);
    }
    if (loop.induction == value) {
      need(*loop.lower);
      need(*loop.step);
      return;
    }
    for (const ir::Carried& carried : loop.carried) {
      if (carried.argument != value && carried.result != value) continue;
      need(carried.init);
      need(carried.argument);
      need(carried.yielded);
    }
  }

  void need_passed(ir::BlockId block, std::size_t index) {
    for (const ir::OpId id : ops_) {
      const ir::Op& op = program_.op(id);
      for (std::size_t s = 0; s < op.successors.size(); ++s) {
        if (op.successors[s] != block) continue;
        const auto passed =
            op.kind == OpKind::jump
                ? std::span<const ir::ValueId>(op.operands)
                : ir::operands_in(op, s == 0 ? ir::Role::taken : ir::Role::otherwise);
        if (index < passed.size()) need(passed[index]);
      }
    }
  }

  /// Adds the bounds up to which numbers of iterations are told apart one by one. These numbers
  /// stay the same from tile to tile.
  void add_bounds(std::int64_t at_least) {
    const std::int64_t told_apart = guide_.told_apart;
    std::map<std::size_t, std::pair<std::int64_t, std::int64_t>> by_form;  // first, step
    for (const auto& [op, loop] : guide_.loops) {
      if (guide_.idle.contains(op)) continue;
      const auto place = by_form.try_emplace(loop.form, loop.first, loop.step).first;
      place->second.first = std::min(place->second.first, loop.first);
      place->second.second = std::max(place->second.second, loop.step);
    }
    for (const auto& [op, loop] : guide_.whiles) {
      const auto end = end_of(op);
      const bool asked = end && guide_.asked_ends.contains(*end) && !guide_.idle.contains(op);
      if (asked) by_form.try_emplace(loop.form, loop.first, loop.step);
    }
    guide_.zero = forms_.number({});
    for (const auto& [op, condition] : guide_.conditions) add_lower_bound(condition.form);
    by_form.erase(guide_.zero);
    for (const auto& [form, start] : by_form) {
      const auto [first, step] = start;
      add_lower_bound(form);
      if (at_least > 0) is_more_than(form, first + (at_least - 1) * step);
      if (forms_.varies(forms_.form(form))) continue;
      guide_.steady[form] = first + told_apart * step;
      note_threshold({form, kEverywhere}, first + told_apart * step);
    }
  }

  void is_more_than(std::size_t form, std::int64_t threshold) {
    std::int64_t& known = guide_.more_than.try_emplace(form, threshold).first->second;
    known = std::max(known, threshold);
  }

  /// Notes the roles that have loops of a quantity, and the number that a loop begins with.
  void note_loops(const std::map<ir::OpId, CountedLoop>& loops) {
    for (const auto& [op, loop] : loops) {
      if (guide_.idle.contains(op)) continue;
      if (loop.occurrence > 0 || loop.times > 1) guide_.recurs.insert(loop.form);
      for (std::size_t i = 0; i < loop.times; ++i) {
        const std::pair key(loop.form, loop.occurrence + i * loop.stride);
        guide_.roles[key] |= std::uint64_t{1} << loop.role;
        note_threshold(key, loop.first);
      }
    }
  }

  /// Adds the lower bound of a quantity that is at least 0.
  void add_lower_bound(std::size_t number) {
    const LinearForm& form = forms_.form(number);
    if (!form.is_constant() && forms_.is_at_least_zero(form)) is_more_than(number, -1);
  }

  /// Finds values that become known with the trip count of a loop.
  void find_valued() {
    for (const ir::OpId id : ops_) {
      for (const ir::ValueId value : program_.op(id).operands) {
        const ir::Type type = ir::type_of(program_, value);
        if (!guide_.needed[value.index()] || !ir::is_whole(type) || type->bits == 1) continue;
        LinearForm form = forms_.of(value);
        const std::int64_t constant = form.constant;
        form.constant = 0;
        if (form.is_constant()) continue;
        const std::size_t number = forms_.number(form);
        const bool bounds =
            std::any_of(guide_.loops.begin(), guide_.loops.end(), [&](const auto& it) {
              return it.second.form == number && !guide_.idle.contains(it.first);
            });
        if (!bounds) continue;
        guide_.valued[value] = {number, constant};
        guide_.valued_forms.insert(number);
      }
    }
  }

  void note_threshold(std::pair<std::size_t, std::size_t> key, std::int64_t threshold) {
    const auto [place, added] = guide_.largest.try_emplace(key, threshold);
    place->second = std::max(place->second, threshold);
  }

  void add_condition(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    if (op.results.size() != 1 || !guide_.needed[op.results[0].index()]) return;
    const ir::Type type = ir::type_of(program_, op.results[0]);
    if (type->kind != ir::TypeKind::integer || type->bits != 1) return;
    if (ir::class_of(op.kind) == ir::OpClass::structure || op.kind == OpKind::constant) return;
    Condition made;
    const auto how = op.kind == OpKind::icmp ? compared(op.predicate.value_or(-1)) : std::nullopt;
    if (how && op.operands.size() == 2 && ir::is_whole(ir::type_of(program_, op.operands[0]))) {
      made = of_comparison(id, *how, forms_.of(op.operands[0]), forms_.of(op.operands[1]));
      add_drawn_condition(id, *how, made);
    } else {
      made.form = forms_.number(forms_.of(op.results[0]));
    }
    if (!made.inside) note_threshold({made.form, made.occurrence}, made.threshold + 1);
    guide_.conditions.emplace(id, made);
  }

  /// Adds the form of a condition for the case that its only unknown number is a draw. A condition
  /// on a number that changes while the draw stays, such as an iteration, has no such form.
  void add_drawn_condition(ir::OpId id, const Compared& how, const Condition& otherwise) {
    const auto drawn = guide_.handed_on.drawn_behind(program_, program_.op(id).results[0]);
    if (drawn.size() != 1 || otherwise.inside || otherwise.always) return;
    const auto& operands = program_.op(id).operands;
    Condition made = of_comparison(id, how, forms_.of_drawn(operands[0], drawn[0]),
                                   forms_.of_drawn(operands[1], drawn[0]));
    if (made.inside || made.always || forms_.varies(forms_.form(made.form))) return;
    made.occurrence = 0;
    made.drawn = drawn[0];
    note_threshold({made.form, made.occurrence}, made.threshold + 1);
    guide_.drawn_conditions.emplace(id, made);
  }

  /// Finds conditions on a draw by which while loops go on.
  void find_going_on(std::int64_t at_least) {
    guide_.at_least = at_least;
    for (const auto& [op, loop] : guide_.whiles) {
      const auto end = end_of(op);
      if (!end || guide_.idle.contains(op) || guide_.asked_ends.contains(*end)) continue;
      for (const ir::ValueId value :
           guide_.handed_on.origins(program_, program_.op(*end).operands[0])) {
        const auto& known = program_.value(value);
        const auto found =
            known.op ? guide_.drawn_conditions.find(*known.op) : guide_.drawn_conditions.end();
        if (found == guide_.drawn_conditions.end()) continue;
        const Condition& it = found->second;
        if (!it.exact && !it.negated) guide_.going_on.emplace(op, std::pair(it.form, it.threshold));
      }
    }
  }

  void add_drawn_loop(ir::OpId id) {
    const auto loop = ir::as_loop(program_, id);
    auto drawn = guide_.handed_on.drawn_behind(program_, *loop->upper);
    for (const ir::ValueId value : guide_.handed_on.drawn_behind(program_, *loop->lower)) {
      if (std::ranges::find(drawn, value) == drawn.end()) drawn.push_back(value);
    }
    if (drawn.size() != 1 || guide_.idle.contains(id)) return;
    const LinearForm lower = forms_.of_drawn(*loop->lower, drawn[0]);
    LinearForm start = lower;
    start.constant = 0;
    LinearForm quantity = plus(forms_.of_drawn(*loop->upper, drawn[0]), start, -1);
    CountedLoop made = guide_.loops.at(id);
    if (!known_integer(program_, *loop->step) || forms_.varies(quantity)) return;
    made.first = lower.constant - quantity.constant;
    quantity.constant = 0;
    made.form = forms_.number(quantity);
    made.occurrence = drawn_counts_[{made.role, made.form}]++;
    made.unrolled.reset();
    made.stride = 0;
    made.times = 1;
    made.drawn = drawn[0];
    guide_.drawn_loops.emplace(id, made);
  }

  Condition of_comparison(ir::OpId id, const Compared& how, const LinearForm& x,
                          const LinearForm& y) {
    const LinearForm difference = how.swapped ? plus(y, x, -1) : plus(x, y, -1);
    Condition made;
    made.exact = how.exact;
    made.negated = how.negated;
    if (difference.is_constant()) {
      const bool holds = how.exact ? difference.constant == 0 : difference.constant > 0;
      made.always = holds != how.negated;
      return made;
    }
    if (inside(id, difference, made)) return made;
    outside(id, difference, made);
    return made;
  }

  /// Sets the condition for a difference of a constant +- (quantity - position) of a loop around.
  bool inside(ir::OpId id, const LinearForm& difference, Condition& made) {
    for (auto at = ir::parent(program_, id); at; at = ir::parent(program_, *at)) {
      const auto found = guide_.loops.find(*at);
      if (found == guide_.loops.end()) continue;
      LinearForm rest = forms_.form(found->second.form);
      if (rest.is_constant()) continue;
      rest.terms[found->second.position] -= 1;
      const bool straight = rest.terms == difference.terms;
      if (!straight && plus({}, rest, -1).terms != difference.terms) continue;
      made.form = found->second.form;
      made.occurrence = found->second.occurrence;
      made.inside = *at;
      set_threshold(made, difference.constant, straight);
      return true;
    }
    return false;
  }

  /// Sets the threshold for a difference of a constant +- quantity, compared as > 0 or == 0.
  static void set_threshold(Condition& made, std::int64_t constant, bool straight) {
    if (made.exact) {
      made.threshold = (straight ? -constant : constant) - 1;
    } else if (straight) {
      made.threshold = -constant;
    } else {
      made.threshold = constant - 1;
      made.negated = !made.negated;
    }
  }

  void outside(ir::OpId id, LinearForm difference, Condition& made) {
    const std::int64_t constant = difference.constant;
    difference.constant = 0;
    const LinearForm turned = plus({}, difference, -1);
    const std::size_t here = forms_.number(difference), there = forms_.number(turned);
    const auto is_loop = [&](std::size_t form) {
      return std::any_of(guide_.loops.begin(), guide_.loops.end(),
                         [&](const auto& it) { return it.second.form == form; });
    };
    const bool straight =
        is_loop(here) || (!is_loop(there) && difference.terms.begin()->second > 0);
    made.form = straight ? here : there;
    set_threshold(made, constant, straight);
    const std::size_t role = role_of(program_, id);
    for (const auto& [op, loop] : guide_.loops) {
      if (loop.form != made.form || loop.role != role) continue;
      made.occurrence = loop.occurrence;
      if (op.index() > id.index()) break;
    }
  }

  const ir::Program& program_;
  ir::OpId function_;
  std::vector<ir::OpId> ops_;
  Forms forms_;
  Guide guide_;
  std::vector<ir::ValueId> open_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> drawn_counts_;  ///< by role and form
  /// Loops by the counter of a tile's iterations and the number of the last iteration.
  std::map<std::pair<ir::ValueId, ir::ValueId>, ir::OpId> wrapped_;
};

}  // namespace

std::optional<ir::ValueId> Guide::counter_of(ir::ValueId value) const {
  if (turns.empty() || turn_of[value.index()] == 0) return std::nullopt;
  const auto& derived = turns[turn_of[value.index()] - 1].derived;
  const auto found = derived.find(value);
  return found == derived.end() ? std::nullopt : std::optional(found->second);
}

Result<Guide> make_guide(const ir::Program& program, ir::OpId function, std::int64_t at_least) {
  TWILL_TRY(Guide guide, Maker(program, function).make(at_least));
  add_turns(program, function, guide);
  return guide;
}

}  // namespace twill::concurrent
