// Rule `placement` (not in the paper, which counts amounts): every value keeps its addresses, and
// values that live together share none.

#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "twill/problem/problem.h"
#include "twill/verify/rules/live.h"

namespace twill::verify {
namespace {

/// Limit on steps of the search for missing addresses; beyond the limit none are found.
constexpr std::int64_t kMostLooks = 10'000'000;

/// Values at one range of addresses: one value, or all that in-place dependences tie together.
struct Item {
  std::vector<OpId> values;
  Amount amount = 0;  // of one copy
  Amount copies = 0;  // alive in one cycle, at most
  Amount alive = 0;   // alive in the current cycle
  Amount offset = 0;
  Amount size() const { return copies * amount; }
  Amount end() const { return offset + size(); }
};

class Placing {
 public:
  Placing(const Subject& subject, problem::MemoryId memory, LivesRun run, Findings& findings)
      : subject_(subject), id_(memory), run_(std::move(run)), findings_(findings) {
    gather_items();
    watch_steady_state();
  }

  void check() {
    if (fullest_ > capacity()) return;  // reported by `memory`
    const auto is_here = [&](const schedule::Address& it) { return it.memory == id_; };
    const auto& given = subject_.schedule.addresses;
    if (std::any_of(given.begin(), given.end(), is_here)) {
      if (take_offsets()) check_offsets();
    } else {
      search();
    }
  }

 private:
  Amount capacity() const { return subject_.problem[id_].capacity; }
  const std::string& memory() const { return subject_.problem[id_].name; }

  void gather_items() {
    const std::vector<Amount> amounts = amounts_in(subject_.problem, id_);
    std::vector<std::size_t> tied(subject_.op_count());  // first op of the op's buffer
    std::iota(tied.begin(), tied.end(), std::size_t{0});
    for (const problem::Dependence& edge : subject_.problem.dependences()) {
      const std::size_t a = tied[edge.from.index()];
      const std::size_t b = tied[edge.to.index()];
      const bool both = amounts[edge.from.index()] > 0 && amounts[edge.to.index()] > 0;
      if (edge.in_place && both)
        std::replace(tied.begin(), tied.end(), std::max(a, b), std::min(a, b));
    }
    item_of_.resize(subject_.op_count());
    std::map<std::size_t, std::size_t> items;
    for (const auto& [op, amount] : run_.amounts) {
      const auto [found, fresh] = items.try_emplace(tied[op.index()], items_.size());
      if (fresh) items_.emplace_back();
      item_of_[op.index()] = found->second;
      items_[found->second].values.push_back(op);
    }
    for (const problem::Dependence& edge : subject_.problem.dependences()) {
      const auto found = items.find(tied[edge.from.index()]);
      if (!edge.carries_value || found == items.end()) continue;
      Amount& largest = items_[found->second].amount;
      largest = std::max(largest, amounts[edge.from.index()]);
    }
    meet_.assign(items_.size() * items_.size(), false);
  }

  bool meet(std::size_t a, std::size_t b) const { return meet_[a * items_.size() + b]; }

  /// Runs through one interval of the steady state. Notes how many copies live in each cycle, and
  /// which items live together.
  void watch_steady_state() {
    std::vector<std::tuple<Cycles, bool, OpId>> events;  // (cycle, begins, op): an end sorts before
                                                         // a begin of the same cycle
    for (const Span& life : run_.instances) {
      events.emplace_back(life.begin, true, life.op);
      events.emplace_back(life.end, false, life.op);
    }
    std::sort(events.begin(), events.end());
    const Cycles until = run_.steady + subject_.interval();
    Amount sum = 0;
    for (const auto& [cycle, begins, op] : events) {
      if (cycle >= until) return;
      Item& item = items_[item_of_[op.index()]];
      item.alive += begins ? 1 : -1;
      sum += begins ? run_.amounts[op] : -run_.amounts[op];
      if (!begins || cycle < run_.steady) continue;
      fullest_ = std::max(fullest_, sum);
      item.copies = std::max(item.copies, item.alive);
      look_around(item_of_[op.index()]);
    }
  }

  /// Counts one more living copy of the item, and notes the items that live at that time.
  void look_around(std::size_t began) {
    for (std::size_t other = 0; other < items_.size(); ++other) {
      if (other == began || items_[other].alive == 0) continue;
      meet_[began * items_.size() + other] = meet_[other * items_.size() + began] = true;
    }
  }

  /// First cycle of the steady state in which both items live.
  Cycles meeting(std::size_t a, std::size_t b) const {
    std::vector<Span> of_a;
    std::vector<Span> of_b;
    for (const Span& life : run_.instances) {
      if (item_of_[life.op.index()] == a) of_a.push_back(life);
      if (item_of_[life.op.index()] == b) of_b.push_back(life);
    }
    Cycles first = run_.steady + subject_.interval();
    for (const Span& one : of_a) {
      for (const Span& other : of_b) {
        const Cycles begin = std::max({one.begin, other.begin, run_.steady});
        if (begin < std::min(one.end, other.end)) first = std::min(first, begin);
      }
    }
    return first;
  }

