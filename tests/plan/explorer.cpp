#include "plan/explorer.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>
#include <vector>

namespace twill::plan::testing {
namespace {

using Cell = std::int32_t;
constexpr Cell kGarbage = 0;

/// What a write leaves behind: the op and its iteration; below zero while it is under way.
Cell tag(OpId op, std::int64_t iteration) {
  return static_cast<Cell>(op.index() * 128 + static_cast<std::size_t>(iteration + 32) + 1);
}
Cell initial_tag(std::int64_t iteration) { return static_cast<Cell>(1'000'000 + iteration); }

struct Micro {
  const Step* step = nullptr;
  std::int64_t iteration = 0;
  bool second_half = false;  ///< of take and rendezvous
};

struct Flight {
  OpId op;
  std::int64_t iteration = 0;
  unsigned started = 0;  ///< warps that have issued it, a bit each
  auto operator<=>(const Flight&) const = default;
};

struct Signal {
  std::size_t after = 0;  ///< tcgen05 ops of the role that must be done
  std::size_t barrier = 0;
  auto operator<=>(const Signal&) const = default;
};

struct Barrier {
  std::int64_t phase = 0;  ///< that is open
  std::int64_t pending = 0;
  Amount bytes = 0;
};

/// Everything that changes.
struct State {
  std::vector<std::size_t> at;    // by warp
  std::vector<std::int64_t> met;  // by warp: phase of the named barrier it arrived at
  std::vector<Barrier> barriers;
  std::vector<std::vector<Flight>> queues;      // role x {wgmma, tcgen05, bulk}, oldest first
  std::vector<std::vector<std::size_t>> ended;  // role x queue: [0] = ops that are done
  std::vector<Flight> loads;
  std::vector<std::vector<Signal>> signals;  // by role
  std::vector<Cell> cells;
  std::vector<std::uint8_t> runs;  // by op and iteration: warps that did it

  std::string key() const {
    std::string text;
    const auto put = [&](std::int64_t value) {
      for (int i = 0; i < 4; ++i) text.push_back(static_cast<char>(value >> (8 * i) & 255));
    };
    for (const std::size_t a : at) put(static_cast<std::int64_t>(a));
    for (const std::int64_t m : met) put(m);
    for (const Barrier& b : barriers) {
      put(b.phase);
      put(b.pending);
      put(b.bytes);
    }
    for (const auto& queue : queues) {
      put(-7);
      for (const Flight& f : queue) put(tag(f.op, f.iteration) * 16 + static_cast<Cell>(f.started));
    }
    put(-8);
    for (const Flight& f : loads) put(tag(f.op, f.iteration));
    for (const auto& role : signals) {
      put(-9);
      for (const Signal& s : role) put(static_cast<std::int64_t>(s.after * 256 + s.barrier));
    }
    for (const Cell cell : cells) put(cell);
    return text;
  }
};

class Explorer {
 public:
  Explorer(const Plan& plan, std::int64_t trips) : plan_(plan), trips_(trips) {
    for (std::size_t v = 0; v < plan.problem.ops().size(); ++v) {
      role_.push_back(role_of(plan, OpId(v)).value_or(RoleId(0)));
    }
    for (const Role& role : plan.roles)
      lanes_ = std::max(lanes_, static_cast<std::size_t>(role.warps));
    lay_out_warps();
    lay_out_barriers();
    lay_out_cells();
  }

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
  // --- Layout -----------------------------------------------------------------------------------

  void lay_out_warps() {
    for (std::size_t r = 0; r < plan_.roles.size(); ++r) {
      const Role& role = plan_.roles[r];
      for (int w = 0; w < role.warps; ++w) {
        std::vector<Micro> program;
        for (const PlacedStep& placed : unrolled(role.sections, trips_)) {
          if (placed.step->by == By::one_warp && w > 0) continue;
          program.push_back({placed.step, placed.iteration, false});
          const StepKind kind = placed.step->kind;
          if (kind == StepKind::take || kind == StepKind::rendezvous) {
            program.push_back({placed.step, placed.iteration, true});
          }
        }
        programs_.push_back(std::move(program));
        warp_role_.emplace_back(r);
        warp_number_.push_back(w);
      }
    }
  }

