#include "twill/plan/draft_sections.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "twill/plan/proof.h"
#include "twill/problem/problem.h"

namespace twill::plan {
namespace {

enum class Where { prologue, steady, drain, shorter };

/// One step of one window, before drains are added.
struct Placed {
  const DraftStep* draft = nullptr;
  std::size_t position = 0;  ///< position in the window
  std::int64_t window = 0;
  std::int64_t iteration = 0;
  Where where = Where::steady;
};

/// A drain that a run needs before a step: its queue, and the number of ops that may stay in
/// flight.
using DrainKey =
    std::tuple<Where, std::int64_t, std::size_t, Mechanism>;  // section, window, position
using Drains = std::map<DrainKey, int>;

/// State of a group before its end: bulk stores read their tiles before they are done.
enum class InFlight : std::uint8_t { none, writes, reads };
struct QueuedGroup {
  OpId op;
  std::int64_t iteration = 0;
  InFlight in_flight = InFlight::reads;
};

/// Whether a drain before such a step waits only until bulk stores have read their tiles. A release
/// gives up the tiles, and does not need the stored values.
bool reads_only(Mechanism queue, StepKind kind) {
  return queue == Mechanism::bulk_store && kind == StepKind::release;
}

class Window {
 public:
  Window(const Draft& draft, RoleId role) : draft_(draft) {
    for (const Cluster& cluster : draft.order[role.index()]) {
      for (const DraftStep& step : cluster.before) steps_.push_back(&step);
      if (cluster.main) steps_.push_back(&*cluster.main);
      for (const DraftStep& step : cluster.after) steps_.push_back(&step);
    }
    bool first = true;
    for (const DraftStep* step : steps_) {
      const Cycles stage = floor_divide(step->time, draft.interval);
      first_ = first ? stage : std::min(first_, stage);
      last_ = first ? stage : std::max(last_, stage);
      first = false;
    }
  }

  std::int64_t spread() const { return last_ - first_; }
  std::size_t size() const { return steps_.size(); }
  const DraftStep& at(std::size_t position) const { return *steps_[position]; }
  std::int64_t shift(std::size_t position) const {
    return floor_divide(steps_[position]->time, draft_.interval) - first_;
  }

  /// Largest distance in iterations between a step and its need.
  std::int64_t farthest_need() const {
    int farthest = 0;
    for (const DraftStep* step : steps_) {
      for (const Need& need : step->needs) farthest = std::max(farthest, -need.offset);
    }
    return farthest;
  }

  /// All steps of a run of `trips`, in order.
  std::vector<Placed> run(std::int64_t trips) const {
    std::vector<Placed> placed;
    for (std::int64_t w = 0; w < trips + spread(); ++w) {
      const Where where = trips < spread() ? Where::shorter
                          : w < spread()   ? Where::prologue
                          : w < trips      ? Where::steady
                                           : Where::drain;
      for (std::size_t p = 0; p < steps_.size(); ++p) {
        const std::int64_t iteration = w - shift(p);
        if (iteration < 0 || iteration >= trips) continue;
        placed.push_back({steps_[p], p, w, iteration, where});
      }
    }
    return placed;
  }

  /// Simulates the asynchronous groups for one trip count and notes each necessary drain.
  void note_drains(std::int64_t trips, Drains& drains) const {
    std::vector<QueuedGroup> groups;
    for (const Placed& placed : run(trips)) {
      for (const Need& need : placed.draft->needs) {
        note_need(placed, need, trips, groups, drains);
      }
      const Step& step = placed.draft->step;
      if (step.kind == StepKind::issue && drained(*step.op)) {
        groups.push_back({*step.op, placed.iteration, InFlight::reads});
      }
    }
  }

 private:
  bool drained(OpId op) const {
    return draft_.mechanism(op) == Mechanism::wgmma ||
           draft_.mechanism(op) == Mechanism::bulk_store;
  }

