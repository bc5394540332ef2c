#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/tasks/flow.h"
#include "twill/tasks/leaf.h"
#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

/// Calls `visit` for every ref of the steps, including steps in loops.
template <class Visit>
void for_each_ref(std::vector<FlowStep>& steps, Visit visit) {
  for (FlowStep& step : steps) {
    if (auto* copy = std::get_if<Copy>(&step.what)) {
      visit(copy->from);
      visit(copy->to);
    } else if (auto* call = std::get_if<Call>(&step.what)) {
      for (Ref& ref : call->arguments) visit(ref);
    } else {
      for_each_ref(std::get<FlowLoop>(step.what).body, visit);
    }
  }
}

/// Calls `visit` for every copy of the steps, including steps in loops.
template <class Visit>
void for_each_copy(const std::vector<FlowStep>& steps, Visit visit) {
  for (const FlowStep& step : steps) {
    if (const auto* copy = std::get_if<Copy>(&step.what)) visit(*copy, step.where);
    const auto* loop = std::get_if<FlowLoop>(&step.what);
    if (loop != nullptr) for_each_copy(loop->body, visit);
  }
}

bool depends_on(const Ref& ref, const std::string& index) {
  for (const Block& block : ref.blocks) {
    for (const Size& at : block.index) {
      if (names_in(at).count(index) > 0) return true;
    }
  }
  return false;
}

// --- Vectorization ------------------------------------------------------------------------------

/// A parallel loop on parts of tensors. Fails, without a reason, for other loops.
class PartsLoop {
 public:
  PartsLoop(const FlowLoop& loop, std::vector<Buffer>& buffers)
      : index_(loop.dimensions[0].index), count_(loop.dimensions[0].extent), buffers_(buffers) {}

  std::optional<std::vector<FlowStep>> whole(std::vector<FlowStep> steps) {
    std::map<std::size_t, Block> cut;  // buffers of an iteration that are copies of parts
    for (const FlowStep& step : steps) {
      const auto* copy = std::get_if<Copy>(&step.what);
      if (copy == nullptr) continue;
      for (const auto& [part, own] :
           {std::pair(&copy->from, &copy->to), std::pair(&copy->to, &copy->from)}) {
        if (depends_on(*part, index_) && own->blocks.empty()) {
          cut.insert({own->buffer, part->blocks.back()});
        }
      }
    }
    for (FlowStep& step : steps) {
      if (!widen(step, cut)) return std::nullopt;
    }
    for (const auto& [buffer, block] : cut) {
      std::vector<Size>& shape = buffers_[buffer].shape;
      if (block.cut != Cut::mma) shape[0] = shape[0] * count_;
      for (std::size_t d = 0; block.cut == Cut::mma && d < shape.size(); ++d) {
        shape[d] = shape[d] * Size(cuts_of(block, d));
      }
    }
    return steps;
  }

 private:
  bool widen(FlowStep& step, const std::map<std::size_t, Block>& cut) const {
    if (auto* copy = std::get_if<Copy>(&step.what)) {
      if (part_of(copy->from, cut) != part_of(copy->to, cut)) return false;
      for (Ref* ref : {&copy->from, &copy->to}) {
        if (cut.count(ref->buffer) == 0) continue;
        if (!is_all(*ref)) return false;
        ref->blocks.clear();
      }
      return widen(copy->from) && widen(copy->to);
    }
    auto* call = std::get_if<Call>(&step.what);
    if (call == nullptr) return false;
    for (const Size& position : call->positions) {
      if (names_in(position).count(index_) > 0) return false;
    }
    std::map<std::string, PartAxes> axes;
    for (std::size_t a = 0; a < call->arguments.size(); ++a) {
      Ref& ref = call->arguments[a];
      const Argument& argument = call->task->arguments[a];
      const auto own = cut.find(ref.buffer);
      if (own != cut.end()) {
        if (!is_all(ref)) return false;
        ref.blocks.clear();
        axes[argument.name] = axes_of(own->second, argument.shape.size());
      } else if (depends_on(ref, index_)) {
        axes[argument.name] = axes_of(ref.blocks.back(), argument.shape.size());
      }
      if (!widen(ref)) return false;
    }
    return goes_by_parts(*call->task, std::get<Leaf>(call->leaf->body), axes);
  }

  /// Part of one iteration: of a cut tensor, or the iteration's own copy; nullopt for other refs.
  std::optional<Block> part_of(const Ref& ref, const std::map<std::size_t, Block>& cut) const {
    const auto own = cut.find(ref.buffer);
    if (own != cut.end()) return own->second;
    return depends_on(ref, index_) ? std::optional(ref.blocks.back()) : std::nullopt;
  }