  void lay_out_barriers() {
    for (const Channel& channel : plan_.channels) {
      first_barrier_.push_back(counts_.size());
      for (int s = 0; s < channel.depth; ++s) counts_.push_back(channel.full_arrivals);
      for (int s = 0; s < channel.depth; ++s) counts_.push_back(channel.empty_arrivals);
    }
    for (const Role& role : plan_.roles) {
      role_barrier_.push_back(counts_.size());
      counts_.push_back(role.warps);
    }
  }

  void lay_out_cells() {
    for (const Buffer& buffer : plan_.buffers) {
      first_cell_.push_back(cells_);
      cells_ += static_cast<std::size_t>(buffer.depth) * lanes_;
    }
  }

  State start() const {
    State state;
    state.at.assign(programs_.size(), 0);
    state.met.assign(programs_.size(), -1);
    for (const std::int64_t count : counts_) state.barriers.push_back({0, count, 0});
    state.queues.resize(plan_.roles.size() * 3);
    state.ended.assign(plan_.roles.size() * 3, {0});
    state.signals.resize(plan_.roles.size());
    state.cells.assign(cells_, kGarbage);
    state.runs.assign(role_.size() * static_cast<std::size_t>(trips_ + 1), 0);
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
      for (int i = 1; i <= plan_.buffers[b].initial; ++i) {
        for (std::size_t lane = 0; lane < lanes_; ++lane) {
          state.cells[cell(BufferId(b), -i) + lane] = initial_tag(-i);
        }
      }
    }
    return state;
  }

  std::size_t cell(BufferId buffer, std::int64_t iteration) const {
    const std::int64_t depth = plan_[buffer].depth;
    const std::int64_t slot = ((iteration % depth) + depth) % depth;
    return first_cell_[buffer.index()] + static_cast<std::size_t>(slot) * lanes_;
  }

  std::size_t barrier(ChannelId channel, bool empty, std::int64_t iteration) const {
    const std::int64_t depth = plan_[channel].depth;
    return first_barrier_[channel.index()] +
           static_cast<std::size_t>((empty ? depth : 0) + iteration % depth);
  }

  static std::size_t queue_of(Mechanism how) {
    return how == Mechanism::wgmma ? 0 : how == Mechanism::tcgen05 ? 1 : 2;
  }

  // --- Failing ----------------------------------------------------------------------------------

  void wrong(const std::string& what) {
    if (!failure_) failure_ = what;
  }
  const std::string& name(OpId op) const { return plan_.problem[op].name; }

  std::string where(const State& state) const {
    std::string text;
    for (std::size_t w = 0; w < programs_.size(); ++w) {
      if (state.at[w] >= programs_[w].size()) continue;
      const Micro& micro = programs_[w][state.at[w]];
      text += plan_[warp_role_[w]].name + " at " + std::string(name_of(micro.step->kind));
      if (micro.step->channel) text += " " + plan_[*micro.step->channel].name;
      text += " of " + std::to_string(micro.iteration) + "; ";
    }
    return text;
  }

  bool finished(const State& state) const {
    for (std::size_t w = 0; w < programs_.size(); ++w) {
      if (state.at[w] < programs_[w].size()) return false;
    }
    return true;
  }

  void check_end(const State& state) {
    for (std::size_t v = 0; v < role_.size(); ++v) {
      for (std::int64_t i = 0; i < trips_; ++i) {
        if (state.runs[v * static_cast<std::size_t>(trips_ + 1) + static_cast<std::size_t>(i)] ==
            0) {
          wrong("nobody did " + name(OpId(v)));
        }
      }
    }
  }

  // --- Steps ------------------------------------------------------------------------------------

