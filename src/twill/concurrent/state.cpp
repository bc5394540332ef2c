#include <algorithm>
#include <set>

#include "twill/concurrent/machine.h"

/// Texts of states. Alike states have the same continuations, whatever trip counts led to them. Why
/// this is enough: docs/decisions/0012-verify-ttgir.md.
namespace twill::concurrent {
namespace {
constexpr std::int64_t kWithoutEnd = INT64_MAX;
}  // namespace

/// Writer of one state. Times are written as ranks among the times that may still be compared.
/// Agents and buffers are numbered in the order in which the state reaches them.
class StateText {
 public:
  /// `live`: the values that each role may still read.
  StateText(Machine& machine, std::vector<std::vector<ir::ValueId>> live)
      : machine_(machine),
        guide_(*machine.options_.guide),
        live_(std::move(live)),
        turned_(machine.turned(live_)) {}

  std::string write() {
    for (const auto& [number, storage] : machine_.named_) buffer(storage.get());
    for (std::size_t i = 0; i < live_.size(); ++i) find_buffers(machine_.roles_[i], live_[i]);
    forget_loads();
    find_barriers();
    find_accesses();
    find_times();
    number_quantities();
    for (const std::size_t turn : turned_.applied()) put('T', turn);
    for (std::size_t i = 0; i < live_.size(); ++i) write_role(machine_.roles_[i], live_[i]);
    write_buffers();
    for (const Placed& placed : barriers_) write_barrier(placed);
    for (const Machine::Work& work : machine_.work_) write_work(work);
    for (const auto& [visit, name] : machine_.loads_) write_visit(visit);
    write_quantities();
    order_agents();
    for (const Knowledge* known : clocks_) write_clock(*known);
    return std::move(text_);
  }

 private:
  /// An mbarrier, in the standard position of its ring.
  struct Placed {
    const Barrier* barrier = nullptr;
    std::int64_t offset = 0;
    bool flips = false;  ///< the other parity stands there
  };

  // --- parts of the state that may still matter

  void find_buffers(const Role& role, const std::vector<ir::ValueId>& live) {
    for (const ir::ValueId value : live) {
      const auto* view = std::get_if<execute::View>(&role.values.value(value));
      if (view != nullptr) buffer(view->storage.get());
    }
  }

  std::size_t buffer(const execute::Tile* storage) {
    const auto [place, added] = buffers_.try_emplace(storage, buffers_.size());
    if (added) storages_.push_back(storage);
    return place->second;
  }

  /// Forgets landed copies that a role knows of: these copies are also known to have landed at the
  /// end.
  void forget_loads() {
    std::erase_if(machine_.loads_, [&](const auto& load) {
      return std::any_of(machine_.roles_.begin(), machine_.roles_.end(), [&](const Role& role) {
        return role.known.done.covers(load.first.agent, load.first.time);
      });
    });
  }

  void find_barriers() {
    for (const Machine::Work& work : machine_.work_) {
      for (const execute::View& view : work.barriers) buffer(view.storage.get());
    }
    for (const execute::Tile* storage : storages_) {
      const auto& all = machine_.barriers_.all_;
      const auto first = static_cast<std::ptrdiff_t>(barriers_.size());
      for (auto at = all.lower_bound({storage, INT64_MIN});
           at != all.end() && at->first.first == storage; ++at) {
        const std::int64_t offset = at->first.second;
        barriers_.push_back(
            {&at->second, turned_.offset_of(storage, offset), turned_.flips(storage, offset)});
      }
      std::ranges::sort(barriers_.begin() + first, barriers_.end(), {}, &Placed::offset);
    }
  }

