#include "twill/frontend/ttgir/guard.h"

#include <algorithm>
#include <set>
#include <span>

#include "twill/frontend/ttgir/copy.h"
#include "twill/frontend/ttgir/spelling.h"
#include "twill/ir/loop.h"
#include "twill/ir/operands.h"

namespace twill::frontend::ttgir {
namespace {

/// Compares two pieces of a Program by their effects on global memory.
class Comparison {
 public:
  Comparison(const ir::Program& program, ir::OpId inner) : program_(program), inner_(inner) {}

  bool same(ir::BlockId a, ir::BlockId b) {
    const std::vector<ir::OpId> one = acts(a);
    const std::vector<ir::OpId> other = acts(b);
    std::size_t i = 0;
    std::size_t j = 0;
    for (;;) {
      i = pass_reads(one, i);
      j = pass_reads(other, j);
      if (i == one.size() || j == other.size()) return i == one.size() && j == other.size();
      if (!same(one[i++], other[j++])) return false;
      ++writes_;
    }
  }

 private:
  /// Side-effecting ops of a block, without its terminator.
  std::vector<ir::OpId> acts(ir::BlockId block) const {
    std::vector<ir::OpId> found;
    const std::vector<ir::OpId>& ops = program_.block(block).ops;
    for (const ir::OpId id : ops) {
      if (!is_computation(program_.op(id)) && program_.op(id).kind != ir::OpKind::yield) {
        found.push_back(id);
      }
    }
    return found;
  }

  /// Index of the first op from `at` on that is no read, no work in the CTA's own memory, and not
  /// the loop without iterations.
  std::size_t pass_reads(const std::vector<ir::OpId>& ops, std::size_t at) {
    for (; at < ops.size(); ++at) {
      const ir::Op& op = program_.op(ops[at]);
      if (ops[at] == inner_) {
        pass_inner();
        continue;
      }
      const auto access = memory_access(op);
      const bool allocates = op.kind == ir::OpKind::tensor_alloc && op.operands.empty();
      if (!access && !allocates) return at;
      if (!access) continue;
      if (access->space == ir::AccessSpace::global) {
        if (access->writes || !is_plain_read(op)) return at;
        read_global(op);
      } else if (access->space == ir::AccessSpace::tensor) {
        read_tensor(*access);
      } else {
        return at;
      }
    }
    return at;
  }

  static bool is_plain_read(const ir::Op& op) {
    const bool reads = op.kind == ir::OpKind::load || op.kind == ir::OpKind::block_load;
    return reads && op.results.size() == 1;
  }

  /// Skips the loop without iterations: its results are its initial values.
  void pass_inner() {
    const auto loop = as_loop(program_, inner_);
    for (const ir::Carried& carried : loop->carried) {
      begins_.emplace(*carried.result, carried.init);
      terms_.assume(*carried.result, terms_.of(carried.init));
    }
  }

  void read_global(const ir::Op& op) {
    std::vector<Terms::Term> operands;
    for (const ir::ValueId operand : op.operands) operands.push_back(terms_.of(operand));
    terms_.assume(
        op.results[0],
        terms_.made("read " + attributes_of(op) + " " + std::to_string(writes_), operands));
  }

  static std::string attributes_of(const ir::Op& op) {
    std::string text = todays_name(op.name);
    for (const auto& [name, attribute] : op.attributes) {
      if (name.find('.') == std::string::npos) text += " " + name + "=" + attribute->text;
    }
    return text;
  }

  void read_tensor(const ir::MemoryAccess& access) {
    if (!access.reads || !access.result || !access.token_in) return;
    const auto what = content(access.address, *access.token_in);
    if (what) terms_.assume(*access.result, *what);
  }

  /// Contents of tensor memory after all accesses that a token stands for.
  std::optional<Terms::Term> content(ir::ValueId memory, ir::ValueId token) {
    if (const auto begin = begins_.find(token); begin != begins_.end()) {
      return content(memory, begin->second);
    }
    if (const auto known = contents_.find(token); known != contents_.end()) return known->second;
    const ir::Op* op = defining_op(program_, token);
    const auto access = op != nullptr ? memory_access(*op) : std::nullopt;
    if (!access || access->space != ir::AccessSpace::tensor || access->address != memory) {
      return std::nullopt;
    }
    if (access->writes) {
      const bool always = !access->predicate || constant_integer(program_, *access->predicate) == 1;
      return access->source && always ? std::optional(terms_.of(*access->source)) : std::nullopt;
    }
    return access->token_in ? content(memory, *access->token_in) : std::nullopt;
  }

  bool same(ir::OpId a, ir::OpId b) {
    const ir::Op& one = program_.op(a);
    const ir::Op& other = program_.op(b);
    if (one.kind != other.kind) return false;
    if (one.kind == ir::OpKind::for_loop) return same_loops(a, b);
    if (one.kind == ir::OpKind::branch) return same_branches(a, b);
    const auto access = memory_access(one);
    const bool writes = access && access->writes && access->space == ir::AccessSpace::global;
    const auto unread = [&](ir::ValueId result) { return program_.value(result).uses.empty(); };
    return writes && one.regions.empty() &&
           std::all_of(one.results.begin(), one.results.end(), unread) &&
           std::all_of(other.results.begin(), other.results.end(), unread) &&
           attributes_of(one) == attributes_of(other) && same(one.operands, other.operands);
  }

