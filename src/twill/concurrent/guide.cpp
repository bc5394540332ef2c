#include "twill/concurrent/guide.h"

#include <algorithm>

#include "twill/concurrent/launches.h"
#include "twill/ir/operands.h"
#include "twill/ir/passing.h"

namespace twill::concurrent {
namespace {

using ir::OpKind;

/// Meaning of a predicate between x and y, as a statement about x - y or y - x.
struct Compared {
  bool swapped = false;  ///< about y - x > 0, else x - y > 0
  bool negated = false;
  bool exact = false;  ///< x - y == 0
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

/// Whether roles notice that the op was done.
bool is_noticed(OpKind kind) {
  switch (ir::class_of(kind)) {
    case ir::OpClass::synchronization:
    case ir::OpClass::copy:
    case ir::OpClass::allocation:
      return true;
    default:
      break;
  }
  switch (kind) {
    case OpKind::warp_roles:
    case OpKind::wgmma:
    case OpKind::wgmma_wait:
    case OpKind::tcgen05:
    case OpKind::tcgen05_scaled:
    case OpKind::shared_load:
    case OpKind::shared_store:
    case OpKind::tensor_load:
    case OpKind::tensor_store:
    case OpKind::buffer_index:
    case OpKind::buffer_slice:
    case OpKind::tensor_slice:
    case OpKind::block_update_async:
    case OpKind::call:
    case OpKind::other:
    case OpKind::inline_asm:
      return true;
    default:
      return false;
  }
}

bool is_number(ir::Type type) {
  return type->kind == ir::TypeKind::integer || type->kind == ir::TypeKind::index;
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
    find_reads();
    find_idle();
    guide_.told_apart = deepest_ring(program_, function_) + 1;
    for (const auto& [op, loop] : guide_.loops) find_wrap(op);
    for (const ir::OpId id : ops_) {
      const auto found = wrap_about(program_.op(id));
      if (found != wrapped_.end()) guide_.last_of_tile[id] = found->second;
    }
    find_needed();
    for (const ir::OpId id : ops_) add_condition(id);
    for (const auto& [op, loop] : guide_.loops) {
      if (guide_.idle.contains(op)) continue;
      const std::pair key(loop.form, loop.occurrence);
      guide_.roles[key] |= std::uint64_t{1} << loop.role;
      note_threshold(key, loop.first);
    }
    add_bounds(at_least);
    find_valued();
    add_shifts(program_, function_, guide_);
    for (const ir::OpId id : ops_) {
      auto deciding = deciding_operands(program_, id, guide_.idle);
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
      if (op.kind == OpKind::while_loop) return cannot_follow(id, "counts no iterations");
      if (op.kind != OpKind::warp_roles) continue;
      if (++partitions > 1) return cannot_follow(id, "gives warps roles a second time");
      if (ir::enclosing(program_, id, OpKind::for_loop)) {
        return cannot_follow(id, "gives warps roles in a loop");
      }
      guide_.role_count = op.warps.size() + 1;
      if (op.warps.size() > 60) return cannot_follow(id, "has too many roles");
    }
    return {};
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

  void find_reads() {
    guide_.reads.resize(program_.value_count());
    std::map<ir::OpId, std::size_t> place;
    for (const ir::OpId id : ops_) {
      for (const ir::RegionId region : program_.op(id).regions) {
        for (const ir::BlockId block : program_.region(region).blocks) {
          std::size_t at = 0;
          for (const ir::OpId inner : program_.block(block).ops) place[inner] = at++;
        }
      }
    }
    for (const ir::OpId id : ops_) {
      for (const ir::ValueId value : program_.op(id).operands) note_read(id, value, place);
    }
  }

  void note_read(ir::OpId reader, ir::ValueId value, const std::map<ir::OpId, std::size_t>& place) {
    const ir::Value& known = program_.value(value);
    const ir::BlockId home = known.op ? program_.op(*known.op).block : *known.block;
    Reads& reads = guide_.reads[value.index()];
    std::optional<ir::OpId> at = reader;
    while (at && *at != function_ && program_.op(*at).block != home) at = ir::parent(program_, *at);
    if (!at || *at == function_) {
      reads.elsewhere = true;
      return;
    }
    const std::size_t number = place.at(*at);
    reads.last = std::max(reads.last, number + 1);
    if (*at != reader) reads.within.insert(number);
  }

  void find_idle() {
    std::set<ir::OpId> busy;
    for (const ir::OpId id : ops_) {
      if (!is_noticed(program_.op(id).kind)) continue;
      for (auto at = ir::parent(program_, id); at && busy.insert(*at).second;) {
        at = ir::parent(program_, *at);
      }
    }
    for (const ir::OpId id : ops_) {
      const OpKind kind = program_.op(id).kind;
      if ((kind == OpKind::for_loop || kind == OpKind::branch) && !busy.contains(id)) {
        guide_.idle.insert(id);
      }
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

  /// Everything from which follows who touches what, and who waits for what.
  void find_needed() {
    for (const ir::OpId id : ops_) need_all(deciding_operands(program_, id, guide_.idle));
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
    if (!guide_.last_of_tile.contains(id)) need_all(op.operands);
  }

  // --- Flattened loops: a counter starts anew with each tile

  /// Whether the loop makes k * m iterations, and carries a counter that is 0 behind k - 1.
  void find_wrap(ir::OpId id) {
    const auto loop = ir::as_loop(program_, id);
    if (known_integer(program_, *loop->lower) != 0) return;
    const ir::Op* const upper = source_of(*loop->upper);
    if (known_integer(program_, *loop->step) != 1 || upper == nullptr) return;
    if (upper->kind != OpKind::mul || upper->operands.size() != 2) return;
    for (const ir::Carried& carried : loop->carried) {
      const ir::Op* const chosen = ir::defining_op(program_, carried.yielded);
      if (chosen == nullptr || chosen->kind != OpKind::select) continue;
      if (known_integer(program_, carried.init) != 0) continue;
      if (known_integer(program_, chosen->operands[1]) != 0) continue;
      const ir::Value& condition = program_.value(chosen->operands[0]);
      const ir::Op* const next = ir::defining_op(program_, chosen->operands[2]);
      if (!condition.op || next == nullptr || next->kind != OpKind::add) continue;
      if (next->operands[0] != carried.argument) continue;
      if (known_integer(program_, next->operands[1]) != 1) continue;
      const ir::Op& compared = program_.op(*condition.op);
      if (compared.kind != OpKind::icmp || compared.predicate != 0) continue;
      if (compared.operands[0] != carried.argument) continue;
      LinearForm count = forms_.of(compared.operands[1]);
      count.constant += 1;
      if (forms_.of(upper->operands[0]) != count && forms_.of(upper->operands[1]) != count) {
        continue;
      }
      if (forms_.varies(count)) continue;
      const std::size_t number = forms_.number(count);
      guide_.wraps[id] = {*condition.op, number};
      wrapped_[{compared.operands[0], compared.operands[1]}] = id;
      note_threshold({number, kEverywhere}, guide_.told_apart);
    }
  }

  /// The op of a value in front of roles, through captures.
  const ir::Op* source_of(ir::ValueId value) const {
    while (const auto from = ir::captured(program_, value)) value = *from;
    return ir::defining_op(program_, value);
  }

  /// The loop of which a comparison says whether this is a tile's last iteration.
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

  /// Small numbers of iterations are told apart one by one, and stay what they are from tile to
  /// tile.
  void add_bounds(std::int64_t at_least) {
    const std::int64_t told_apart = guide_.told_apart;
    std::map<std::size_t, std::pair<std::int64_t, std::int64_t>> by_form;  // first, step
    for (const auto& [op, loop] : guide_.loops) {
      if (guide_.idle.contains(op)) continue;
      const auto place = by_form.try_emplace(loop.form, loop.first, loop.step).first;
      place->second.first = std::min(place->second.first, loop.first);
      place->second.second = std::max(place->second.second, loop.step);
    }
    guide_.zero = forms_.number({});
    by_form.erase(guide_.zero);
    for (const auto& [form, start] : by_form) {
      const auto [first, step] = start;
      if (at_least > 0) guide_.more_than[form] = first + (at_least - 1) * step;
      if (forms_.varies(forms_.form(form))) continue;
      guide_.steady[form] = first + told_apart * step;
      note_threshold({form, kEverywhere}, first + told_apart * step);
    }
  }

  /// Values that are known once it is known how often a loop goes on.
  void find_valued() {
    for (const ir::OpId id : ops_) {
      for (const ir::ValueId value : program_.op(id).operands) {
        const ir::Type type = ir::type_of(program_, value);
        if (!guide_.needed[value.index()] || !is_number(type) || type->bits == 1) continue;
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
    if (how && op.operands.size() == 2 && is_number(ir::type_of(program_, op.operands[0]))) {
      made = of_comparison(id, *how);
    } else {
      made.form = forms_.number(forms_.of(op.results[0]));
    }
    if (!made.inside) note_threshold({made.form, made.occurrence}, made.threshold + 1);
    guide_.conditions.emplace(id, made);
  }

  Condition of_comparison(ir::OpId id, const Compared& how) {
    const ir::Op& op = program_.op(id);
    const LinearForm x = forms_.of(op.operands[0]), y = forms_.of(op.operands[1]);
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

  /// difference = constant +- (quantity - position) of a loop around.
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

  /// difference = constant +- quantity > 0, or == 0.
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
  /// Loops by the counter of a tile's iterations, and the last one's number.
  std::map<std::pair<ir::ValueId, ir::ValueId>, ir::OpId> wrapped_;
};

}  // namespace

std::vector<ir::ValueId> deciding_operands(const ir::Program& program, ir::OpId op,
                                           const std::set<ir::OpId>& idle) {
  const ir::Op& it = program.op(op);
  std::vector<ir::ValueId> found;
  const auto add = [&](std::span<const ir::ValueId> values) {
    found.insert(found.end(), values.begin(), values.end());
  };
  if (it.kind == OpKind::buffer_index && it.operands.size() > 1) {
    add(std::span(it.operands).subspan(1));
  }
  for (const ir::Role role : {ir::Role::phase, ir::Role::predicate, ir::Role::use_accumulator,
                              ir::Role::barrier_predicates}) {
    add(ir::operands_in(it, role));
  }
  const bool is_condition =
      it.kind == OpKind::jump_if || (it.kind == OpKind::branch && !idle.contains(op));
  if (is_condition && !it.operands.empty()) found.push_back(it.operands[0]);
  return found;
}

Result<Guide> make_guide(const ir::Program& program, ir::OpId function, std::int64_t at_least) {
  return Maker(program, function).make(at_least);
}

}  // namespace twill::concurrent