  /// Steps that nobody else can see or hinder: taking them first loses no behaviour.
  bool is_local(const State&, std::size_t warp, const Micro& micro) const {
    const Step& step = *micro.step;
    if (step.kind == StepKind::fence || step.kind == StepKind::peek) return true;
    if (step.kind != StepKind::compute) return false;
    const auto home = plan_.values[step.op->index()].home;
    if (home && plan_[*home].residence != Residence::registers) return false;
    for (const problem::Dependence& d : plan_.problem.dependences()) {
      if (d.to != *step.op || !d.carries_value) continue;
      const auto from = plan_.values[d.from.index()].home;
      const bool registers = from && plan_[*from].residence == Residence::registers;
      if (from && (!registers || role_[d.from.index()] != warp_role_[warp])) return false;
      // The end of asynchronous work on its operands is seen by whoever looks too early.
      if (is_asynchronous(plan_.mechanisms[d.from.index()])) return false;
    }
    return true;
  }

  std::vector<State> successors(const State& state) {
    std::vector<State> next;
    for (std::size_t w = 0; w < programs_.size(); ++w) {
      if (state.at[w] >= programs_[w].size()) continue;
      if (!is_local(state, w, programs_[w][state.at[w]])) continue;
      State after = state;
      if (take(after, w)) return {std::move(after)};
    }
    for (std::size_t w = 0; w < programs_.size(); ++w) {
      if (state.at[w] >= programs_[w].size()) continue;
      State after = state;
      if (take(after, w)) next.push_back(std::move(after));
    }
    end_work(state, next);
    return next;
  }

  /// Each thing that may end on its own, now.
  void end_work(const State& state, std::vector<State>& next) {
    for (std::size_t q = 0; q < state.queues.size(); ++q) {
      if (state.queues[q].empty()) continue;
      const Flight& first = state.queues[q].front();
      if (std::popcount(first.started) < starters(first.op)) continue;
      State after = state;
      finish(after, first);
      after.queues[q].erase(after.queues[q].begin());
      ++after.ended[q][0];
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
    for (std::size_t r = 0; r < state.signals.size(); ++r) {
      for (std::size_t i = 0; i < state.signals[r].size(); ++i) {
        const Signal signal = state.signals[r][i];
        if (state.ended[r * 3 + 1][0] < signal.after) continue;
        State after = state;
        after.signals[r].erase(after.signals[r].begin() + static_cast<std::ptrdiff_t>(i));
        arrive(after, signal.barrier, 1, 0, 0);
        next.push_back(std::move(after));
      }
    }
  }

  int starters(OpId op) const {
    return plan_.mechanisms[op.index()] == Mechanism::wgmma ? plan_[role_[op.index()]].warps : 1;
  }

  void land(State& state, const Flight& load) {
    const auto home = plan_.values[load.op.index()].home;
    const Amount bytes = home ? plan_[*home].size : 0;
    for (const auto& [op, channel] : landing_) {
      if (op == load.op) arrive(state, barrier(channel, false, load.iteration), 0, bytes, 0);
    }
  }

  void arrive(State& state, std::size_t index, std::int64_t count, Amount came, Amount expected) {
    Barrier& b = state.barriers[index];
    b.pending -= count;
    b.bytes += expected - came;
    if (b.pending < 0) wrong("a barrier gets more arrivals than it counts");
    if (b.pending > 0 || b.bytes != 0) return;
    ++b.phase;
    b.pending = counts_[index];
  }

  bool take(State& state, std::size_t warp) {
    const Micro& micro = programs_[warp][state.at[warp]];
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
      return state.barriers[barrier(*step.channel, empty, micro.iteration)].phase % 2 != parity;
    }
    if (micro.second_half) {
      return state.barriers[meeting(warp, micro)].phase > state.met[warp];
    }
    if (step.kind == StepKind::drain_groups) {
      const auto& queue = state.queues[warp_role_[warp].index() * 3 + queue_of(step.queue)];
      const auto mine = std::count_if(queue.begin(), queue.end(), [&](const Flight& flight) {
        return (flight.started >> warp_number_[warp] & 1U) != 0;
      });
      return mine <= step.pending;
    }
    if (step.kind == StepKind::compute && step.drains_first) {
      return state.queues[warp_role_[warp].index() * 3].empty();
    }
    return true;
  }

