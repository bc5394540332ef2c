#include "twill/numerics/slots.h"

#include <algorithm>

#include <fmt/format.h>

namespace twill::numerics {

Slots::Slots(const plan::Plan& plan) : plan_(plan) {
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    first_.push_back(slots_.size());
    for (int copy = 0; copy < std::max(1, plan.buffers[b].depth); ++copy) {
      Slot slot;
      slot.buffer = BufferId(b);
      slot.copy = copy;
      slots_.push_back(std::move(slot));
    }
  }
  for (std::size_t a = 0; a < slots_.size(); ++a) {
    for (std::size_t b = 0; b < slots_.size(); ++b) {
      if (a != b && overlap(slots_[a], slots_[b])) slots_[a].beside.push_back(b);
    }
  }
}

bool Slots::overlap(const Slot& a, const Slot& b) const {
  const plan::Buffer& one = plan_[a.buffer];
  const plan::Buffer& other = plan_[b.buffer];
  if (one.residence == plan::Residence::registers || one.residence != other.residence) return false;
  if (one.memory != other.memory) return false;
  const Amount begin = one.offset + a.copy * one.size, start = other.offset + b.copy * other.size;
  return begin < start + other.size && start < begin + one.size;
}

std::size_t Slots::of(BufferId buffer, std::int64_t iteration) const {
  const std::int64_t depth = std::max(1, plan_[buffer].depth);
  const std::int64_t copy = ((iteration % depth) + depth) % depth;
  return first_[buffer.index()] + static_cast<std::size_t>(copy);
}

void Slots::touch(std::size_t slot, Queue queue) {
  Slot& it = slots_[slot];
  ++it.changes;
  if (queue != 0) ++it.own[queue];
  for (const std::size_t other : it.beside) destroy(other, queue);
}

void Slots::destroy(std::size_t slot, Queue queue) {
  Slot& it = slots_[slot];
  it.content.clear();
  ++it.changes;
  if (queue != 0) ++it.own[queue];
}

void Slots::put(std::size_t slot, Content content) {
  touch(slot, 0);
  slots_[slot].content = std::move(content);
}

void Slots::add(std::size_t slot, Thing thing, Piece piece) {
  slots_[slot].content.insert_or_assign(thing, std::move(piece));
}

void Slots::begin_write(std::size_t slot, Queue queue, bool keeps) {
  touch(slot, queue);
  Slot& it = slots_[slot];
  if (!keeps) it.content.clear();
  ++it.writers;
  it.writer = queue;
}

void Slots::end_write(std::size_t slot, Content content, Queue queue) {
  touch(slot, queue);
  Slot& it = slots_[slot];
  --it.writers;
  it.content = std::move(content);
}

const Piece* Slots::find(std::size_t slot, Thing thing, Queue queue) const {
  const Slot& it = slots_[slot];
  if (it.writers > 0 && (queue == 0 || it.writer != queue)) return nullptr;
  const auto found = it.content.find(thing);
  return found == it.content.end() ? nullptr : &found->second;
}

std::int64_t Slots::changes(std::size_t slot, Queue queue) const {
  const Slot& it = slots_[slot];
  const auto own = it.own.find(queue);
  return it.changes - (own == it.own.end() ? 0 : own->second);
}

std::string Slots::name(std::size_t slot) const {
  const plan::Buffer& buffer = plan_[slots_[slot].buffer];
  return buffer.depth > 1 ? fmt::format("{}, slot {}", buffer.name, slots_[slot].copy)
                          : buffer.name;
}

}  // namespace twill::numerics