  void note_need(const Placed& placed, const Need& need, std::int64_t trips,
                 std::vector<QueuedGroup>& groups, Drains& drains) const {
    if (!drained(need.op)) return;
    const Mechanism queue = draft_.mechanism(need.op);
    const auto key = [&] {
      const std::int64_t window = placed.where == Where::steady  ? 0
                                  : placed.where == Where::drain ? placed.window - trips
                                                                 : placed.window;
      return DrainKey(placed.where, window, placed.position, queue);
    }();
    const InFlight left =
        reads_only(queue, placed.draft->step.kind) ? InFlight::writes : InFlight::none;
    int younger = 0;
    for (std::size_t g = groups.size(); g-- > 0;) {
      if (draft_.mechanism(groups[g].op) != queue) continue;
      if (groups[g].op != need.op || groups[g].iteration != placed.iteration + need.offset) {
        ++younger;
        continue;
      }
      if (groups[g].in_flight <= left) return;
      const auto [at, fresh] = drains.emplace(key, younger);
      if (!fresh) at->second = std::min(at->second, younger);
      for (std::size_t h = 0; h <= g; ++h) {
        QueuedGroup& older = groups[h];
        if (draft_.mechanism(older.op) == queue) older.in_flight = std::min(older.in_flight, left);
      }
      return;
    }
  }

  const Draft& draft_;
  std::vector<const DraftStep*> steps_;
  Cycles first_ = 0;
  Cycles last_ = 0;
};

/// Writes the sections of one role.
class SectionWriter {
 public:
  SectionWriter(const Draft& draft, RoleId role, bool pins)
      : draft_(draft), role_(role), pins_(pins), window_(draft, role) {}

  std::int64_t spread() const { return window_.spread(); }

  Sections write() {
    const std::int64_t spread = window_.spread();
    // Trip counts after which the groups in flight repeat.
    const std::int64_t last = 2 * spread + 3 + window_.farthest_need();
    for (std::int64_t n = spread; n <= last; ++n) window_.note_drains(n, drains_);
    Sections sections;
    sections.spread = static_cast<int>(spread);
    for (std::int64_t w = 0; w < spread; ++w)
      write_window(sections.prologue, Where::prologue, w, 0);
    write_window(sections.steady, Where::steady, 0, 0);
    for (std::int64_t w = 0; w < spread; ++w) write_window(sections.drain, Where::drain, w, 0);
    for (std::int64_t n = 0; n < spread; ++n) {
      drains_.clear();
      window_.note_drains(n, drains_);
      sections.short_trips.emplace_back();
      for (std::int64_t w = 0; w < n + spread; ++w) {
        write_window(sections.short_trips.back(), Where::shorter, w, n);
      }
    }
    return sections;
  }

 private:
  /// The instance of a step in a window, if the step has one there.
  std::optional<Instance> instance(std::size_t position, Where where, std::int64_t window,
                                   std::int64_t trips) const {
    const auto offset = static_cast<int>(window - window_.shift(position));
    switch (where) {
      case Where::steady:
        return Instance{Instance::From::window, static_cast<int>(-window_.shift(position))};
      case Where::prologue:
        if (offset < 0) return std::nullopt;
        return Instance{Instance::From::first, offset};
      case Where::drain:
        if (offset >= 0) return std::nullopt;
        return Instance{Instance::From::last, offset};
      case Where::shorter:
        if (offset < 0 || offset >= trips) return std::nullopt;
        return Instance{Instance::From::first, offset};
    }
    return std::nullopt;
  }

  void write_window(std::vector<Step>& out, Where where, std::int64_t window, std::int64_t trips) {
    for (std::size_t p = 0; p < window_.size(); ++p) {
      const auto at = instance(p, where, window, trips);
      if (!at) continue;
      for (const Mechanism queue : {Mechanism::wgmma, Mechanism::bulk_store}) {
        const auto drain = drains_.find(DrainKey(where, window, p, queue));
        if (drain != drains_.end()) write_drain(out, queue, drain->second, *at, p);
      }
      if (window_.at(p).step.kind == StepKind::drain_groups) continue;
      Step step = window_.at(p).step;
      step.instance = *at;
      step.slot = slot(p);
      if (!repeats(out, step)) out.push_back(std::move(step));
    }
  }

