#include "twill/plan/proof/run.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/plan/text.h"

namespace twill::plan::proof {
namespace {

/// The section of its role that contains a step.
std::string_view section_of(const Role& role, const Step& step) {
  const auto has = [&](const std::vector<Step>& steps) {
    return std::any_of(steps.begin(), steps.end(), [&](const Step& it) { return &it == &step; });
  };
  if (has(role.before)) return "before";
  if (has(role.sections.prologue)) return "prologue";
  if (has(role.sections.steady)) return "steady";
  if (has(role.sections.drain)) return "drain";
  if (has(role.after)) return "after";
  return has(role.tail) ? "tail" : "short";
}

}  // namespace

bool Run::settle(Findings& findings) {
  barriers_.sort();
  close_barriers(findings);
  if (!findings.empty()) return false;
  sort_edges();
  order_events();
  if (order_.size() == events_.size()) return true;
  report_circle(findings);
  return false;
}

/// Orders every wait after all arrivals of its phase.
void Run::close_barriers(Findings& findings) {
  for (const Barrier& barrier : barriers_.all()) {
    for (const Wait& wait : barrier.waits) {
      if (wait.phase < 0) continue;
      const auto arrivals = barriers_.arrivals(barrier, wait.phase);
      if (arrivals.empty()) {
        findings.add("deadlock",
                     fmt::format("with {}, {} waits for phase {} of the {} barrier of {}, slot "
                                 "{}, which no arrival completes",
                                 trips(), describe(wait.event), wait.phase,
                                 barrier.side == Side::full ? "full" : "empty",
                                 plan()[barrier.channel].name, barrier.slot));
        continue;
      }
      for (const Arriving& arrival : arrivals) {
        if (arrival.event != wait.event) edges_.emplace_back(arrival.event, wait.event);
      }
    }
  }
}

void Run::sort_edges() {
  waiting_.assign(events_.size(), 0);
  first_next_.assign(events_.size() + 2, 0);
  for (const auto& [from, to] : edges_) {
    ++first_next_[from + 2];
    ++waiting_[to];
  }
  for (std::size_t e = 2; e < first_next_.size(); ++e) first_next_[e] += first_next_[e - 1];
  next_.resize(edges_.size());
  for (const auto& [from, to] : edges_) next_[first_next_[from + 1]++] = to;
  first_next_.pop_back();
}

/// Orders each event after all events that it waits for.
void Run::order_events() {
  order_.clear();
  position_.resize(events_.size());
  clock_.assign(events_.size(), 0);
  clocks_.assign(tracks_, -1);
  for (EventId e = 0; e < events_.size(); ++e) {
    if (waiting_[e] == 0) order_.push_back(e);
  }
  for (std::size_t at = 0; at < order_.size(); ++at) {
    const EventId e = order_[at];
    position_[e] = static_cast<std::uint32_t>(at);
    for (std::uint32_t i = first_next_[e]; i < first_next_[e + 1]; ++i) {
      tell(e, next_[i]);
      if (--waiting_[next_[i]] == 0) order_.push_back(next_[i]);
    }
  }
}

/// Records that `from`, and all events before it, come before `to`.
void Run::tell(EventId from, EventId to) {
  const Place place = places_[from];
  const bool fresh = clock_[to] == 0;
  if (fresh && waiting_[to] == 1 && place.track >= 0 && place.track == places_[to].track) {
    clock_[to] = clock_[from];
    return;
  }
  if (fresh) {
    clock_[to] = static_cast<std::uint32_t>(clocks_.size() / tracks_);
    clocks_.resize(clocks_.size() + tracks_, -1);
  }
  std::int32_t* clock = clocks_.data() + clock_[to] * tracks_;
  if (place.track >= 0 && clock[place.track] >= place.index) return;  // known from a later event
  const std::int32_t* other = clocks_.data() + clock_[from] * tracks_;
  for (std::size_t t = 0; t < tracks_; ++t) clock[t] = std::max(clock[t], other[t]);
  if (place.track >= 0) clock[place.track] = std::max(clock[place.track], place.index);
}

/// Whether an event without a track comes before another. It comes before the events that wait for
/// it, which have tracks.
bool Run::some_next_before_or_same(EventId a, EventId b) const {
  for (std::uint32_t i = first_next_[a]; i < first_next_[a + 1]; ++i) {
    if (before_or_same(next_[i], b)) return true;
  }
  return false;
}

bool Run::fenced_after(EventId did, Fence kind, EventId other) const {
  const std::vector<EventId>& fences = fences_of(did, kind);
  const auto next = std::upper_bound(fences.begin(), fences.end(), did);
  return next != fences.end() && before(*next, other);
}

bool Run::fenced_before(EventId other, Fence kind, EventId does) const {
  const std::vector<EventId>& fences = fences_of(does, kind);
  const auto next = std::lower_bound(fences.begin(), fences.end(), does);
  return next != fences.begin() && before(other, *(next - 1));
}

bool Run::stored_before(EventId began, EventId done, EventId other) const {
  const std::vector<EventId>& drains = fences_of(began, Fence::none);
  auto drain = std::upper_bound(drains.begin(), drains.end(), began);
  while (drain != drains.end() && !before(done, *drain)) ++drain;
  return drain != drains.end() && before(*drain, other);
}

/// Reports a circle: from an event that never happens, follows the awaited events until one
/// repeats.
void Run::report_circle(Findings& findings) const {
  std::vector<bool> happens(events_.size(), false);
  for (const EventId e : order_) happens[e] = true;
  std::vector<EventId> waits_for(events_.size(), kNone);
  for (const auto& [from, to] : edges_) {
    // Barriers say more than the order of a role's own steps, so they are preferred.
    if (happens[from] || happens[to]) continue;
    const bool other = places_[from].track != places_[to].track;
    if (waits_for[to] == kNone || other) waits_for[to] = from;
  }
  EventId at = 0;
  while (happens[at]) ++at;
  std::vector<int> seen(events_.size(), -1);
  std::vector<EventId> path;
  while (seen[at] < 0) {
    seen[at] = static_cast<int>(path.size());
    path.push_back(at);
    at = waits_for[at];
  }
  std::vector<std::string> trace;
  for (std::size_t i = static_cast<std::size_t>(seen[at]); i < path.size(); ++i) {
    trace.push_back(fmt::format("{} waits for", describe(path[i])));
  }
  trace.push_back(describe(at));
  const std::size_t steps = trace.size() - 1;
  findings.add("deadlock",
               fmt::format("with {}, {} steps wait for each other in a circle", trips(), steps),
               std::move(trace));
}

std::string Run::describe(EventId id) const {
  const Event& event = events_[id];
  const Role& role = plan()[event.role];
  std::string who = role.name;
  if (role.warps > 1) {
    who += event.strand == 0 ? " warp 0" : event.strand == 1 ? " warp 1" : " warp 2";
  }
  Step step = *event.step;
  std::string what = to_text(plan(), step);
  if (const std::size_t bracket = what.find(" ["); bracket != std::string::npos) {
    const std::size_t end = what.find(']', bracket);
    what.erase(bracket, end - bracket + 1);
  }
  if (event.moment == Moment::done) what = "the end of " + what.substr(what.find(' ') + 1);
  if (event.moment == Moment::signal) what = "the arrival of " + what;
  if (event.moment == Moment::landed)
    what = "the other CTA's share of " + what.substr(what.find(' ') + 1);
  if (event.cta > 0) who = "the other CTA's " + who;
  if (event.step->kind == StepKind::leave) return who + ": leave";
  const bool tile = event.step->instance.from == Instance::From::tile;
  return fmt::format("{}: {} of {} {} ({})", who, what, tile ? "tile" : "iteration",
                     event.iteration, section_of(role, *event.step));
}

}  // namespace twill::plan::proof