  /// Finds accesses of live buffers; all other accesses are forgotten.
  void find_accesses() {
    Ledger& ledger = machine_.ledger_;
    std::erase_if(ledger.buffers_,
                  [&](const auto& entry) { return !buffers_.contains(entry.first); });
    std::vector<Access> kept;
    std::map<std::uint32_t, std::uint32_t> numbers;
    const auto keep = [&](std::uint32_t access) {
      const auto [place, added] =
          numbers.try_emplace(access, static_cast<std::uint32_t>(kept.size()));
      if (added) kept.push_back(ledger.accesses_[access]);
      return place->second;
    };
    std::vector<Ledger::Past> states = {Ledger::Past()};
    std::map<Ledger::Past, Ledger::State> by_past = {{Ledger::Past(), 0}};
    for (const execute::Tile* storage : storages_) {
      const auto found = ledger.buffers_.find(storage);
      if (found == ledger.buffers_.end()) continue;
      for (Ledger::Run& run : found->second.runs) {
        Ledger::Past past = ledger.states_[run.state];
        if (past.write != Ledger::kNobody) past.write = keep(past.write);
        for (std::uint32_t& read : past.reads) read = keep(read);
        const auto [place, added] =
            by_past.try_emplace(past, static_cast<Ledger::State>(states.size()));
        if (added) states.push_back(past);
        run.state = place->second;
      }
    }
    ledger.accesses_ = std::move(kept);
    ledger.states_ = std::move(states);
    ledger.numbers_ = std::move(by_past);
  }

  void note(std::size_t agent, std::uint32_t time) { times_[agent].push_back(time); }
  void note(const Visit& visit) { note(visit.agent, visit.time); }

  void note_queue(const Queue& queue) {
    for (std::int64_t open = 0; open <= guide_.most_open + 1; ++open) {
      if (open > static_cast<std::int64_t>(queue.issued)) break;
      note(queue.agent, queue.issued - static_cast<std::uint32_t>(open));
    }
  }

  /// Finds times of agents with which knowledge may still be compared.
  void find_times() {
    for (const Access& access : machine_.ledger_.accesses_) note(access.agent, access.time);
    for (const auto& [barrier, offset, flips] : barriers_) {
      note(barrier->agent, barrier->completed);
      note(barrier->agent, barrier->completed + 1);
      for (const auto* visits :
           {&barrier->arrivals, &barrier->previous, &barrier->earlier, &barrier->waits}) {
        for (const Visit& visit : *visits) note(visit);
      }
      if (machine_.is_new(*barrier)) note(barrier->made);
    }
    for (const Machine::Work& work : machine_.work_) note(work.visit);
    for (const auto& [visit, name] : machine_.loads_) note(visit);
    for (const Role& role : machine_.roles_) {
      for (const Queue* queue : {&role.products, &role.copies, &role.stores, &role.tensor}) {
        note_queue(*queue);
      }
      for (const auto& [value, time] : role.in_flight) note(role.products.agent, time);
      for (const std::uint32_t time : tail(role.copy_groups)) note(role.copies.agent, time);
      for (const std::uint32_t time : tail(role.store_groups)) note(role.stores.agent, time);
    }
    for (const Machine::Work& work : machine_.work_) {
      const Role& role = machine_.roles_[work.role];
      if (const auto agent = queue_of(work, role)) note(*agent, work.time);
    }
    for (auto& [agent, times] : times_) {
      std::sort(times.begin(), times.end());
      times.erase(std::unique(times.begin(), times.end()), times.end());
    }
  }

  static std::optional<std::size_t> queue_of(const Machine::Work& work, const Role& role) {
    using Kind = Machine::Work::Kind;
    switch (work.kind) {
      case Kind::load:
        return std::nullopt;
      case Kind::copy:
      case Kind::copy_arrival:
        return role.copies.agent;
      case Kind::store:
        return role.stores.agent;
      default:
        return role.tensor.agent;
    }
  }

  /// Groups that a wait may still cover.
  std::vector<std::uint32_t> tail(const std::vector<std::uint32_t>& groups) const {
    const auto most = static_cast<std::size_t>(guide_.most_open) + 1;
    const std::size_t from = groups.size() > most ? groups.size() - most : 0;
    return {groups.begin() + static_cast<std::ptrdiff_t>(from), groups.end()};
  }

  // --- quantities

  bool is_in(std::size_t role, std::size_t quantity) const {
    const auto& frames = machine_.roles_[role].frames;
    return std::any_of(frames.begin(), frames.end(),
                       [&](const Frame& frame) { return frame.quantity == quantity; });
  }