  std::size_t meeting(std::size_t warp, const Micro& micro) const {
    if (micro.step->kind == StepKind::rendezvous) return role_barrier_[warp_role_[warp].index()];
    return barrier(*micro.step->channel, false, micro.iteration);
  }

  void act(State& state, std::size_t warp, const Micro& micro) {
    const Step& step = *micro.step;
    switch (step.kind) {
      case StepKind::compute:
        count_run(state, step, micro.iteration, warp);
        read(state, *step.op, micro.iteration, warp, false);
        write(state, plan_.values[step.op->index()].home, micro.iteration,
              tag(*step.op, micro.iteration), warp);
        return;
      case StepKind::stage:
        read_one(state, *step.op, *step.op, micro.iteration, warp);
        write(state, plan_.values[step.op->index()].staged, micro.iteration,
              tag(*step.op, micro.iteration), warp);
        return;
      case StepKind::issue:
        return issue(state, warp, micro);
      case StepKind::expect:
        return arrive(state, barrier(*step.channel, false, micro.iteration), 1, 0,
                      plan_[*step.channel].bytes);
      case StepKind::commit:
      case StepKind::release:
        return signal(state, warp, micro);
      case StepKind::pass:
        return arrive(state, barrier(*step.channel, false, micro.iteration), 1, 0, 0);
      case StepKind::take:
      case StepKind::rendezvous:
        if (micro.second_half) return;
        state.met[warp] = state.barriers[meeting(warp, micro)].phase;
        return arrive(state, meeting(warp, micro), 1, 0, 0);
      default:
        return;
    }
  }

  void count_run(State& state, const Step& step, std::int64_t iteration, std::size_t warp) {
    auto& runs = state.runs[step.op->index() * static_cast<std::size_t>(trips_ + 1) +
                            static_cast<std::size_t>(iteration)];
    const auto bit =
        static_cast<std::uint8_t>(1U << (static_cast<unsigned>(warp_number_[warp]) % 8));
    if ((runs & bit) != 0) wrong(name(*step.op) + " is done twice");
    runs = static_cast<std::uint8_t>(runs | bit);
  }

  void signal(State& state, std::size_t warp, const Micro& micro) {
    const Step& step = *micro.step;
    const std::size_t to = barrier(*step.channel, step.kind == StepKind::release, micro.iteration);
    if (step.arrival == Arrival::threads) return arrive(state, to, 1, 0, 0);
    const std::size_t queue = warp_role_[warp].index() * 3 + 1;
    const std::size_t given = state.ended[queue][0] + state.queues[queue].size();
    if (given == 0) return;  // nothing under way: it never arrives
    state.signals[warp_role_[warp].index()].push_back({given, to});
    std::sort(state.signals[warp_role_[warp].index()].begin(),
              state.signals[warp_role_[warp].index()].end());
  }

  void issue(State& state, std::size_t warp, const Micro& micro) {
    const OpId op = *micro.step->op;
    const Mechanism how = plan_.mechanisms[op.index()];
    count_run(state, *micro.step, micro.iteration, warp);
    read(state, op, micro.iteration, warp, true);
    write(state, plan_.values[op.index()].home, micro.iteration, -tag(op, micro.iteration),
          how == Mechanism::wgmma ? warp : kAllLanes);
    const unsigned bit = 1U << static_cast<unsigned>(warp_number_[warp]);
    const Flight flight{op, micro.iteration, bit};
    if (how == Mechanism::tma_load || how == Mechanism::cp_async) {
      if (micro.step->channel) landing_.insert({op, *micro.step->channel});
      state.loads.push_back(flight);
      std::sort(state.loads.begin(), state.loads.end());
      return;
    }
    auto& queue = state.queues[warp_role_[warp].index() * 3 + queue_of(how)];
    for (Flight& known : queue) {
      if (known.op == op && known.iteration == micro.iteration) {
        known.started |= bit;
        return;
      }
    }
    queue.push_back(flight);
  }

