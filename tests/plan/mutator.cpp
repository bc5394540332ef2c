#include "plan/mutator.h"

#include <cstddef>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/plan/text.h"

namespace twill::plan::testing {
namespace {

class Mutator {
 public:
  Mutator(Plan plan, unsigned seed) : plan_(std::move(plan)), random_(seed) {}

  /// Describes the change; "" if the plan has no part of the kind that was drawn.
  std::string mutate() {
    using Change = std::string (Mutator::*)();
    static constexpr Change kChanges[] = {
        &Mutator::drop_step,     &Mutator::drop_step,       &Mutator::move_step,
        &Mutator::move_step,     &Mutator::double_step,     &Mutator::swap_steps,
        &Mutator::swap_steps,    &Mutator::alter_step,      &Mutator::alter_step,
        &Mutator::alter_channel, &Mutator::alter_channel,   &Mutator::alter_buffer,
        &Mutator::alter_buffer,  &Mutator::alter_registers, &Mutator::alter_warps,
        &Mutator::alter_limit,   &Mutator::alter_around,
    };
    return (this->*kChanges[pick(std::size(kChanges))])();
  }
  Plan plan() && { return std::move(plan_); }

 private:
  struct Place {
    std::string name;
    std::vector<Step>* steps = nullptr;
  };

  std::size_t pick(std::size_t below) { return random_() % below; }
  bool toss() { return pick(2) == 0; }
  template <typename T>
  T one_of(const std::vector<T>& all) {
    return all[pick(all.size())];
  }
  /// Changes a number by one of some amounts.
  template <typename T>
  std::string shift(const std::string& what, T& number, const std::vector<int>& by) {
    const T before = number;
    number = static_cast<T>(number + one_of(by));
    return fmt::format("{}: {} -> {}", what, before, number);
  }
  template <typename T>
  std::string become(const std::string& what, T& number, T value) {
    const T before = std::exchange(number, value);
    return fmt::format("{}: {} -> {}", what, before, value);
  }

  /// Steps of a role somewhere, at least `least` of them; null if none are found.
  Place place(std::size_t least) {
    for (int tries = 0; tries < 100; ++tries) {
      Role& role = plan_.roles[pick(plan_.roles.size())];
      std::vector<Place> all = {{"prologue", &role.sections.prologue},
                                {"steady", &role.sections.steady},
                                {"drain", &role.sections.drain},
                                {"before", &role.before},
                                {"after", &role.after},
                                {"tail", &role.tail}};
      for (std::size_t n = 0; n < role.sections.short_trips.size(); ++n) {
        all.push_back({fmt::format("{} trips", n), &role.sections.short_trips[n]});
      }
      Place found = one_of(all);
      found.name = role.name + " " + found.name;
      if (found.steps->size() >= least) return found;
    }
    return {};
  }
  std::string text(const Place& at, std::size_t step) const {
    return fmt::format("{} #{} {}", at.name, step, to_text(plan_, (*at.steps)[step]));
  }
  static auto nth(std::vector<Step>& steps, std::size_t n) {
    return steps.begin() + static_cast<std::ptrdiff_t>(n);
  }

  std::string drop_step() {
    const Place at = place(1);
    if (at.steps == nullptr) return "";
    const std::size_t n = pick(at.steps->size());
    std::string what = "drop " + text(at, n);
    at.steps->erase(nth(*at.steps, n));
    return what;
  }

  std::string move_step() {
    const Place at = place(2);
    if (at.steps == nullptr) return "";
    const std::size_t from = pick(at.steps->size()), to = pick(at.steps->size());
    const std::string what = fmt::format("move {} to #{}", text(at, from), to);
    const Step step = (*at.steps)[from];
    at.steps->erase(nth(*at.steps, from));
    at.steps->insert(nth(*at.steps, to), step);
    return what;
  }

  std::string double_step() {
    const Place at = place(1);
    if (at.steps == nullptr) return "";
    const std::size_t n = pick(at.steps->size());
    const Step step = (*at.steps)[n];
    at.steps->insert(nth(*at.steps, n), step);
    return "double " + text(at, n);
  }

  std::string swap_steps() {
    const Place at = place(2);
    if (at.steps == nullptr) return "";
    const std::size_t n = pick(at.steps->size() - 1);
    std::string what = "swap " + text(at, n) + " and " + text(at, n + 1);
    std::swap((*at.steps)[n], (*at.steps)[n + 1]);
    return what;
  }

