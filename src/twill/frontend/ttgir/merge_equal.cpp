#include "twill/frontend/ttgir/merge_equal.h"

#include <algorithm>
#include <map>
#include <utility>

#include "twill/frontend/ttgir/copy.h"
#include "twill/frontend/ttgir/equal_values.h"
#include "twill/frontend/ttgir/without_unread.h"
#include "twill/ir/loop.h"
#include "twill/ir/views.h"

namespace twill::frontend::ttgir {
namespace {

bool is_floating_tile(const ir::Program& program, ir::ValueId value) {
  const ir::Type type = type_of(program, value);
  return is_tensor(type) && !type->shape.empty() && type->element->kind == ir::TypeKind::floating;
}

/// Whether an op only moves or repeats values, or has no operands.
bool is_no_work(ir::OpKind kind) {
  switch (kind) {
    case ir::OpKind::constant:
    case ir::OpKind::splat:
    case ir::OpKind::reshape:
    case ir::OpKind::transpose:
    case ir::OpKind::join:
    case ir::OpKind::split:
    case ir::OpKind::bitcast:
      return true;
    default:
      return is_view(kind);
  }
}

/// Finds a replacement for each redundant value; does not modify the Program.
class Finder {
 public:
  Finder(const ir::Program& program, Terms terms) : program_(program), terms_(std::move(terms)) {}

  void find() { enter(program_.module()); }

  /// Replacements of a merged op's results, and of carried values.
  std::map<ir::ValueId, ir::ValueId> instead;
  /// For each op: carried values to replace before the op.
  std::map<ir::OpId, std::vector<ir::ValueId>> before;
  std::vector<MergedOp> ops;

 private:
  using Scope = std::map<Terms::Term, ir::ValueId>;

  /// Enters a block's scope. It has the values of surrounding blocks, and none of neighbouring
  /// blocks.
  void enter(ir::OpId op) {
    for (const ir::RegionId region : program_.op(op).regions) {
      for (const ir::BlockId block : program_.region(region).blocks) {
        scopes_.emplace_back();
        for (const ir::OpId inner : program_.block(block).ops) look_at(inner);
        scopes_.pop_back();
      }
    }
  }

  /// Enters a loop with an empty scope: values that can be recomputed in or after the loop are not
  /// kept across it.
  void enter_loop(ir::OpId op) {
    std::vector<Scope> outside(scopes_.size());
    scopes_.clear();
    enter(op);
    scopes_ = std::move(outside);
  }

  void look_at(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    if (op.kind == ir::OpKind::for_loop) look_at_carried(id);
    if (ir::is_loop(op.kind)) return enter_loop(id);
    if (!is_candidate(id)) return enter(id);
    std::vector<ir::ValueId> equal;
    for (const ir::ValueId result : op.results) {
      if (const auto found = known(terms_.of(result))) equal.push_back(*found);
    }
    if (equal.size() == op.results.size() && have_one_shape(op.results, equal)) {
      for (std::size_t i = 0; i < equal.size(); ++i) instead[op.results[i]] = equal[i];
      ops.push_back({*program_.value(equal[0]).op, id});
      return;
    }
    for (const ir::ValueId result : op.results) scopes_.back().emplace(terms_.of(result), result);
  }

  std::optional<ir::ValueId> known(Terms::Term term) const {
    for (const Scope& scope : scopes_) {
      if (const auto found = scope.find(term); found != scope.end()) return found->second;
    }
    return std::nullopt;
  }

  bool is_candidate(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    return !op.results.empty() && !is_no_work(op.kind) && is_repeatable(program_, id) &&
           std::all_of(op.results.begin(), op.results.end(),
                       [&](ir::ValueId result) { return is_floating_tile(program_, result); });
  }