  /// Whether a role may still enter a loop of this quantity.
  bool is_awaited(const OpenNumber& quantity) {
    const auto found = guide_.roles.find({quantity.form, quantity.occurrence});
    if (found == guide_.roles.end()) return false;
    for (std::size_t role = 0; role < guide_.role_count; ++role) {
      if (((found->second & ~quantity.left) >> role & 1U) == 0) continue;
      if (role < machine_.roles_.size()) {
        if (machine_.roles_[role].ended() || is_in(role, quantity.id)) continue;
        if (quantity.scope && machine_.is_past(role, quantity.scope)) continue;
      }
      return true;
    }
    return false;
  }

  void number_quantities() {
    for (const OpenNumber& quantity : machine_.quantities_.all()) {
      ids_.emplace(quantity.id, ids_.size());
      std::int64_t base = kWithoutEnd;
      for (const Role& role : machine_.roles_) {
        for (const Frame& frame : role.frames) {
          if (frame.quantity == quantity.id) base = std::min(base, frame.position);
        }
      }
      const bool awaited = is_awaited(quantity);
      inside_[quantity.id] = base != kWithoutEnd;
      bases_[quantity.id] = awaited || base == kWithoutEnd ? 0 : base;
      awaited_[quantity.id] = awaited;
    }
  }

  void write_quantities() {
    for (const OpenNumber& it : machine_.quantities_.all()) {
      put('q', it.form, it.occurrence, it.left);
      if (it.scope && it.scope->first == kDrawn) {
        put('d', draw(static_cast<std::size_t>(it.scope->second)));
      } else if (it.scope) {
        put('s', ids_.at(it.scope->first), it.scope->second - bases_.at(it.scope->first));
      }
      const auto largest = guide_.largest.find({it.form, it.occurrence});
      const std::int64_t most = largest == guide_.largest.end() ? 0 : largest->second;
      if (inside_[it.id] || awaited_[it.id]) {
        const std::int64_t base = bases_[it.id];
        put('r', awaited_[it.id], it.above ? *it.above - base : -kWithoutEnd,
            it.at_most ? *it.at_most - base : kWithoutEnd);
      }
      if (guide_.valued_forms.contains(it.form)) write_value_of(it);
      put('c', it.above ? std::min(*it.above, most) : -kWithoutEnd,
          it.at_most && *it.at_most <= most ? *it.at_most : kWithoutEnd);
    }
  }

  /// Writes the remainder of a quantity from which values are computed; small quantities are
  /// written unchanged.
  void write_value_of(const OpenNumber& it) {
    const std::int64_t first = guide_.only_remainders;
    const auto left = [&](std::optional<std::int64_t> bound) {
      if (!bound) return kWithoutEnd;
      return *bound < first ? *bound : first + (*bound - first) % guide_.common_period;
    };
    const bool exact = it.above && it.at_most && *it.above + 1 == *it.at_most;
    put('m', exact, left(it.above));
  }

  // --- text

  /// Writes a number so that no number is a prefix of another. A byte has seven bits; all bytes but
  /// the last have the eighth bit set.
  void put_number(std::int64_t number) {
    auto bits = static_cast<std::uint64_t>(number) << 1U;
    if (number < 0) bits = ~bits;
    for (; bits >= 0x80U; bits >>= 7U) text_ += static_cast<char>((bits & 0x7fU) | 0x80U);
    text_ += static_cast<char>(bits);
  }
  template <class... Numbers>
  void put(char what, Numbers... numbers) {
    text_ += what;
    (put_number(static_cast<std::int64_t>(numbers)), ...);
  }

  std::size_t agent(std::size_t agent) {
    return agents_.try_emplace(agent, agents_.size()).first->second;
  }

  std::size_t draw(std::size_t number) {
    return draws_.try_emplace(number, draws_.size()).first->second;
  }

  void write_number(const Number& number) {
    put('h', number.draw.has_value(),
        number.draw ? static_cast<std::int64_t>(draw(*number.draw)) : number.known);
  }