  /// Whether the part is the whole buffer, at its size for one iteration.
  bool is_all(const Ref& ref) const {
    return std::all_of(ref.blocks.begin(), ref.blocks.end(), [&](const Block& block) {
      return block.cut == Cut::blocks && block.tile == buffers_[ref.buffer].shape &&
             std::all_of(block.index.begin(), block.index.end(),
                         [](const Size& at) { return at == Size(0); });
    });
  }

  /// Widens a ref to the part of all iterations.
  bool widen(Ref& ref) const {
    if (!depends_on(ref, index_)) return true;
    auto all = united(ref.blocks.back(), index_, count_);
    if (!all) return false;
    ref.blocks.pop_back();
    if (*all) ref.blocks.push_back(**std::move(all));
    return !depends_on(ref, index_);
  }

  std::string index_;
  Size count_;
  std::vector<Buffer>& buffers_;
};

void vectorize_steps(std::vector<FlowStep>& steps, std::vector<Buffer>& buffers) {
  std::vector<FlowStep> out;
  for (FlowStep& step : steps) {
    auto* loop = std::get_if<FlowLoop>(&step.what);
    if (loop == nullptr) {
      out.push_back(std::move(step));
      continue;
    }
    vectorize_steps(loop->body, buffers);
    const bool parts = loop->parallel && loop->processor != Processor::host &&
                       loop->dimensions.size() == 1 && loop->dimensions[0].extent.constant();
    auto whole = parts ? PartsLoop(*loop, buffers).whole(loop->body) : std::nullopt;
    if (!whole) {
      out.push_back(std::move(step));
      continue;
    }
    for (FlowStep& inside : *whole) out.push_back(std::move(inside));
  }
  steps = std::move(out);
}

// --- Elimination --------------------------------------------------------------------------------

/// Removes blocks that cover their whole tensor.
void simplify(Ref& ref, const std::vector<Buffer>& buffers) {
  std::vector<Size> shape = buffers[ref.buffer].shape;
  std::vector<Block> kept;
  for (Block& block : ref.blocks) {
    const bool at_first = std::all_of(block.index.begin(), block.index.end(),
                                      [](const Size& at) { return at == Size(0); });
    if (block.cut != Cut::pick && block.cut != Cut::mma && at_first && block.tile == shape &&
        block.every.empty())
      continue;
    shape = shape_of(block, shape);
    kept.push_back(std::move(block));
  }
  ref.blocks = std::move(kept);
}

/// Buffers from and to which a tensor without a memory is copied as a whole; nullopt if a part is
/// copied.
std::optional<std::set<std::size_t>> partners_of(const Flow& flow, std::size_t buffer) {
  std::set<std::size_t> partners;
  bool whole = true;
  for_each_copy(flow.steps, [&](const Copy& copy, const Where&) {
    for (const auto& [mine, other] :
         {std::pair(copy.from, copy.to), std::pair(copy.to, copy.from)}) {
      if (mine.buffer != buffer) continue;
      whole = whole && mine.blocks.empty() && other.blocks.empty();
      partners.insert(other.buffer);
    }
  });
  return whole ? std::optional(partners) : std::nullopt;
}

/// Gives each tensor without a memory the memory of its users, registers first.
void place_tensors(Flow& flow) {
  for (std::size_t b = 0; b < flow.buffers.size(); ++b) {
    if (flow.buffers[b].memory != Memory::none) continue;
    const auto partners = partners_of(flow, b);
    if (!partners || partners->empty()) continue;
    Memory memory = flow.buffers[*partners->begin()].memory;
    for (const std::size_t partner : *partners) {
      if (flow.buffers[partner].memory == Memory::registers) memory = Memory::registers;
    }
    if (memory == Memory::none) continue;
    flow.buffers[b].memory = memory;
    for_each_ref(flow.steps, [&](Ref& ref) {
      const bool same = partners->count(ref.buffer) > 0 && !flow.buffers[ref.buffer].is_argument &&
                        flow.buffers[ref.buffer].memory == memory;
      if (same) ref.buffer = b;
    });
  }
}

void drop_self_copies(std::vector<FlowStep>& steps) {
  for (FlowStep& step : steps) {
    auto* loop = std::get_if<FlowLoop>(&step.what);
    if (loop != nullptr) drop_self_copies(loop->body);
  }
  std::erase_if(steps, [](const FlowStep& step) {
    const auto* copy = std::get_if<Copy>(&step.what);
    return copy != nullptr && copy->from == copy->to;
  });
}

