#include "twill/plan/proof/run.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/plan/text.h"

namespace twill::plan::proof {

bool Run::settle(Findings& findings) {
  close_barriers(findings);
  if (!findings.empty()) return false;
  const std::vector<EventId> order = sorted();
  if (order.size() < events_.size()) {
    report_circle(order, findings);
    return false;
  }
  add_clocks(order);
  return true;
}

/// Whoever waits comes after all arrivals of the phase.
void Run::close_barriers(Findings& findings) {
  for (const auto& [key, barrier] : barriers_) {
    for (const Wait& wait : barrier.waits) {
      if (wait.phase < 0) continue;
      const auto arrivals = barrier.phases.find(wait.phase);
      if (arrivals == barrier.phases.end()) {
        findings.add(
            "deadlock",
            fmt::format("with {}, {} waits for phase {} of the {} barrier of {}, slot "
                        "{}, which nobody completes",
                        words_, describe(wait.event), wait.phase,
                        std::get<1>(key) == Side::full ? "full" : "empty",
                        plan()[std::get<0>(key)].name, std::get<2>(key)));
        continue;
      }
      for (const Arriving& arrival : arrivals->second) {
        if (arrival.event != wait.event) edges_.emplace_back(arrival.event, wait.event);
      }
    }
  }
}

std::vector<EventId> Run::sorted() {
  std::vector<std::uint32_t> waiting(events_.size(), 0);
  std::vector<std::uint32_t> first(events_.size() + 1, 0);
  for (const auto& [from, to] : edges_) ++first[from + 1];
  for (std::size_t e = 0; e < events_.size(); ++e) first[e + 1] += first[e];
  std::vector<EventId> next(edges_.size());
  std::vector<std::uint32_t> fill = first;
  for (const auto& [from, to] : edges_) {
    next[fill[from]++] = to;
    ++waiting[to];
  }
  std::vector<EventId> order;
  order.reserve(events_.size());
  for (EventId e = 0; e < events_.size(); ++e) {
    if (waiting[e] == 0) order.push_back(e);
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (std::uint32_t i = first[order[at]]; i < first[order[at] + 1]; ++i) {
      if (--waiting[next[i]] == 0) order.push_back(next[i]);
    }
  }
  return order;
}

/// Follows, from an event that never happens, one that it waits for, until they repeat.
void Run::report_circle(const std::vector<EventId>& order, Findings& findings) const {
  std::vector<bool> happens(events_.size(), false);
  for (const EventId e : order) happens[e] = true;
  std::vector<EventId> waits_for(events_.size(), kNone);
  for (const auto& [from, to] : edges_) {
    // Barriers say more than the order of one's own steps, so they win.
    if (happens[from] || happens[to]) continue;
    const bool other = events_[from].track != events_[to].track;
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
  findings.add(
      "deadlock",
      fmt::format("with {}, {} steps wait for each other in a circle", words_, steps),
      std::move(trace));
}

void Run::add_clocks(const std::vector<EventId>& order) {
  const std::size_t words = (loose_ + 63) / 64;
  clocks_.assign(events_.size() * tracks_, -1);
  bits_.assign(events_.size() * words, 0);
  position_.resize(events_.size());
  std::vector<std::uint32_t> first(events_.size() + 1, 0);
  for (const auto& [from, to] : edges_) ++first[to + 1];
  for (std::size_t e = 0; e < events_.size(); ++e) first[e + 1] += first[e];
  std::vector<EventId> from_of(edges_.size());
  std::vector<std::uint32_t> fill = first;
  for (const auto& [from, to] : edges_) from_of[fill[to]++] = from;
  for (std::uint32_t at = 0; at < order.size(); ++at) {
    const EventId e = order[at];
    position_[e] = at;
    std::int32_t* clock = clocks_.data() + e * tracks_;
    std::uint64_t* bits = bits_.data() + e * words;
    for (std::uint32_t i = first[e]; i < first[e + 1]; ++i) {
      const std::int32_t* other = clocks_.data() + from_of[i] * tracks_;
      for (std::size_t t = 0; t < tracks_; ++t) clock[t] = std::max(clock[t], other[t]);
      const std::uint64_t* more = bits_.data() + from_of[i] * words;
      for (std::size_t w = 0; w < words; ++w) bits[w] |= more[w];
    }
    const auto index = static_cast<std::size_t>(events_[e].index);
    if (events_[e].track >= 0) {
      clock[events_[e].track] = events_[e].index;
    } else {
      bits[index / 64] |= std::uint64_t{1} << (index % 64);
    }
  }
}

bool Run::before(EventId a, EventId b) const {
  if (a == b) return false;
  const Event& event = events_[a];
  if (event.track >= 0) {
    return clocks_[b * tracks_ + static_cast<std::size_t>(event.track)] >= event.index;
  }
  const std::size_t words = (loose_ + 63) / 64;
  const auto index = static_cast<std::size_t>(event.index);
  return (bits_[b * words + index / 64] >> (index % 64) & 1) != 0;
}

const std::vector<EventId>& Run::fences(RoleId role, std::size_t strand, Fence kind) const {
  static const std::vector<EventId> kEmpty;
  const auto found = fences_.find({role, strand, kind});
  return found == fences_.end() ? kEmpty : found->second;
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
  if (event.moment == Moment::landed) what = "the other CTA's share of " + what.substr(what.find(' ') + 1);
  if (event.cta > 0) who = "the other CTA's " + who;
  if (event.step->kind == StepKind::leave) return who + ": leave";
  const bool tile = event.step->instance.from == Instance::From::tile;
  return fmt::format("{}: {} of {} {} ({})", who, what, tile ? "tile" : "iteration",
                     event.iteration, event.section);
}

}  // namespace twill::plan::proof