  std::size_t rank(std::size_t agent, std::uint32_t time) const {
    const auto found = times_.find(agent);
    if (found == times_.end()) return 0;
    const auto& times = found->second;
    return static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), time) -
                                    times.begin());
  }

  void write_time(std::size_t its_agent, std::uint32_t time) {
    put('t', agent(its_agent), rank(its_agent, time));
  }
  void write_visit(const Visit& visit) {
    write_time(visit.agent, visit.time);
    put('o', visit.op.index());
  }
  /// Postpones a clock to the end of the text, when all agents have their numbers.
  void write_clock_later(const Knowledge& known) { clocks_.push_back(&known); }
  void order_agents() {
    for (const auto& [its_agent, number] : agents_) {
      const auto found = times_.find(its_agent);
      if (found == times_.end()) continue;  // no later comparison reads this agent's time
      ordered_.push_back({number, its_agent, &found->second});
    }
    std::sort(ordered_.begin(), ordered_.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
  }
  void write_clock(const Knowledge& known) {
    text_ += 'k';
    for (const auto& [number, its_agent, times] : ordered_) {
      for (const Clock* clock : {&known.done, &known.visible}) {
        const std::uint32_t time = clock->at(its_agent);
        const auto later =
            std::find_if(times->begin(), times->end(), [&](std::uint32_t it) { return it > time; });
        put_number(later - times->begin());
      }
    }
  }

  void write_role(const Role& role, const std::vector<ir::ValueId>& live) {
    put('R', role.ended(), role.children, role.waits);
    for (const Frame& frame : role.frames) {
      put('f', static_cast<int>(frame.kind), frame.op.index(), frame.block.index(), frame.next);
      if (frame.quantity) {
        put('p', ids_.at(*frame.quantity), frame.position - bases_.at(*frame.quantity),
            frame.in_tile);
      }
    }
    for (const std::size_t shift : role.shifted) put('S', shift);
    if (role.synchronizes) {
      const auto [number, phase] = *role.synchronizes;
      put('N', number, machine_.named_barrier(number).completed - phase);
    }
    for (const std::size_t its_agent : {role.agent, role.products.agent, role.copies.agent,
                                        role.stores.agent, role.tensor.agent}) {
      agent(its_agent);
    }
    for (const Queue* queue : {&role.products, &role.copies, &role.stores, &role.tensor}) {
      put('i', std::min<std::int64_t>(queue->issued, guide_.most_open + 1));
    }
    for (const std::uint32_t time : tail(role.copy_groups)) write_time(role.copies.agent, time);
    put('g');
    for (const std::uint32_t time : tail(role.store_groups)) write_time(role.stores.agent, time);
    for (const ir::ValueId value : live) write_value(role, value);
    write_clock_later(role.known);
  }

  void write_value(const Role& role, ir::ValueId value) {
    const auto in_flight = role.in_flight.find(value);
    if (in_flight != role.in_flight.end() &&
        !role.known.done.covers(role.products.agent, in_flight->second)) {
      put('w', value.index(), rank(role.products.agent, in_flight->second));
    }
    const auto number = role.numbers.find(value);
    if (number != role.numbers.end()) {
      put('u', value.index());
      write_number(number->second);
    }
    const execute::Value& known = role.values.value(value);
    if (const auto* view = std::get_if<execute::View>(&known)) {
      put('v', value.index(), buffer(view->storage.get()), turned_.offset_of(*view),
          view->type_number());
      for (const std::int64_t stride : view->strides) put(',', stride);
      return;
    }
    const auto* tile = std::get_if<execute::TilePtr>(&known);
    if (tile == nullptr || (*tile)->is_floating() || (*tile)->size() != 1) return;
    const std::int64_t now = (*tile)->integers()[0];
    const auto standard = turned_.is_applied(value) ? turned_.number_of(value, now) : now;
    if (standard) put('n', value.index(), *standard);
  }

  void write_buffers() {
    const Ledger& ledger = machine_.ledger_;
    for (const execute::Tile* storage : storages_) {
      const auto found = ledger.buffers_.find(storage);
      if (found == ledger.buffers_.end()) continue;
      put('B', storage->size(), found->second.in_bytes);
      const Turned::Slots* const slots = turned_.slots_of(storage);
      if (slots == nullptr) {
        write_runs(found->second, 0, found->second.end);
        continue;
      }
      for (std::int64_t slot = 0; slot < slots->count; ++slot) {
        const std::int64_t from = (slot + slots->count - slots->by) % slots->count;
        put('s', slot);
        write_runs(found->second, from * slots->elements, (from + 1) * slots->elements);
      }
    }
  }

  /// Writes the runs of the elements in [first, end).
  void write_runs(const Ledger::Buffer& buffer, std::int64_t first, std::int64_t end) {
    const auto behind = [](std::int64_t at, const Ledger::Run& run) { return at < run.first; };
    auto run = std::upper_bound(buffer.runs.begin(), buffer.runs.end(), first, behind);
    for (run = std::prev(run); run != buffer.runs.end() && run->first < end; ++run) {
      put('e', std::max(run->first, first) - first);
      const Ledger::Past& past = machine_.ledger_.states_[run->state];
      if (past.write != Ledger::kNobody) write_access(machine_.ledger_.accesses_[past.write]);
      put('/');
      for (const std::uint32_t read : sorted(past.reads)) {
        write_access(machine_.ledger_.accesses_[read]);
      }
    }
  }

  /// Sorts reads in an order that does not depend on the time of their recording.
  std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> reads) const {
    const auto& accesses = machine_.ledger_.accesses_;
    std::ranges::sort(reads, {}, [&](std::uint32_t read) { return accesses[read].agent; });
    return reads;
  }

  void write_access(const Access& access) {
    write_time(access.agent, access.time);
    put('a', access.in_order, static_cast<int>(access.proxy), access.op.index());
    if (access.number) write_number(*access.number);
  }

  void write_barrier(const Placed& placed) {
    const Barrier& barrier = *placed.barrier;
    put('b', placed.offset, barrier.count, barrier.pending, barrier.bytes,
        (barrier.completed & 1U) ^ (placed.flips ? 1U : 0U));
    write_time(barrier.agent, barrier.completed);
    for (const auto* visits :
         {&barrier.arrivals, &barrier.previous, &barrier.earlier, &barrier.waits}) {
      put('|');
      for (const Visit& visit : *visits) write_visit(visit);
    }
    if (machine_.is_new(barrier)) write_visit(barrier.made);
    write_clock_later(barrier.gathered);
    write_clock_later(barrier.last);
  }

  void write_work(const Machine::Work& work) {
    put('W', static_cast<int>(work.kind), work.role, work.op.index(), work.amount);
    if (const auto its_queue = queue_of(work, machine_.roles_[work.role])) {
      write_time(*its_queue, work.time);
    }
    write_visit(work.visit);
    for (const execute::View& view : work.barriers) {
      put('v', buffer(view.storage.get()), turned_.offset_of(view));
    }
    write_clock_later(work.known);
  }

  Machine& machine_;
  const Guide& guide_;
  std::string text_;
  std::vector<std::vector<ir::ValueId>> live_;  ///< by role
  Turned turned_;
  struct Ordered {
    std::size_t number = 0;
    std::size_t agent = 0;
    const std::vector<std::uint32_t>* times = nullptr;
  };
  std::vector<Ordered> ordered_;  ///< agents with times, in order of their numbers
  std::map<const execute::Tile*, std::size_t> buffers_;
  std::vector<const execute::Tile*> storages_;
  std::vector<Placed> barriers_;
  std::map<std::size_t, std::vector<std::uint32_t>> times_;
  std::map<std::size_t, std::size_t> agents_;
  std::map<std::size_t, std::size_t> draws_;
  std::vector<const Knowledge*> clocks_;
  std::map<std::size_t, std::size_t> ids_;
  std::map<std::size_t, std::int64_t> bases_;
  std::map<std::size_t, bool> inside_;
  std::map<std::size_t, bool> awaited_;
};

std::string Machine::state() {
  std::vector<std::vector<ir::ValueId>> live = keep_live();
  in_use_ = draws_in_use();
  shift_counters(live);
  forget_quantities();
  return StateText(*this, std::move(live)).write();
}

}  // namespace twill::concurrent