  /// An asynchronous op ends: its operands must still be there, and so must be what it writes.
  void finish(State& state, const Flight& flight) {
    read(state, flight.op, flight.iteration, kAllLanes, false);
    const auto home = plan_.values[flight.op.index()].home;
    if (!home) return;
    const std::size_t first = cell(*home, flight.iteration);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      Cell& now = state.cells[first + lane];
      if (now == -tag(flight.op, flight.iteration))
        now = tag(flight.op, flight.iteration);
      else if (!is_later_in_queue(state, flight, now))
        wrong("something overwrites " + name(flight.op));
    }
  }

  bool is_later_in_queue(const State& state, const Flight& flight, Cell now) const {
    for (const auto& queue : state.queues) {
      for (const Flight& other : queue) {
        if (now == -tag(other.op, other.iteration) &&
            role_[other.op.index()] == role_[flight.op.index()]) {
          return true;
        }
      }
    }
    return false;
  }

  // --- Data -------------------------------------------------------------------------------------

  static constexpr std::size_t kAllLanes = static_cast<std::size_t>(-1);

  bool same_queue(OpId a, OpId b) const {
    const Mechanism how = plan_.mechanisms[a.index()];
    return how == plan_.mechanisms[b.index()] && role_[a.index()] == role_[b.index()] &&
           (how == Mechanism::wgmma || how == Mechanism::tcgen05);
  }

  /// Checks all operands of an op. `starting`: an asynchronous op; what it updates in its own queue
  /// is looked at when it ends.
  void read(State& state, OpId op, std::int64_t iteration, std::size_t warp, bool starting) {
    for (const problem::Dependence& d : plan_.problem.dependences()) {
      if (d.to != op) continue;
      if (!d.carries_value) {
        check_order(state, d, iteration);
        continue;
      }
      const bool queued = same_queue(d.from, op);
      const bool ending = is_asynchronous(plan_.mechanisms[op.index()]) && !starting;
      // Of a chain of updates only the last counts, and at its own end it is overwritten by itself.
      if (d.in_place && (queued || ending)) continue;
      if (d.in_place) {
        read_updated(state, d, iteration, warp);
        continue;
      }
      const std::int64_t n = iteration - d.distance;
      if (n < 0 && is_handed_over(d)) continue;
      read_one(state, d.from, op, n, warp);
    }
  }

  bool is_handed_over(const problem::Dependence& d) const {
    const auto home = plan_.values[d.from.index()].home;
    const bool registers = home && plan_[*home].residence == Residence::registers;
    return !home || (registers && role_[d.from.index()] != role_[d.to.index()]);
  }

  void check_order(const State& state, const problem::Dependence& d, std::int64_t iteration) {
    const std::int64_t n = iteration - d.distance;
    if (n < 0 || plan_.problem[d.from].streaming || same_queue(d.from, d.to)) return;
    const bool ran = state.runs[d.from.index() * static_cast<std::size_t>(trips_ + 1) +
                                static_cast<std::size_t>(n)] != 0;
    if (!ran) wrong(name(d.to) + " comes before " + name(d.from));
  }

  /// The place holds one of the values that the op updates.
  void read_updated(State& state, const problem::Dependence& d, std::int64_t iteration,
                    std::size_t warp) {
    const auto home = plan_.values[d.to.index()].home;
    if (!home) return;
    const std::size_t lane = warp == kAllLanes ? 0 : static_cast<std::size_t>(warp_number_[warp]);
    const Cell now = state.cells[cell(*home, iteration) + lane];
    for (const problem::Dependence& other : plan_.problem.dependences()) {
      if (other.to != d.to || !other.in_place || !other.carries_value) continue;
      const std::int64_t n = iteration - other.distance;
      if (now == (n < 0 ? initial_tag(n) : tag(other.from, n))) return;
    }
    wrong(name(d.to) + " updates something else");
  }