  bool have_one_shape(const std::vector<ir::ValueId>& some,
                      const std::vector<ir::ValueId>& others) const {
    return std::equal(some.begin(), some.end(), others.begin(),
                      [&](ir::ValueId one, ir::ValueId other) {
                        return text_without_layout(type_of(program_, one)) ==
                               text_without_layout(type_of(program_, other));
                      });
  }

  /// Merges carried values, except in loops whose remarks number their results.
  void look_at_carried(ir::OpId id) {
    if (program_.op(id).fixed_results) return;
    const auto loop = as_loop(program_, id);
    const auto behind = loop ? after(id) : std::nullopt;
    if (!loop || !behind) return;
    std::map<Terms::Term, ir::Carried> first;
    for (const ir::Carried& carried : loop->carried) {
      if (!is_floating_tile(program_, carried.argument)) continue;
      const auto [place, fresh] = first.try_emplace(terms_.of(carried.argument), carried);
      if (fresh) continue;
      instead[carried.argument] = place->second.argument;
      instead[*carried.result] = *place->second.result;
      before[program_.block(loop->body).ops.front()].push_back(carried.argument);
      before[*behind].push_back(*carried.result);
    }
  }

  std::optional<ir::OpId> after(ir::OpId id) const {
    const std::vector<ir::OpId>& block = program_.block(program_.op(id).block).ops;
    const auto next = std::upper_bound(block.begin(), block.end(), id);
    return next == block.end() ? std::nullopt : std::optional(*next);
  }

  const ir::Program& program_;
  Terms terms_;
  std::vector<Scope> scopes_;  ///< scopes of the open blocks in the innermost loop
};

/// Writes the Program according to a Finder's replacements.
class MergedWriter {
 public:
  MergedWriter(const ir::Program& program, const Finder& found)
      : program_(program), found_(found), copier_(program) {
    copier_.make_names_unique();
  }

  std::optional<ir::Program> write() && {
    return std::move(copier_).copy([this](ir::OpId op, ir::BlockId into) {
      if (const auto values = found_.before.find(op); values != found_.before.end()) {
        for (const ir::ValueId value : values->second) replace(value, op, into);
      }
      const std::vector<ir::ValueId>& results = program_.op(op).results;
      if (results.empty() || !is_merged(op)) return false;
      for (const ir::ValueId result : results) replace(result, op, into);
      return true;
    });
  }

 private:
  bool is_merged(ir::OpId op) const {
    const auto later = [](const MergedOp& merged, ir::OpId id) { return merged.removed < id; };
    const auto found = std::lower_bound(found_.ops.begin(), found_.ops.end(), op, later);
    return found != found_.ops.end() && found->removed == op;
  }

  /// Makes further reads of `old` use its equal value, in the layout of `old`. A change of layout
  /// gets the line of `at`.
  void replace(ir::ValueId old, ir::OpId at, ir::BlockId into) {
    const ir::ValueId equal = found_.instead.at(old);
    const ir::ValueId now = copier_.at(equal);
    const ir::Type type = type_of(program_, old);
    if (type == type_of(program_, equal)) return copier_.bind(old, now);
    ir::Op convert;
    convert.name = "ttg.convert_layout";
    convert.operands = {now};
    const ir::OpId made = copier_.add(std::move(convert), at, into);
    std::string name = program_.value(old).name;
    std::replace(name.begin(), name.end(), '#', '_');
    copier_.bind(old, copier_.add_result(made, name, type));
  }

  const ir::Program& program_;
  const Finder& found_;
  Copier copier_;
};

}  // namespace

std::optional<Merged> merge_equal(const ir::Program& program) {
  auto terms = equal_values(program);
  if (!terms) return std::nullopt;
  Finder finder(program, *std::move(terms));
  finder.find();
  if (finder.instead.empty()) return std::nullopt;
  auto written = MergedWriter(program, finder).write();
  if (!written) return std::nullopt;
  return Merged{without_unread(*written), std::move(finder.ops)};
}

}  // namespace twill::frontend::ttgir
