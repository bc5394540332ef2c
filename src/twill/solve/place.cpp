#include "twill/solve/place.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "twill/solve/recheck.h"

namespace twill::solve {
namespace {

using schedule::Address;
using schedule::Schedule;

/// Limit on pairs of buffers that the search of one memory may visit.
constexpr std::int64_t kMostLooks = 2'000'000;

/// Buffers of one memory, with their lives in a schedule.
class Layout {
 public:
  Layout(const Instance& instance, const Schedule& schedule, std::size_t memory)
      : store_(instance.memories[memory]),
        memory_(memory),
        sizes_(count(), 0),
        offsets_(count(), 0),
        meet_(count(), std::vector<std::uint8_t>(count(), 0)) {
    std::vector<std::size_t> buffer_of(instance.op_count(), 0);
    for (std::size_t i = 0; i < count(); ++i) {
      for (const std::size_t op : store_.buffers[i].ops) buffer_of[op] = i;
    }
    for (const Occupant& event : store_.values) {
      if (copies_alive(instance, schedule, event.op, event.op) == 0) continue;
      living_.push_back(event.op);
      const std::size_t own = buffer_of[event.op];
      Cycles copies = 0;
      for (const Occupant& value : store_.values) {
        const Cycles alive = copies_alive(instance, schedule, value.op, event.op);
        const std::size_t other = buffer_of[value.op];
        if (other == own) copies += alive;
        if (other != own && alive > 0) meet_[own][other] = meet_[other][own] = 1;
      }
      sizes_[own] = std::max(sizes_[own], copies * store_.buffers[own].size);
    }
  }

  bool place() { return fill_gaps() || search(); }

  /// Takes the offsets of the schedule, if they obey the rule. Returns whether they do.
  bool take(const Schedule& schedule) {
    for (const std::size_t op : living_) {
      const auto offset =
          schedule::offset_of(schedule, problem::OpId(op), problem::MemoryId(memory_));
      if (!offset) return false;
      offsets_[buffer_of(op)] = *offset;
    }
    for (std::size_t a = 0; a < count(); ++a) {
      if (sizes_[a] > 0 && end(a) > store_.capacity) return false;
      for (std::size_t b = 0; b < a; ++b) {
        if (meet_[a][b] != 0 && end(a) > offsets_[b] && end(b) > offsets_[a]) return false;
      }
    }
    return true;
  }

  void tell(std::vector<Address>& addresses) const {
    for (const std::size_t op : living_) {
      addresses.push_back({problem::OpId(op), problem::MemoryId(memory_), offsets_[buffer_of(op)]});
    }
  }

 private:
  std::size_t count() const { return store_.buffers.size(); }
  std::int64_t end(std::size_t i) const { return offsets_[i] + sizes_[i]; }

  std::size_t buffer_of(std::size_t op) const {
    for (std::size_t i = 0; i < count(); ++i) {
      const auto& ops = store_.buffers[i].ops;
      if (std::find(ops.begin(), ops.end(), op) != ops.end()) return i;
    }
    return count();
  }

  /// Places the largest buffers first, each at the first place where it fits.
  bool fill_gaps() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < count(); ++i) {
      if (sizes_[i] > 0) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sizes_[a] > sizes_[b]; });
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t i = order[k];
      std::vector<std::pair<std::int64_t, std::int64_t>> taken;
      for (std::size_t j = 0; j < k; ++j) {
        if (meet_[i][order[j]] != 0) taken.emplace_back(offsets_[order[j]], end(order[j]));
      }
      std::sort(taken.begin(), taken.end());
      offsets_[i] = 0;
      for (const auto& [from, to] : taken) {
        if (end(i) <= from) break;
        offsets_[i] = std::max(offsets_[i], to);
      }
      if (end(i) > store_.capacity) return false;
    }
    return true;
  }

  /// Searches placements by rising offsets, at equal offsets the larger buffer first. Each buffer
  /// lies on top of a placed buffer with a common cycle. Every placement, pushed down, has this
  /// form.
  using Choice = std::tuple<std::int64_t, std::int64_t, std::size_t>;  // offset, -size, buffer
  bool search() {
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < count(); ++i) {
      if (sizes_[i] > 0) rest.push_back(i);
      offsets_[i] = 0;
    }
    looks_ = 0;
    return place_rest(rest, {-1, 0, 0});
  }

  /// Places the rest; their `offsets_` are the least that the placed buffers allow.
  bool place_rest(const std::vector<std::size_t>& rest, const Choice& last) {
    if (rest.empty()) return true;
    std::vector<Choice> choices;
    for (const std::size_t i : rest) {
      if (end(i) > store_.capacity) return false;
      choices.emplace_back(offsets_[i], -sizes_[i], i);
    }
    std::sort(choices.begin(), choices.end());
    const std::vector<std::int64_t> before = offsets_;
    for (const Choice& choice : choices) {
      if (choice < last) continue;
      const std::size_t next = std::get<2>(choice);
      looks_ += static_cast<std::int64_t>(count());
      if (looks_ > kMostLooks) return false;
      std::vector<std::size_t> others;
      for (const std::size_t i : rest) {
        if (i == next) continue;
        others.push_back(i);
        if (meet_[i][next] != 0) offsets_[i] = std::max(offsets_[i], end(next));
      }
      if (place_rest(others, choice)) return true;
      offsets_ = before;
    }
    return false;
  }

  const Store& store_;
  const std::size_t memory_;
  std::vector<std::int64_t> sizes_;  ///< by buffer: size of all its copies
  std::vector<std::int64_t> offsets_;
  std::vector<std::vector<std::uint8_t>> meet_;  ///< for each pair of buffers: both live in some
                                                 ///< cycle
  std::vector<std::size_t> living_;              ///< values, by op
  std::int64_t looks_ = 0;
};

}  // namespace

std::optional<Schedule> with_addresses(const Instance& instance, const Schedule& schedule) {
  Schedule out = schedule;
  out.addresses.clear();
  for (std::size_t memory = 0; memory < instance.memories.size(); ++memory) {
    if (instance.memories[memory].buffers.empty()) continue;
    Layout layout(instance, schedule, memory);
    if (!layout.place() && !layout.take(schedule)) return std::nullopt;
    layout.tell(out.addresses);
  }
  std::sort(out.addresses.begin(), out.addresses.end(), schedule::comes_before);
  return out;
}

}  // namespace twill::solve