  std::string names(const Item& item) const {
    std::string out;
    for (const OpId op : item.values) out += (out.empty() ? "" : "+") + subject_.name(op);
    return out;
  }
  std::string range(const Item& item) const {
    return fmt::format("{} ({} x {}) from {} to {}", names(item), item.copies, item.amount,
                       item.offset, item.end());
  }
  bool complain(std::vector<OpId> ops, Cycles cycle, Amount value, Amount limit,
                const std::string& what) {
    return findings_.add({"placement", std::move(ops), cycle, value, limit, "placement: " + what});
  }

  /// Collects the offsets. Returns false if a value has no offset, or two values of a buffer
  /// differ.
  bool take_offsets() {
    bool fine = true;
    for (Item& item : items_) {
      for (const OpId op : item.values) {
        const auto given = schedule::offset_of(subject_.schedule, op, id_);
        if (!given) {
          complain({op}, 0, 0, 0,
                   fmt::format("{} has no offset in memory {}, where others have one",
                               subject_.name(op), memory()));
          fine = false;
          continue;
        }
        if (op == item.values.front()) item.offset = *given;
        if (item.offset == *given) continue;
        complain({item.values.front(), op}, 0, *given, item.offset,
                 fmt::format("{} and {} are one buffer of memory {}, but begin at {} and {}",
                             subject_.name(item.values.front()), subject_.name(op), memory(),
                             item.offset, *given));
        fine = false;
      }
    }
    return fine;
  }

  void check_offsets() {
    for (std::size_t a = 0; a < items_.size(); ++a) {
      const Item& item = items_[a];
      if (item.end() > capacity()) {
        complain(
            item.values, 0, item.end(), capacity(),
            fmt::format("{} lies beyond the {} of memory {}", range(item), capacity(), memory()));
      }
      for (std::size_t b = a + 1; b < items_.size(); ++b) {
        const Item& other = items_[b];
        if (!meet(a, b) || item.end() <= other.offset || other.end() <= item.offset) continue;
        const Cycles cycle = meeting(a, b);
        const bool more = complain(
            {item.values.front(), other.values.front()}, cycle, item.offset, other.offset,
            fmt::format("in memory {}, {} shares addresses with {}, and both live at cycle {}",
                        memory(), range(item), range(other), cycle));
        if (!more) return;
      }
    }
  }

  using Choice = std::tuple<Amount, Amount, std::size_t>;  // offset, size (negative), item

  /// Searches addresses for the remaining buffers, by rising offsets (larger buffers first), each
  /// on top of a buffer with a common cycle. Every placement, pushed down, has this form. The
  /// offsets of the rest are the least that the placed buffers allow.
  bool place_rest(const std::vector<std::size_t>& rest, const Choice& last) {
    std::vector<Choice> choices;
    for (const std::size_t i : rest) {
      if (items_[i].end() > capacity()) return false;
      choices.emplace_back(items_[i].offset, -items_[i].size(), i);
    }
    std::sort(choices.begin(), choices.end());
    for (const Choice& choice : choices) {
      if (choice < last) continue;
      looks_ += static_cast<std::int64_t>(rest.size());
      if (looks_ > kMostLooks) return false;
      const std::size_t placed = std::get<2>(choice);
      std::vector<std::size_t> others;
      std::vector<Amount> before;
      for (const std::size_t i : rest) {
        before.push_back(items_[i].offset);
        if (i == placed) continue;
        others.push_back(i);
        if (meet(i, placed)) items_[i].offset = std::max(items_[i].offset, items_[placed].end());
      }
      if (others.empty() || place_rest(others, choice)) return true;
      for (std::size_t i = 0; i < rest.size(); ++i) items_[rest[i]].offset = before[i];
    }
    return false;
  }

  void search() {
    Amount total = 0;
    for (const Item& item : items_) total += item.size();
    if (total <= capacity()) return;  // all fit side by side
    std::vector<std::size_t> all(items_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (place_rest(all, {-1, 0, 0})) return;
    std::string who;
    std::vector<OpId> ops;
    for (const Item& item : items_) {
      ops.insert(ops.end(), item.values.begin(), item.values.end());
      who += fmt::format("{}{} {} x {}", who.empty() ? "" : ", ", names(item), item.copies,
                         item.amount);
    }
    complain(std::move(ops), 0, fullest_, capacity(),
             fmt::format("{} for the values in memory {}, which has {}: {}",
                         looks_ > kMostLooks ? "no addresses were found" : "there are no addresses",
                         memory(), capacity(), who));
  }

  const Subject& subject_;
  const problem::MemoryId id_;
  LivesRun run_;
  Findings& findings_;
  std::vector<Item> items_;
  std::vector<std::size_t> item_of_;  // by OpId
  std::vector<bool> meet_;            // for each pair of items: both live in some cycle
  Amount fullest_ = 0;
  std::int64_t looks_ = 0;
};

}  // namespace

void check_placement(const Subject& subject, Findings& findings) {
  for (std::size_t m = 0; m < subject.problem.memories().size(); ++m) {
    const problem::MemoryId memory(m);
    Findings laid_out;  // values too many to simulate are reported by `memory`
    std::optional<LivesRun> run =
        run_lives(subject, {}, amounts_in(subject.problem, memory), laid_out);
    if (run) Placing(subject, memory, *std::move(run), findings).check();
  }
}

}  // namespace twill::verify