/// Makes copies of unwritten memory once, at the first place where their operands are known.
class Sharing {
 public:
  explicit Sharing(Flow& flow) : flow_(flow) {}

  void run() {
    walk(flow_.steps);
    for_each_ref(flow_.steps, [&](Ref& ref) {
      const auto found = instead_.find(ref.buffer);
      if (found != instead_.end()) ref.buffer = found->second;
    });
  }

 private:
  /// Whether a copy is the only write to its target: the fresh buffer of an argument that is read.
  bool is_constant(const Copy& copy) const {
    const Buffer& from = flow_.buffers[copy.from.buffer];
    const Buffer& to = flow_.buffers[copy.to.buffer];
    if (!from.is_argument || to.is_argument || !copy.to.blocks.empty()) return false;
    return flow_.entry->arguments[copy.from.buffer].privilege == Privilege::reads;
  }

  void walk(std::vector<FlowStep>& steps) {
    const std::size_t outside = known_.size();
    std::vector<FlowStep> out;
    for (FlowStep& step : steps) {
      auto* loop = std::get_if<FlowLoop>(&step.what);
      if (loop != nullptr) {
        const bool grid = loop->parallel && loop->processor == Processor::host;
        if (!grid) hoist(*loop, out);
        walk(loop->body);
      }
      const auto* copy = std::get_if<Copy>(&step.what);
      if (copy != nullptr && is_constant(*copy) && !is_new(*copy)) continue;
      out.push_back(std::move(step));
    }
    known_.resize(outside);
    steps = std::move(out);
  }

  /// Moves copies that are equal in every iteration in front of the loop.
  void hoist(FlowLoop& loop, std::vector<FlowStep>& out) {
    std::vector<FlowStep> kept;
    for (FlowStep& step : loop.body) {
      auto* inner = std::get_if<FlowLoop>(&step.what);
      std::vector<FlowStep> from_inner;
      if (inner != nullptr) hoist(*inner, from_inner);
      from_inner.push_back(std::move(step));
      for (FlowStep& it : from_inner) {
        const auto* copy = std::get_if<Copy>(&it.what);
        bool same = copy != nullptr && is_constant(*copy);
        for (const Dimension& dimension : loop.dimensions) {
          same = same && !depends_on(copy->from, dimension.index);
        }
        if (!same) {
          kept.push_back(std::move(it));
        } else if (is_new(*copy)) {
          out.push_back(std::move(it));
        }
      }
    }
    loop.body = std::move(kept);
  }

  bool is_new(const Copy& copy) {
    for (const Copy& known : known_) {
      const bool same_memory =
          flow_.buffers[known.to.buffer].memory == flow_.buffers[copy.to.buffer].memory;
      if (!(known.from == copy.from) || !same_memory) continue;
      if (known.to.buffer == copy.to.buffer) return true;  // already moved in front of a loop
      instead_[copy.to.buffer] = known.to.buffer;
      return false;
    }
    known_.push_back(copy);
    return true;
  }

  Flow& flow_;
  std::vector<Copy> known_;
  std::map<std::size_t, std::size_t> instead_;
};

}  // namespace

Flow vectorize(Flow flow) {
  vectorize_steps(flow.steps, flow.buffers);
  order(flow);
  return flow;
}

Flow eliminate(Flow flow) {
  for_each_ref(flow.steps, [&](Ref& ref) { simplify(ref, flow.buffers); });
  place_tensors(flow);
  drop_self_copies(flow.steps);
  Sharing(flow).run();
  order(flow);
  return flow;
}

Result<void> check_none(const Flow& flow) {
  std::optional<Diagnostic> found;
  for_each_copy(flow.steps, [&](const Copy& copy, const Where& where) {
    for (const Ref* ref : {&copy.from, &copy.to}) {
      const Buffer& buffer = flow.buffers[ref->buffer];
      if (found || buffer.memory != Memory::none) continue;
      const Ref& other = ref == &copy.from ? copy.to : copy.from;
      found =
          fail_task("M08", where,
                    fmt::format("'{}' lies nowhere, and {} is copied {} '{}' in {}", buffer.name,
                                to_string(Piece{buffer.name, ref->blocks, {}}),
                                ref == &copy.from ? "to" : "from", flow.buffers[other.buffer].name,
                                name_of(flow.buffers[other.buffer].memory)),
                    "all tasks have to take the same parts of it")
              .value();
    }
  });
  if (found) return tl::unexpected(*found);
  return {};
}

}  // namespace twill::tasks
