#include <algorithm>
#include <map>

#include "twill/plan/draft_sections.h"

namespace twill::plan {
namespace {

bool is_async_proxy(Mechanism mechanism) {
  return mechanism == Mechanism::wgmma || mechanism == Mechanism::tcgen05 ||
         mechanism == Mechanism::bulk_store;
}

/// Whether the async proxy reads the buffer, rather than threads.
bool read_by_async_proxy(const Draft& draft, BufferId buffer) {
  return std::any_of(draft.reads.begin(), draft.reads.end(), [&](const Read& read) {
    return read.carries_value && is_async_proxy(draft.mechanism(read.reader)) &&
           read_from(draft.plan, read.value, draft.role[read.value.index()],
                     draft.role[read.reader.index()]) == buffer;
  });
}

/// Whether the async proxy reads copies by threads. The copying threads cannot fence copies that
/// land later, so the reader does.
bool reads_copies(const Draft& draft, OpId reader) {
  if (!is_async_proxy(draft.mechanism(reader))) return false;
  return std::any_of(draft.reads.begin(), draft.reads.end(), [&](const Read& read) {
    return read.reader == reader && read.carries_value &&
           draft.mechanism(read.value) == Mechanism::cp_async;
  });
}

bool in_tensor_memory(const Draft& draft, OpId op) {
  const auto home = draft.home(op);
  return home && draft.plan[*home].residence == Residence::tensor;
}

bool touches_tensor_memory(const Draft& draft, OpId op) {
  return in_tensor_memory(draft, op) ||
         std::any_of(draft.reads.begin(), draft.reads.end(), [&](const Read& read) {
           return read.reader == op && read.carries_value && in_tensor_memory(draft, read.value);
         });
}

bool is_wait(const DraftStep& step) {
  const StepKind kind = step.step.kind;
  return kind == StepKind::wait || kind == StepKind::acquire;
}

bool is_meeting(const DraftStep& step) { return step.step.kind == StepKind::rendezvous; }

bool is_arrival_of_threads(const DraftStep& step) {
  const StepKind kind = step.step.kind;
  return (kind == StepKind::commit || kind == StepKind::release) &&
         step.step.arrival == Arrival::threads;
}

DraftStep fence(Fence kind, Cycles time, By by) {
  DraftStep step;
  step.step.kind = StepKind::fence;
  step.step.fence = kind;
  step.step.by = by;
  step.time = time;
  return step;
}

/// Whether bulk copies access the op's writes to global memory.
bool seen_by_bulk_copies(const Draft& draft, OpId op) {
  return std::any_of(draft.reads.begin(), draft.reads.end(), [&](const Read& read) {
    const Mechanism reader = draft.mechanism(read.reader);
    return read.through_memory && read.value == op &&
           (is_bulk_load(reader) || reader == Mechanism::bulk_store);
  });
}

/// Adds a proxy fence after threads wrote a tile that the async proxy will read. The end of a copy
/// by threads is not visible to them; there the reader fences, after its wait.
void fence_proxy(const Draft& draft, Cluster& cluster) {
  std::vector<DraftStep> fences;
  if (cluster.main && draft.mechanism(cluster.op) == Mechanism::threads) {
    const auto home = draft.home(cluster.op);
    if (home && draft.plan[*home].residence == Residence::shared &&
        read_by_async_proxy(draft, *home)) {
      fences.push_back(fence(Fence::proxy, cluster.time, By::every_warp));
    }
    if (seen_by_bulk_copies(draft, cluster.op)) {
      fences.push_back(fence(Fence::proxy, cluster.time, By::every_warp));
    }
  }
  for (const DraftStep& step : cluster.after) {
    if (step.step.kind != StepKind::stage) continue;
    if (read_by_async_proxy(draft, *draft.plan.values[step.step.op->index()].staged)) {
      fences.push_back(fence(Fence::proxy, step.time, By::every_warp));
    }
  }
  cluster.after.insert(cluster.after.end(), fences.begin(), fences.end());
  if (cluster.main && reads_copies(draft, cluster.op)) {
    cluster.before.push_back(fence(Fence::proxy, cluster.time, cluster.main->step.by));
  }
}

/// Adds a fence at each moment that has steps of that kind. First and last windows lack some of
/// these steps.
template <class Is>
void fence_each(std::vector<DraftStep>& steps, Fence kind, Is is) {
  std::map<Cycles, By> moments;
  for (const DraftStep& step : steps) {
    if (!is(step)) continue;
    const auto [at, fresh] = moments.emplace(step.time, step.step.by);
    if (step.step.by == By::every_warp || kind == Fence::tensor_before) at->second = By::every_warp;
  }
  for (const auto& [time, by] : moments) steps.push_back(fence(kind, time, by));
}

/// Adds fences in a role that touches tensor memory. Its earlier accesses come before each of its
/// arrivals, and its later accesses after each of its waits. At a meeting of the role's warps for
/// work in tensor memory, which one warp starts, they need both fences.
void fence_tensor(const Draft& draft, Cluster& cluster) {
  const bool meets = draft.mechanism(cluster.op) == Mechanism::tcgen05;
  if (meets) fence_each(cluster.before, Fence::tensor_before, is_meeting);
  fence_each(cluster.before, Fence::tensor_after,
             [&](const DraftStep& step) { return is_wait(step) || (meets && is_meeting(step)); });
  fence_each(cluster.after, Fence::tensor_before, is_arrival_of_threads);
}

constexpr int kMeeting = 4;  ///< rank of the moment at which the warps of a role meet

/// Rank of a step within a cluster: smaller ranks come first.
int rank_of(const DraftStep& step, bool before) {
  switch (step.step.kind) {
    case StepKind::wait:
      return 0;
    case StepKind::acquire:
      return 1;
    case StepKind::expect:
      return 2;
    case StepKind::rendezvous:
      return kMeeting;
    case StepKind::take:
      return 6;
    case StepKind::pass:
      return 0;
    case StepKind::stage:
      return 2;
    case StepKind::fence:
      if (before && step.step.fence == Fence::tensor_before) return 3;
      if (before) return step.step.fence == Fence::wgmma ? 7 : 5;
      return step.step.fence == Fence::proxy ? 3 : 4;
    case StepKind::commit:
      return 5;
    default:
      return 8;
  }
}

void sort_steps(std::vector<DraftStep>& steps, bool before) {
  std::stable_sort(steps.begin(), steps.end(), [&](const DraftStep& a, const DraftStep& b) {
    return rank_of(a, before) < rank_of(b, before);
  });
}

/// Moves drains of the role's groups before the meeting of its warps and before its turn.
void hoist_needs(Cluster& cluster) {
  if (!cluster.main || cluster.main->needs.empty()) return;
  for (DraftStep& step : cluster.before) {
    if (rank_of(step, true) < kMeeting || step.time != cluster.main->time) continue;
    std::swap(step.needs, cluster.main->needs);
    return;
  }
}

}  // namespace

void make_fences(Draft& draft) {
  for (auto& role : draft.order) {
    const bool tensor = std::any_of(role.begin(), role.end(), [&](const Cluster& cluster) {
      return touches_tensor_memory(draft, cluster.op);
    });
    for (Cluster& cluster : role) {
      if (cluster.main && draft.mechanism(cluster.op) == Mechanism::wgmma) {
        cluster.before.push_back(fence(Fence::wgmma, cluster.time, By::every_warp));
      }
      fence_proxy(draft, cluster);
      if (tensor) fence_tensor(draft, cluster);
      sort_steps(cluster.before, true);
      sort_steps(cluster.after, false);
      hoist_needs(cluster);
    }
  }
}

}  // namespace twill::plan
