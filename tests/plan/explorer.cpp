#include "plan/explorer.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "plan/explored_layout.h"
#include "plan/explored_state.h"

namespace twill::plan::testing {
namespace {

class Explorer {
 public:
  Explorer(const Plan& plan, std::int64_t trips)
      : plan_(plan),
        trips_(trips),
        role_(roles_of(plan)),
        memory_(plan, role_),
        layout_(plan, trips),
        warps_(layout_.warps()) {}

  Exploration run(std::size_t most) {
    Exploration result;
    std::vector<State> todo = {start()};
    std::unordered_set<std::string> seen = {todo[0].key()};
    while (!todo.empty() && !failure_) {
      const State state = std::move(todo.back());
      todo.pop_back();
      std::vector<State> next = successors(state);
      if (failure_) break;
      if (next.empty() && !finished(state)) {
        result.end = Exploration::End::stuck;
        result.what = where(state);
        result.states = seen.size();
        return result;
      }
      if (next.empty()) check_end(state);
      for (State& s : next) {
        if (seen.insert(s.key()).second) todo.push_back(std::move(s));
      }
      if (seen.size() > most) return {Exploration::End::too_large, "", seen.size()};
    }
    result.states = seen.size();
    if (failure_) {
      result.end = Exploration::End::wrong;
      result.what = *failure_;
    }
    return result;
  }

 private:
  State start() const {
    State state;
    state.at.assign(warps_.size(), 0);
    state.met.assign(warps_.size(), -1);
    for (const std::int64_t count : layout_.counts()) state.barriers.push_back({0, count, 0});
    state.queues.resize(layout_.crews() * 3);
    state.ended.assign(layout_.crews() * 3, 0);
    state.pending.resize(layout_.crews());
    state.cells.assign(layout_.ctas(), memory_.at_start());
    state.begun.assign(layout_.ctas() * role_.size() * static_cast<std::size_t>(trips_ + 1), 0);
    state.done = state.begun;
    return state;
  }

  std::size_t run_of(std::size_t cta, OpId op, std::int64_t iteration) const {
    return (cta * role_.size() + op.index()) * static_cast<std::size_t>(trips_ + 1) +
           static_cast<std::size_t>(iteration);
  }

  static constexpr std::size_t kBulk = 2;
  static std::size_t queue_of(Mechanism how) {
    return how == Mechanism::wgmma ? 0 : how == Mechanism::tcgen05 ? 1 : kBulk;
  }

  void wrong(const std::string& what) {
    if (!failure_) failure_ = what;
  }
  const std::string& name(OpId op) const { return plan_.problem[op].name; }

  std::string where(const State& state) const {
    std::string text;
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      if (state.at[w] >= warps_[w].program.size()) continue;
      const Micro& micro = warps_[w].program[state.at[w]];
      text += plan_[warps_[w].role].name + " at " + std::string(name_of(micro.step->kind));
      if (micro.step->channel) text += " " + plan_[*micro.step->channel].name;
      text += " of " + std::to_string(micro.iteration) + "; ";
    }
    return text;
  }

  bool finished(const State& state) const {
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      if (state.at[w] < warps_[w].program.size()) return false;
    }
    return true;
  }

  void check_end(const State& state) {
    for (std::size_t v = 0; v < role_.size(); ++v) {
      for (std::int64_t i = 0; i < trips_; ++i) {
        if (state.begun[run_of(0, OpId(v), i)] == 0) wrong("nobody did " + name(OpId(v)));
      }
    }
  }

  /// Steps that no other agent can see or hinder: taking them first loses no behaviour.
  bool is_local(std::size_t warp, const Micro& micro) const {
    const Step& step = *micro.step;
    if (step.kind == StepKind::fence || step.kind == StepKind::peek) return true;
    if (step.kind != StepKind::compute) return false;
    const auto home = plan_.values[step.op->index()].home;
    if (home && plan_[*home].residence != Residence::registers) return false;
    for (const problem::Dependence& d : plan_.problem.dependences()) {
      // A step that must come after it may be seen to come before.
      if (d.from == *step.op && !d.carries_value) return false;
      if (d.to != *step.op || !d.carries_value) continue;
      const auto from = plan_.values[d.from.index()].home;
      const bool registers = from && plan_[*from].residence == Residence::registers;
      if (from && (!registers || role_[d.from.index()] != warps_[warp].role)) return false;
      // A step that looks too early can see the end of asynchronous work on its operands.
      if (is_asynchronous(plan_.mechanisms[d.from.index()])) return false;
    }
    return true;
  }