  std::string alter_step() {
    const Place at = place(1);
    if (at.steps == nullptr) return "";
    const std::size_t n = pick(at.steps->size());
    const std::string what = text(at, n);
    Step& step = (*at.steps)[n];
    switch (pick(5)) {
      case 0:
        return shift("iteration of " + what, step.instance.offset, {-1, 1});
      case 1:
        step.by = step.by == By::one_warp ? By::every_warp : By::one_warp;
        return fmt::format("by {}: {}", name_of(step.by), what);
      case 2:
        if (!step.channel) return "";
        step.channel = ChannelId(pick(plan_.channels.size()));
        return fmt::format("channel {}: {}", plan_[*step.channel].name, what);
      case 3:
        if (!step.op) return "";
        step.op = OpId(pick(plan_.problem.ops().size()));
        return fmt::format("op {}: {}", plan_.problem[*step.op].name, what);
      default:
        return alter_kind_of_step(what, step);
    }
  }

  /// Alters members that only steps of this kind have.
  std::string alter_kind_of_step(const std::string& what, Step& step) {
    switch (step.kind) {
      case StepKind::drain_groups:
        if (toss()) return shift("pending of " + what, step.pending, {-1, 1});
        if (toss()) {
          step.queue = step.queue == Mechanism::wgmma ? Mechanism::bulk_store : Mechanism::wgmma;
          return fmt::format("queue {}: {}", name_of(step.queue), what);
        }
        step.reads_only = !step.reads_only;
        return fmt::format("reads only {}: {}", step.reads_only, what);
      case StepKind::fence:
        step.fence = one_of<Fence>({Fence::none, Fence::proxy, Fence::wgmma, Fence::tensor_before,
                                    Fence::tensor_after, Fence::pin});
        return fmt::format("fence {}: {}", name_of(step.fence), what);
      case StepKind::commit:
      case StepKind::release:
        step.arrival = step.arrival == Arrival::threads ? Arrival::asynchronous : Arrival::threads;
        return fmt::format("arrival {}: {}", name_of(step.arrival), what);
      default:
        return "";
    }
  }

  std::string alter_channel() {
    if (plan_.channels.empty()) return "";
    Channel& channel = plan_.channels[pick(plan_.channels.size())];
    const std::string of = " of channel " + channel.name;
    switch (pick(9)) {
      case 0:
        return shift("full arrivals" + of, channel.full_arrivals, {-1, 1});
      case 1:
        return shift("empty arrivals" + of, channel.empty_arrivals, {-1, 1});
      case 2:
        return shift("depth" + of, channel.depth, {-1, 1});
      case 3:
        return become("full parity" + of, channel.full_parity, 1 - channel.full_parity);
      case 4:
        return become("empty parity" + of, channel.empty_parity, 1 - channel.empty_parity);
      case 5:
        return toss() ? shift("bytes" + of, channel.bytes, {-16, 16, 1})
                      : become<Amount>("bytes" + of, channel.bytes,
                                       one_of<Amount>({0, channel.bytes / 2, channel.bytes * 2}));
      case 6:
        return shift("named barrier" + of, channel.named_barrier, {-1, 1, 2});
      case 7:
        channel.counts = channel.counts == Channel::Counts::tiles ? Channel::Counts::iterations
                                                                  : Channel::Counts::tiles;
        return fmt::format("counts {}{}", name_of(channel.counts), of);
      default:
        channel.kind =
            one_of<ChannelKind>({ChannelKind::pipeline, ChannelKind::signal, ChannelKind::token});
        return fmt::format("kind {}{}", name_of(channel.kind), of);
    }
  }

  std::string alter_buffer() {
    Buffer& buffer = plan_.buffers[pick(plan_.buffers.size())];
    const std::string of = " of buffer " + buffer.name;
    switch (pick(7)) {
      case 0:
        return shift("depth" + of, buffer.depth, {-1, 1});
      case 1:
        return become("offset" + of, buffer.offset,
                      plan_.buffers[pick(plan_.buffers.size())].offset);
      case 2:
        return shift("offset" + of, buffer.offset, {-1024, -128, -16, -1, 1, 16, 128, 1024});
      case 3:
        return become<Amount>(
            "size" + of, buffer.size,
            one_of<Amount>({buffer.size / 2, buffer.size - 1, buffer.size + 1, buffer.size * 2}));
      case 4:
        return shift("initial" + of, buffer.initial, {-1, 1});
      case 5: {
        const std::string before(name_of(buffer.residence));
        buffer.residence =
            one_of<Residence>({Residence::shared, Residence::tensor, Residence::registers});
        return fmt::format("residence{}: {} -> {}", of, before, name_of(buffer.residence));
      }
      default:
        buffer.invariant_buffer = !buffer.invariant_buffer;
        return fmt::format("invariant_buffer {}{}", buffer.invariant_buffer, of);
    }
  }

