#include <algorithm>

#include "twill/solve/encode.h"

/// Encoding: addresses of buffers.
namespace twill::solve {

void Encoding::make_extents() {
  for (const Store& memory : instance_.memories) {
    engine_.begin_block();
    const Node base = engine_.add_node();
    bases_.push_back(base);
    std::vector<Extent>& extents = extents_.emplace_back();
    for (std::size_t i = 0; i < memory.buffers.size(); ++i) {
      extents.push_back({engine_.add_node(), base});
    }
    for (Extent& extent : extents) extent.end = engine_.add_node();
  }
}

/// Address nodes, in the order of `make_extents`.
std::vector<AddressNode> Encoding::address_nodes() const {
  using Kind = AddressNode::Kind;
  std::vector<AddressNode> out;
  for (std::size_t number = 0; number < extents_.size(); ++number) {
    const std::vector<Buffer>& buffers = instance_.memories[number].buffers;
    out.push_back({Kind::base, number, 0});
    for (const Buffer& it : buffers) out.push_back({Kind::offset, number, it.ops.front()});
    for (const Buffer& it : buffers) out.push_back({Kind::end, number, it.ops.front()});
  }
  return out;
}

/// Adds offsets: a buffer is inside its memory, as long as its copies need, and apart from buffers
/// that live at the same time.
void Encoding::add_placement() {
  for (std::size_t number = 0; number < instance_.memories.size(); ++number) {
    const Store& memory = instance_.memories[number];
    for (std::size_t i = 0; i < memory.buffers.size() && fits(); ++i) {
      const Extent& extent = extents_[number][i];
      engine_.require({extent.offset, bases_[number], 0});
      engine_.require({extent.end, extent.offset, 0});
      engine_.require({bases_[number], extent.end, -memory.capacity});
      add_depth(number, memory.buffers[i], extent);
      for (std::size_t j = 0; j < i; ++j) {
        keep_apart(memory.buffers[j], extents_[number][j], memory.buffers[i], extent);
      }
    }
  }
}

/// Adds literals for the least depth of the buffer: no more of its copies are alive at the issue of
/// one of its values.
void Encoding::add_depth(std::size_t memory, const Buffer& buffer, const Extent& extent) {
  const std::int64_t fitting = instance_.memories[memory].capacity / buffer.size;
  const std::int64_t countable = countable_copies(fitting);
  const auto values = static_cast<std::int64_t>(buffer.ops.size());
  const std::int64_t deepest = std::min(fitting, values * countable);
  std::vector<Term> lacking;
  Literal before = kTrue;
  for (std::int64_t depth = 1; depth <= deepest; ++depth) {
    const Literal deep = literal({Meaning::Kind::deep, buffer.ops.front(), memory, depth});
    engine_.suggest(~deep);
    add_clause({}, {~deep, before});
    add_clause({}, {~deep, engine_.at_least({extent.end, extent.offset, depth * buffer.size})});
    before = deep;
    lacking.push_back({1, ~deep});
  }
  for (const std::size_t event : buffer.ops) {
    std::vector<Term> terms = lacking;
    for (const std::size_t value : buffer.ops) {
      count_copies({value, 1}, event, fitting, kTrue, terms);
    }
    add_at_most({Meaning::Kind::depth, event, memory, 0}, terms, deepest);
  }
}

/// Keeps two buffers apart if a value of one is alive at the issue of a live value of the other.
void Encoding::keep_apart(const Buffer& a, const Extent& of_a, const Buffer& b,
                          const Extent& of_b) {
  const auto lives = [&](std::size_t value, std::size_t event) {
    const bool always =
        instance_.tasks[value].always() && lifetimes_[value] >= (value == event ? 1 : ii_);
    return always ? kTrue : copy_alive(value, event, 1, kTrue);
  };
  const Literal above = engine_.at_least({of_b.offset, of_a.end, 0});
  const Literal below = engine_.at_least({of_a.offset, of_b.end, 0});
  for (const std::size_t first : a.ops) {
    for (const std::size_t second : b.ops) {
      add_clause({~lives(first, first), ~lives(second, first)}, {above, below});
      add_clause({~lives(second, second), ~lives(first, second)}, {above, below});
    }
  }
}

std::vector<schedule::Address> Encoding::addresses() const {
  std::vector<schedule::Address> out;
  for (std::size_t number = 0; number < extents_.size(); ++number) {
    const std::int64_t base = engine_.value(bases_[number]);
    const std::vector<Buffer>& buffers = instance_.memories[number].buffers;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const std::int64_t offset = engine_.value(extents_[number][i].offset) - base;
      for (const std::size_t op : buffers[i].ops) {
        out.push_back({schedule::OpId(op), schedule::MemoryId(number), offset});
      }
    }
  }
  std::sort(out.begin(), out.end(), schedule::comes_before);
  return out;
}

}  // namespace twill::solve