  bool same(std::span<const ir::ValueId> a, std::span<const ir::ValueId> b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(),
        [&](ir::ValueId one, ir::ValueId other) { return terms_.of(one) == terms_.of(other); });
  }

  bool same_loops(ir::OpId a, ir::OpId b) {
    const auto one = as_loop(program_, a);
    const auto other = as_loop(program_, b);
    if (!one || !other) return false;
    const ir::ValueId bounds[] = {*one->lower, *one->upper, *one->step};
    const ir::ValueId others[] = {*other->lower, *other->upper, *other->step};
    if (!same(bounds, others)) return false;
    ++writes_;  // reads in the loop may see its own writes
    const Terms::Term index = terms_.symbol();
    for (const ir::Loop& loop : {*one, *other}) enter(loop, index);
    return same(one->body, other->body) && leaves_tensor_memory(*one) &&
           leaves_tensor_memory(*other);
  }

  void enter(const ir::Loop& loop, Terms::Term index) {
    terms_.assume(*loop.induction, index);
    const ir::Type type = type_of(program_, *loop.induction);
    const Terms::Term by = terms_.of(*loop.step);
    const Terms::Term behind = terms_.minus(terms_.of(*loop.lower), by, type);
    for (const ir::Carried& carried : loop.carried) {
      const auto advance = advance_of(program_, loop, carried.argument);
      if (advance && type_of(program_, carried.argument) == type && terms_.of(advance->by) == by &&
          terms_.of(carried.init) == behind) {
        terms_.assume(carried.argument, terms_.minus(index, by, type));
      }
      note_content(carried);
    }
  }

  /// Assumes that tensor memory has, in every iteration, its contents at the begin of the loop.
  void note_content(const ir::Carried& carried) {
    const ir::Op* op = defining_op(program_, carried.init);
    if (op == nullptr || type_of(program_, carried.init)->kind != ir::TypeKind::token) return;
    const auto access = memory_access(*op);
    if (!access || access->space != ir::AccessSpace::tensor) return;
    if (const auto what = content(access->address, carried.init)) {
      contents_.emplace(carried.argument, *what);
      memories_.emplace(carried.argument, access->address);
    }
  }

  /// Whether the loop keeps the contents of tensor memory.
  bool leaves_tensor_memory(const ir::Loop& loop) {
    return std::all_of(loop.carried.begin(), loop.carried.end(), [&](const ir::Carried& carried) {
      const auto memory = memories_.find(carried.argument);
      return memory == memories_.end() ||
             content(memory->second, carried.yielded) == contents_.at(carried.argument);
    });
  }

  bool same_branches(ir::OpId a, ir::OpId b) {
    const ir::Op& one = program_.op(a);
    const ir::Op& other = program_.op(b);
    if (!one.results.empty() || !other.results.empty()) return false;
    if (!same(one.operands, other.operands) || one.regions.size() != other.regions.size()) {
      return false;
    }
    for (std::size_t i = 0; i < one.regions.size(); ++i) {
      const auto left = ir::body(program_, a, i);
      const auto right = ir::body(program_, b, i);
      if (left.has_value() != right.has_value()) return false;
      if (left && !same(*left, *right)) return false;
    }
    return true;
  }

  const ir::Program& program_;
  ir::OpId inner_;
  Terms terms_{program_};
  std::map<ir::ValueId, ir::ValueId> begins_;  ///< initial values of the results of `inner`
  /// Contents of tensor memory, at tokens that loops carry.
  std::map<ir::ValueId, Terms::Term> contents_;
  std::map<ir::ValueId, ir::ValueId> memories_;
  std::int64_t writes_ = 0;
};

/// Ops of a block without its terminator and without unread computations.
std::vector<ir::OpId> live_ops(const ir::Program& program, ir::BlockId block) {
  std::vector<ir::OpId> live;
  std::set<ir::OpId> dead;
  const std::vector<ir::OpId>& ops = program.block(block).ops;
  for (auto id = ops.rbegin(); id != ops.rend(); ++id) {
    const ir::Op& op = program.op(*id);
    if (op.kind == ir::OpKind::yield) continue;
    const bool read = std::any_of(op.results.begin(), op.results.end(), [&](ir::ValueId result) {
      const auto& uses = program.value(result).uses;
      return std::any_of(uses.begin(), uses.end(),
                         [&](const ir::Use& use) { return !dead.contains(use.op); });
    });
    if (is_computation(op) && !read) {
      dead.insert(*id);
    } else {
      live.insert(live.begin(), *id);
    }
  }
  return live;
}

}  // namespace

std::optional<ir::Program> without_guard(const ir::Program& program, ir::OpId guard,
                                         std::size_t without_steps, ir::OpId inner) {
  const auto then = ir::body(program, guard, without_steps);
  const auto otherwise = ir::body(program, guard, 1 - without_steps);
  if (!then || !otherwise || !program.op(guard).results.empty()) return std::nullopt;
  if (!Comparison(program, inner).same(*then, *otherwise)) return std::nullopt;
  Copier copier(program);
  return std::move(copier).copy([&](ir::OpId op, ir::BlockId into) {
    if (op != guard) return false;
    copier.copy_ops(live_ops(program, *otherwise), into);
    return true;
  });
}

}  // namespace twill::frontend::ttgir