  std::string alter_registers() {
    if (toss()) {
      const std::size_t w = pick(plan_.warpgroups.size());
      return shift(fmt::format("setmaxnreg of warpgroup {}", w), plan_.warpgroups[w].setmaxnreg,
                   {-64, -32, -16, -8, -1, 1, 8, 16, 32, 64});
    }
    Role& role = plan_.roles[pick(plan_.roles.size())];
    return toss() ? shift("usable registers of " + role.name, role.usable, {-32, -8, -1, 1, 8, 32})
                  : shift("registers of " + role.name, role.registers, {-8, -1, 1, 8});
  }

  std::string alter_warps() {
    Role& role = plan_.roles[pick(plan_.roles.size())];
    const std::string of = " of " + role.name;
    switch (pick(5)) {
      case 0:
        return shift("warps" + of, role.warps, {-1, 1, 4});
      case 1:
        return shift("first warp" + of, role.first_warp, {-4, -1, 1, 4});
      case 2:
        return shift("named barrier" + of, role.named_barrier, {-1, 1, 2});
      case 3: {
        const std::size_t w = pick(plan_.warpgroups.size());
        role.warpgroup = WarpgroupId(w);
        return fmt::format("warpgroup {}{}", w, of);
      }
      default: {
        const std::size_t w = pick(plan_.warpgroups.size());
        return shift(fmt::format("warps of warpgroup {}", w), plan_.warpgroups[w].warps,
                     {-4, -1, 1, 4});
      }
    }
  }

  std::string alter_limit() {
    Limits& limits = plan_.limits;
    switch (pick(5)) {
      case 0:
        return shift("launch registers", limits.launch_registers, {-8, -1, 1, 8});
      case 1:
        return shift("register overhead", limits.register_overhead, {-8, -1, 1, 8});
      case 2:
        return shift("most registers", limits.most_registers, {-8, -1, 1, 8});
      case 3:
        return shift("named barriers", limits.named_barriers, {-13, -1, 1});
      default:
        if (limits.reserved.empty()) return "";
        return shift("reserved memory", limits.reserved[pick(limits.reserved.size())],
                     {-65536, -1024, 1024});
    }
  }

  /// Alters prologue and epilogue ops, and the number of windows over which a role spreads an
  /// iteration.
  std::string alter_around() {
    Role& role = plan_.roles[pick(plan_.roles.size())];
    std::vector<PerTileOp>& per_tile_ops = plan_.kernel->per_tile_ops;
    if (per_tile_ops.empty() || pick(4) == 0) {
      return shift("spread of " + role.name, role.sections.spread, {-1, 1});
    }
    PerTileOp& per_tile_op = per_tile_ops[pick(per_tile_ops.size())];
    const std::string of = " of " + per_tile_op.what;
    switch (pick(4)) {
      case 0: {
        const std::string before(name_of(per_tile_op.mechanism));
        per_tile_op.mechanism = one_of<Mechanism>({Mechanism::threads, Mechanism::scoreboard,
                                                   Mechanism::tma_load, Mechanism::bulk_store});
        return fmt::format("mechanism{}: {} -> {}", of, before, name_of(per_tile_op.mechanism));
      }
      case 1:
        if (per_tile_op.roles.size() < 2) return "";
        per_tile_op.roles.pop_back();
        if (!per_tile_op.buffers.empty()) per_tile_op.buffers.pop_back();
        return "one role less" + of;
      case 2:
        if (per_tile_op.buffers.empty()) return "";
        per_tile_op.buffers[pick(per_tile_op.buffers.size())] =
            BufferId(pick(plan_.buffers.size()));
        return "another buffer" + of;
      default:
        if (per_tile_op.reads.empty()) return "";
        per_tile_op.reads.pop_back();
        return "reads less:" + of;
    }
  }

  Plan plan_;
  std::mt19937 random_;
};

}  // namespace

Mutant mutant_of(const Plan& plan, unsigned seed) {
  for (unsigned tries = 0;; ++tries) {
    Mutator mutator(plan, seed + 1'000'003 * tries);
    std::string what = mutator.mutate();
    Plan changed = std::move(mutator).plan();
    if (!what.empty() && !(changed == plan)) return {std::move(what), std::move(changed)};
  }
}

}  // namespace twill::plan::testing