  Cycles slot(std::size_t position) const {
    const Cycles time = window_.at(position).time;
    return time - floor_divide(time, draft_.interval) * draft_.interval;
  }

  /// Whether the previous step is the same fence.
  static bool repeats(const std::vector<Step>& out, const Step& step) {
    return step.kind == StepKind::fence && !out.empty() && out.back().kind == StepKind::fence &&
           out.back().fence == step.fence && out.back().by == step.by;
  }

  /// Writes a drain, and a pin that keeps earlier math from moving past it. Roles that take turns
  /// at the tensor core need no pin. Measured on an H200: there it costs 1 % (attention of head
  /// dimension 128, docs/hardware-log.md); without turns it gains a fifth (loops of products and
  /// softmax alone).
  void write_drain(std::vector<Step>& out, Mechanism queue, int pending, const Instance& at,
                   std::size_t position) {
    Step drain;
    drain.kind = StepKind::drain_groups;
    drain.queue = queue;
    drain.pending = pending;
    drain.instance = at;
    drain.slot = slot(position);
    drain.reads_only = reads_only(queue, window_.at(position).step.kind);
    drain.by = queue == Mechanism::bulk_store ? By::one_warp : By::every_warp;
    if (queue == Mechanism::wgmma && pins_ && overlaps_math(out)) {
      Step pin;
      pin.kind = StepKind::fence;
      pin.fence = Fence::pin;
      pin.instance = at;
      pin.slot = drain.slot;
      out.push_back(pin);
    }
    out.push_back(drain);
  }

  /// Whether there is math between the last start of a group in this section and this step.
  bool overlaps_math(const std::vector<Step>& out) const {
    for (std::size_t i = out.size(); i-- > 0;) {
      if (out[i].kind == StepKind::compute) return true;
      if (out[i].kind == StepKind::issue && draft_.mechanism(*out[i].op) == Mechanism::wgmma) {
        return false;
      }
    }
    return false;
  }