  std::vector<State> successors(const State& state) {
    std::vector<State> next;
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      if (state.at[w] >= warps_[w].program.size()) continue;
      if (!is_local(w, warps_[w].program[state.at[w]])) continue;
      State after = state;
      if (take(after, w)) return {std::move(after)};
    }
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      if (state.at[w] >= warps_[w].program.size()) continue;
      State after = state;
      if (take(after, w)) next.push_back(std::move(after));
    }
    end_work(state, next);
    return next;
  }

  /// Ends every kind of asynchronous work that may end now.
  void end_work(const State& state, std::vector<State>& next) {
    for (std::size_t q = 0; q < state.queues.size(); ++q) {
      if (state.queues[q].empty()) continue;
      const Flight& first = state.queues[q].front();
      if (std::popcount(first.started) < starters(first.op)) continue;
      State after = state;
      finish(after, first);
      after.queues[q].erase(after.queues[q].begin());
      ++after.ended[q];
      if (q % 3 != kBulk && !after.queues[q].empty()) work(after, after.queues[q].front());
      next.push_back(std::move(after));
    }
    for (std::size_t i = 0; i < state.loads.size(); ++i) {
      State after = state;
      const Flight load = state.loads[i];
      after.loads.erase(after.loads.begin() + static_cast<std::ptrdiff_t>(i));
      finish(after, load);
      land(after, load);
      next.push_back(std::move(after));
    }
    for (std::size_t r = 0; r < state.pending.size(); ++r) {
      for (std::size_t i = 0; i < state.pending[r].size(); ++i) {
        const Pending signal = state.pending[r][i];
        if (state.ended[r * 3 + 1] < signal.after) continue;
        State after = state;
        after.pending[r].erase(after.pending[r].begin() + static_cast<std::ptrdiff_t>(i));
        check_there(state, r / plan_.roles.size(), signal.cta);
        arrive(after, signal.barrier, 1, 0, 0);
        next.push_back(std::move(after));
      }
    }
  }

  /// Warps that start an op: all of its role, or one alone.
  int starters(OpId op) const {
    const Mechanism how = plan_.mechanisms[op.index()];
    const bool alone =
        is_bulk_load(how) || how == Mechanism::tcgen05 || how == Mechanism::bulk_store;
    return alone ? 1 : plan_[role_[op.index()]].warps;
  }

  /// Lands a copy. The bytes of a bulk copy belong to its tile and not to its slot; other copies
  /// count the threads of a warp.
  void land(State& state, const Flight& load) {
    const auto home = plan_.values[load.op.index()].home;
    const bool bulk = is_bulk_load(plan_.mechanisms[load.op.index()]);
    const bool shared = plan_.mechanisms[load.op.index()] == Mechanism::tma_multicast;
    const Amount shares = shared ? static_cast<Amount>(layout_.ctas()) : 1;
    const auto& tile = plan_.problem[load.op].footprint;
    const Amount bytes =
        !home || !bulk ? 0 : (tile.empty() ? plan_[*home].size : tile[0].amount) / shares;
    check_there(state, load.from, load.to);
    for (const auto& [op, channel] : landing_) {
      if (op != load.op) continue;
      arrive(state, layout_.barrier(load.to, channel, false, load.iteration), bulk ? 0 : 32, bytes,
             0);
    }
  }

  void arrive(State& state, std::size_t index, std::int64_t count, Amount came, Amount expected) {
    CountingBarrier& b = state.barriers[index];
    b.pending -= count;
    b.bytes += expected - came;
    if (b.pending < 0) wrong("a barrier gets more arrivals than it counts");
    if (b.pending > 0 || b.bytes != 0) return;
    ++b.phase;
    b.pending = layout_.counts()[index];
  }

  bool take(State& state, std::size_t warp) {
    const Micro& micro = warps_[warp].program[state.at[warp]];
    const Step& step = *micro.step;
    const bool op = step.op.has_value();
    if ((op || step.channel) && (micro.iteration < 0 || micro.iteration >= trips_)) {
      wrong("a step of no iteration");
      return true;
    }
    if (!passes(state, warp, micro)) return false;
    ++state.at[warp];
    act(state, warp, micro);
    return true;
  }

  bool passes(const State& state, std::size_t warp, const Micro& micro) const {
    const Step& step = *micro.step;
    if (step.kind == StepKind::wait || step.kind == StepKind::acquire) {
      const bool empty = step.kind == StepKind::acquire;
      const Channel& channel = plan_[*step.channel];
      const std::int64_t lap = micro.iteration / channel.depth;
      const std::int64_t parity = ((empty ? channel.empty_parity : channel.full_parity) + lap) % 2;
      return state.barriers[layout_.barrier(warps_[warp].cta, *step.channel, empty,
                                            micro.iteration)]
                     .phase %
                 2 !=
             parity;
    }
    if (micro.second_half && step.kind == StepKind::leave) return all_come(state);
    if (micro.second_half) {
      return state.barriers[layout_.meeting(warps_[warp], micro)].phase > state.met[warp];
    }
    if (step.kind == StepKind::drain_groups)
      return in_flight(state, warp, step.queue) <= step.pending;
    if (step.kind == StepKind::compute && step.drains_first) {
      return in_flight(state, warp, Mechanism::wgmma) == 0;
    }
    return true;
  }

  /// Whether all CTAs of the cluster have reached its end.
  bool all_come(const State& state) const {
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      if (state.at[w] < warps_[w].comes) return false;
    }
    return true;
  }

  /// Checks that a CTA still has a warp when data or an arrival comes from another CTA.
  void check_there(const State& state, std::size_t from, std::size_t to) {
    if (from == to) return;
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      if (warps_[w].cta == to && state.at[w] < warps_[w].program.size()) return;
    }
    wrong("something comes to a CTA that is gone");
  }

  /// Work in a queue that the warp itself has started.
  std::ptrdiff_t in_flight(const State& state, std::size_t warp, Mechanism how) const {
    const auto& queue = state.queues[warps_[warp].crew * 3 + queue_of(how)];
    return std::count_if(queue.begin(), queue.end(), [&](const Flight& flight) {
      return (flight.started >> warps_[warp].number & 1U) != 0;
    });
  }

  void act(State& state, std::size_t warp, const Micro& micro) {
    const Step& step = *micro.step;
    switch (step.kind) {
      case StepKind::compute:
        begin(state, step, micro.iteration, warp);
        read(state, *step.op, micro.iteration, viewer(warp), Reading::at_once);
        memory_.write(state.cells[warps_[warp].cta], plan_.values[step.op->index()].home,
                      micro.iteration, tag(*step.op, micro.iteration), viewer(warp));
        state.done[run_of(warps_[warp].cta, *step.op, micro.iteration)] |= bit_of(warp);
        return;
      case StepKind::stage:
        check(memory_.read(state.cells[warps_[warp].cta], *step.op, *step.op, micro.iteration,
                           viewer(warp)));
        memory_.write(state.cells[warps_[warp].cta], plan_.values[step.op->index()].staged,
                      micro.iteration, tag(*step.op, micro.iteration), viewer(warp));
        return;
      case StepKind::issue:
        return issue(state, warp, micro);
      case StepKind::expect:
        return arrive(state,
                      layout_.barrier(warps_[warp].cta, *step.channel, false, micro.iteration), 1,
                      0, plan_[*step.channel].bytes);
      case StepKind::commit:
      case StepKind::release:
        return signal(state, warp, micro);
      case StepKind::pass:
        return arrive(state,
                      layout_.barrier(warps_[warp].cta, *step.channel, false, micro.iteration), 1,
                      0, 0);
      case StepKind::take:
      case StepKind::rendezvous:
        if (micro.second_half) return;
        state.met[warp] = state.barriers[layout_.meeting(warps_[warp], micro)].phase;
        return arrive(state, layout_.meeting(warps_[warp], micro), 1, 0, 0);
      default:
        return;
    }
  }

  Viewer viewer(std::size_t warp) const {
    return {warps_[warp].number, plan_[warps_[warp].role].warps, false, warps_[warp].cta};
  }
  std::uint8_t bit_of(std::size_t warp) const {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(warps_[warp].number));
  }

  void begin(State& state, const Step& step, std::int64_t iteration, std::size_t warp) {
    auto& begun = state.begun[run_of(warps_[warp].cta, *step.op, iteration)];
    if ((begun & bit_of(warp)) != 0) wrong(name(*step.op) + " is done twice");
    begun |= bit_of(warp);
  }

  void signal(State& state, std::size_t warp, const Micro& micro) {
    const Step& step = *micro.step;
    const bool empty = step.kind == StepKind::release;
    const bool all = empty && plan_[*step.channel].scope == Scope::cluster;
    for (std::size_t cta = 0; cta < layout_.ctas(); ++cta) {
      if (!all && cta != warps_[warp].cta) continue;
      signal(state, warps_[warp], step.arrival,
             {0, layout_.barrier(cta, *step.channel, empty, micro.iteration), cta});
    }
  }

  void signal(State& state, const ExploredWarp& warp, Arrival arrival, Pending to) {
    if (arrival == Arrival::threads) {
      check_there(state, warp.cta, to.cta);
      return arrive(state, to.barrier, 1, 0, 0);
    }
    const std::size_t queue = warp.crew * 3 + 1;
    to.after = state.ended[queue] + state.queues[queue].size();
    if (to.after == 0) return;  // nothing under way: it never arrives
    state.pending[warp.crew].push_back(to);
    std::sort(state.pending[warp.crew].begin(), state.pending[warp.crew].end());
  }

  /// The part of an asynchronous op that is done at once: all of it, the part of one warp, or one
  /// CTA's part for all.
  Viewer part_of(const Flight& flight, int warp) const {
    const Mechanism how = plan_.mechanisms[flight.op.index()];
    if (how == Mechanism::tma_multicast) {
      return {static_cast<int>(flight.from), static_cast<int>(layout_.ctas()), false, flight.to};
    }
    if (how != Mechanism::wgmma && how != Mechanism::cp_async) return {0, 1, true, flight.to};
    return {warp, plan_[role_[flight.op.index()]].warps, false, flight.to};
  }

  void issue(State& state, std::size_t warp, const Micro& micro) {
    const OpId op = *micro.step->op;
    const Mechanism how = plan_.mechanisms[op.index()];
    begin(state, *micro.step, micro.iteration, warp);
    const std::size_t cta = warps_[warp].cta;
    const Flight flight{op, micro.iteration, bit_of(warp), cta, cta};
    if (is_bulk_load(how) || how == Mechanism::cp_async) {
      if (micro.step->channel) landing_.insert({op, *micro.step->channel});
      for (std::size_t to = 0; to < layout_.ctas(); ++to) {
        if (to == cta || how == Mechanism::tma_multicast) load(state, flight, to);
      }
      return;
    }
    auto& queue = state.queues[warps_[warp].crew * 3 + queue_of(how)];
    auto known = std::find_if(queue.begin(), queue.end(), [&](const Flight& other) {
      return other.op == op && other.iteration == micro.iteration;
    });
    if (known == queue.end()) {
      known = queue.insert(queue.end(), flight);
    } else {
      known->started |= flight.started;
    }
    // The first in its queue starts at once; the others start when it is their turn.
    if (known == queue.begin() || how == Mechanism::bulk_store) work(state, flight);
  }

  void load(State& state, Flight flight, std::size_t to) {
    flight.to = to;
    work(state, flight);
    state.loads.push_back(flight);
    std::sort(state.loads.begin(), state.loads.end());
  }

  /// Begins the parts of an asynchronous op that the warps of `flight` have started. From here to
  /// the end its operands must be valid, and its result is undefined.
  void work(State& state, const Flight& flight) {
    const auto home = plan_.values[flight.op.index()].home;
    for (int warp = 0; warp < 8; ++warp) {
      if ((flight.started >> static_cast<unsigned>(warp) & 1U) == 0) continue;
      const Viewer part = part_of(flight, warp);
      read(state, flight.op, flight.iteration, part, Reading::starting);
      memory_.write(state.cells[part.cta], home, flight.iteration,
                    -tag(flight.op, flight.iteration), part);
    }
  }

  /// Ends an asynchronous op: its operands must still be valid, and its result must not have been
  /// overwritten.
  void finish(State& state, const Flight& flight) {
    const Mechanism how = plan_.mechanisms[flight.op.index()];
    const bool parts = how == Mechanism::cp_async || how == Mechanism::tma_multicast;
    const Viewer part =
        parts ? part_of(flight, std::countr_zero(flight.started)) : Viewer{0, 1, true, flight.to};
    read(state, flight.op, flight.iteration, part, Reading::ending);
    if (!memory_.finish(state.cells[part.cta], flight.op, flight.iteration, part)) {
      wrong("something overwrites " + name(flight.op));
    }
    state.done[run_of(flight.to, flight.op, flight.iteration)] |=
        static_cast<std::uint8_t>(flight.started);
  }

  enum class Reading { at_once, starting, ending };

  void check(const std::optional<std::string>& what) {
    if (what) wrong(*what);
  }

  /// Checks all operands of an op. The value that the op updates is gone at its end; all other
  /// operands must be there from begin to end.
  void read(State& state, OpId op, std::int64_t iteration, Viewer viewer, Reading when) {
    bool updates = false;
    for (const problem::Dependence& d : plan_.problem.dependences()) {
      if (d.to != op) continue;
      const std::int64_t n = iteration - d.distance;
      if (memory_.in_place(d) || !d.carries_value) {
        updates = updates || d.carries_value;
        if (n >= 0 && when != Reading::ending) check_order(state, d, n, viewer);
        continue;
      }
      if (n < 0 && memory_.is_brought(d)) continue;
      check(memory_.read(state.cells[viewer.cta], d.from, op, n, viewer));
    }
    if (!updates || when == Reading::ending) return;
    check(memory_.read_updated(state.cells[viewer.cta], op, iteration, viewer));
  }

  /// Whether all warps have reached that point; within a role, each warp for itself.
  bool all_in(std::uint8_t seen, const problem::Dependence& d, Viewer viewer) const {
    const bool own = role_[d.from.index()] == role_[d.to.index()];
    const bool each = starters(d.from) > 1 && starters(d.to) > 1;
    if (own && each && !viewer.all) return (seen >> static_cast<unsigned>(viewer.warp) & 1U) != 0;
    return std::popcount(seen) >= starters(d.from);
  }

  /// Checks that a value that is updated is complete. An order that carries no value waits for the
  /// end if it takes that long, else for the begin.
  void check_order(const State& state, const problem::Dependence& d, std::int64_t n,
                   Viewer viewer) {
    const problem::Op& from = plan_.problem[d.from];
    if (!d.carries_value && from.streaming) return;
    const auto alternative =
        static_cast<std::size_t>(plan_.schedule.ops[d.from.index()].alternative);
    const bool ends =
        d.carries_value || problem::delay_of(d, from, from.alternatives[alternative]) >=
                               from.alternatives[alternative].latency;
    const auto& seen = ends ? state.done : state.begun;
    if (all_in(seen[run_of(viewer.cta, d.from, n)], d, viewer)) return;
    wrong(name(d.to) + (d.carries_value ? " updates too early " : " comes before ") + name(d.from));
  }

  struct LessLanding {
    bool operator()(const std::pair<OpId, ChannelId>& a,
                    const std::pair<OpId, ChannelId>& b) const {
      return std::tuple(a.first, a.second) < std::tuple(b.first, b.second);
    }
  };

  const Plan& plan_;
  std::int64_t trips_;
  std::vector<RoleId> role_;  // by OpId
  ExploredMemory memory_;
  ExploredLayout layout_;
  const std::vector<ExploredWarp>& warps_;
  std::set<std::pair<OpId, ChannelId>, LessLanding> landing_;  // places where loads arrive
  std::optional<std::string> failure_;
};

}  // namespace

Exploration explore(const Plan& plan, std::int64_t trips, std::size_t most_states) {
  return Explorer(plan, trips).run(most_states);
}

}  // namespace twill::plan::testing