  void read_one(const State& state, OpId value, OpId reader, std::int64_t n, std::size_t warp) {
    const auto home = plan_.values[value.index()].home;
    if (!home) return;
    const bool registers = plan_[*home].residence == Residence::registers;
    const bool own = role_[value.index()] == role_[reader.index()];
    const auto from = registers && !own ? plan_.values[value.index()].staged : home;
    if (!from) return wrong(name(value) + " does not leave its role");
    const Cell wanted = n < 0 ? initial_tag(n) : tag(value, n);
    const bool threads = plan_.mechanisms[reader.index()] == Mechanism::threads;
    const bool alone =
        (own && registers) || (plan_[*from].residence == Residence::tensor && threads);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      const bool mine = warp != kAllLanes && lane == static_cast<std::size_t>(warp_number_[warp]);
      if (alone && warp != kAllLanes && !mine) continue;
      if (lane >= static_cast<std::size_t>(plan_[role_[reader.index()]].warps) && alone && lane > 0)
        continue;
      if (state.cells[cell(*from, n) + lane] != wanted) {
        return wrong(name(reader) + " reads something else than " + name(value) + " of " +
                     std::to_string(n));
      }
    }
  }

  void write(State& state, std::optional<BufferId> buffer, std::int64_t iteration, Cell value,
             std::size_t warp) {
    if (!buffer) return;
    const std::size_t first = cell(*buffer, iteration);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      const bool mine = warp == kAllLanes || lane == static_cast<std::size_t>(warp_number_[warp]) ||
                        plan_[warp_role_[warp]].warps == 1;
      if (mine) state.cells[first + lane] = value;
    }
    spoil(state, *buffer, iteration);
  }

  /// Whatever else lies there is gone.
  void spoil(State& state, BufferId id, std::int64_t iteration) const {
    const Buffer& buffer = plan_[id];
    if (buffer.residence == Residence::registers) return;
    const Amount from = buffer.offset + (iteration % buffer.depth) * buffer.size;
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
      const Buffer& other = plan_.buffers[b];
      if (BufferId(b) == id || other.residence != buffer.residence ||
          other.memory != buffer.memory) {
        continue;
      }
      for (int s = 0; s < other.depth; ++s) {
        const Amount at = other.offset + s * other.size;
        if (at >= from + buffer.size || from >= at + other.size) continue;
        for (std::size_t lane = 0; lane < lanes_; ++lane) {
          state.cells[cell(BufferId(b), s) + lane] = kGarbage;
        }
      }
    }
  }

  struct LessLanding {
    bool operator()(const std::pair<OpId, ChannelId>& a,
                    const std::pair<OpId, ChannelId>& b) const {
      return std::tuple(a.first, a.second) < std::tuple(b.first, b.second);
    }
  };

  const Plan& plan_;
  std::int64_t trips_;
  std::size_t lanes_ = 1;
  std::vector<RoleId> role_;                  // by OpId
  std::vector<std::vector<Micro>> programs_;  // by warp
  std::vector<RoleId> warp_role_;
  std::vector<int> warp_number_;
  std::vector<std::size_t> first_barrier_, role_barrier_;
  std::vector<std::int64_t> counts_;
  std::vector<std::size_t> first_cell_;
  std::size_t cells_ = 0;
  std::set<std::pair<OpId, ChannelId>, LessLanding> landing_;  // where loads arrive
  std::optional<std::string> failure_;
};

}  // namespace

Exploration explore(const Plan& plan, std::int64_t trips, std::size_t most_states) {
  return Explorer(plan, trips).run(most_states);
}

}  // namespace twill::plan::testing