  const Draft& draft_;
  RoleId role_;
  bool pins_;
  Window window_;
  Drains drains_;
};

}  // namespace

std::optional<BufferId> read_from(const Plan& plan, OpId value, RoleId writer, RoleId reader) {
  const Value& where = plan.values[value.index()];
  if (!where.home) return std::nullopt;
  const bool elsewhere = plan[*where.home].residence == Residence::registers && writer != reader;
  return elsewhere ? where.staged : where.home;
}

namespace {

/// Adds a tail: shared memory must stay allocated until the last copies from it have been read.
void add_tail(Draft& draft, RoleId role) {
  const auto& clusters = draft.order[role.index()];
  const bool stores = std::any_of(clusters.begin(), clusters.end(), [&](const Cluster& cluster) {
    return draft.mechanism(cluster.op) == Mechanism::bulk_store;
  });
  if (!stores) return;
  Step drain;
  drain.kind = StepKind::drain_groups;
  drain.queue = Mechanism::bulk_store;
  drain.instance = {Instance::From::last, -1};
  drain.by = By::one_warp;
  draft.plan.roles[role.index()].tail.push_back(drain);
}

}  // namespace

Result<void> make_sections(Draft& draft, bool pins) {
  make_fences(draft);
  for (std::size_t r = 0; r < draft.plan.roles.size(); ++r) {
    SectionWriter writer(draft, RoleId(r), pins);
    if (writer.spread() > kLargestSpread) {
      return fail({},
                  fmt::format("group {} spreads an iteration over {} windows; plans go up to {}",
                              draft.plan.roles[r].name, writer.spread() + 1, kLargestSpread + 1));
    }
    draft.plan.roles[r].sections = writer.write();
    add_tail(draft, RoleId(r));
  }
  return {};
}

namespace {

/// Checks the registers that a role holds: they may exceed its limit only where the loop relaxes
/// the rule `registers`.
Result<void> check_held(const Role& role) {
  if (role.registers <= kMostOfAnything) return {};
  return fail({}, fmt::format("role {} holds {} registers; plans go up to {}", role.name,
                              role.registers, kMostOfAnything));
}

/// Whether the values of a role fit its registers in the order of its steps.
bool fits(const Plan& plan, const Role& role) {
  return role.registers <= role.usable || !plan.problem.in_force(problem::Rule::registers);
}

Result<Plan> draft_with(const verify::CheckedSchedule& checked, const Setting& setting,
                        const std::vector<bool>& eager) {
  Draft draft(checked.problem(), checked.schedule());
  draft.plan.name = checked.problem().name();
  draft.plan.shares = setting.shares;
  draft.plan.schedule.addresses.clear();  // the plan places its buffers itself, rings in full
  TWILL_TRY_VOID(make_roles(draft, setting));
  draft.eager = eager;
  draft.eager.resize(draft.plan.roles.size(), false);
  TWILL_TRY_VOID(make_storage(draft));
  TWILL_TRY_VOID(make_per_tile(draft, setting));
  TWILL_TRY_VOID(make_addresses(draft, setting));
  make_order(draft);
  TWILL_TRY_VOID(make_channels(draft, setting));
  TWILL_TRY_VOID(make_sections(draft, setting.pins));
  const std::vector<int> needed = registers_needed(draft.plan);
  for (std::size_t r = 0; r < needed.size(); ++r) {
    draft.plan.roles[r].registers = needed[r];
    TWILL_TRY_VOID(check_held(draft.plan.roles[r]));
  }
  split_registers(draft);
  make_partial_sums(draft, setting);
  make_wholes(draft, setting);
  choose_launch_role(draft.plan);
  continue_rings(draft, setting);
  TWILL_TRY_VOID(make_tile_steps(draft));
  return std::move(draft.plan);
}

}  // namespace

namespace {

/// The setting with stores of tiles done by threads.
Setting without_staging(Setting setting) {
  for (PerTileRequest& request : setting.per_tile_ops) {
    if (request.what.mechanism == Mechanism::bulk_store)
      request.what.mechanism = Mechanism::threads;
  }
  return setting;
}

Result<Plan> draft_fitting(const verify::CheckedSchedule& checked, const Setting& setting) {
  if (!checked.problem().in_force(problem::Rule::dependence)) {
    return fail({},
                "the loop relaxes the rule `dependence`, so its schedule need not run in order");
  }
  TWILL_TRY(Plan plan, draft_with(checked, setting, {}));
  // Operands of asynchronous work are held until its drain. Where that is too long, drain at the
  // end that the schedule states instead of at the use of the result.
  std::vector<bool> eager;
  for (const Role& role : plan.roles) eager.push_back(!fits(plan, role));
  if (std::find(eager.begin(), eager.end(), true) == eager.end()) return plan;
  TWILL_TRY(plan, draft_with(checked, setting, eager));
  for (const Role& role : plan.roles) {
    if (fits(plan, role)) continue;
    return fail({}, fmt::format("in the order of its steps, role {} holds {} registers, but has {}",
                                role.name, role.registers, role.usable));
  }
  return plan;
}

}  // namespace

Result<Plan> draft_plan(const verify::CheckedSchedule& checked, const Setting& setting) {
  if (!setting.staging) return draft_fitting(checked, without_staging(setting));
  Result<Plan> plan = draft_fitting(checked, setting);
  if (plan || !stages(setting)) return plan;
  Result<Plan> direct = draft_fitting(checked, without_staging(setting));
  if (!direct) return plan;
  direct->notes.emplace_back(
      "beside the loop's buffers there is no room to stage the stores after it: the threads store "
      "directly");
  return direct;
}

}  // namespace twill::plan
