#include "twill/simulate/barriers.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "twill/simulate/model.h"

namespace twill::simulate {

Barriers::Barriers(const plan::Plan& plan) : plan_(plan) {
  for (const plan::Channel& channel : plan.channels) {
    first_.push_back(barriers_.size());
    for (const int count : {channel.full_arrivals, channel.empty_arrivals}) {
      for (int slot = 0; slot < channel.depth; ++slot) {
        barriers_.push_back({count, count, 0, {}, {}});
      }
    }
  }
}

const Barriers::Barrier& Barriers::at(const Phase& phase) const {
  const std::int64_t depth = plan_[phase.channel].depth;
  const std::int64_t slot = (phase.empty ? depth : 0) + phase.iteration % depth;
  return barriers_[first_[phase.channel.index()] + static_cast<std::size_t>(slot)];
}

std::int64_t Barriers::lap(const Phase& phase) const {
  return phase.iteration / plan_[phase.channel].depth;
}

void Barriers::note_misuse(const Phase& phase, const std::string& what) {
  if (!misuse_.empty()) return;
  misuse_ = fmt::format("{} barrier of {}, iteration {}: {}", phase.empty ? "empty" : "full",
                        plan_[phase.channel].name, phase.iteration, what);
}

bool Barriers::arrive(const Phase& phase, const Arrival& arrival) {
  Barrier& barrier = at(phase);
  const auto open = static_cast<std::int64_t>(barrier.completed.size());
  if (lap(phase) != open) {
    note_misuse(phase, fmt::format("an arrival for phase {} comes in phase {}", lap(phase), open));
    return false;
  }
  if (open > 0 && arrival.time < barrier.completed.back().time - kSlack) {
    note_misuse(phase, "an arrival comes before the phase it is for");
    return false;
  }
  barrier.pending -= arrival.count;
  barrier.bytes += arrival.expected - arrival.came;
  if (barrier.pending == barrier.count - arrival.count || arrival.time >= barrier.last.time) {
    barrier.last = arrival;
  }
  if (barrier.pending < 0) note_misuse(phase, "more arrivals than it counts");
  if (barrier.pending != 0 || barrier.bytes != 0) return false;
  barrier.completed.push_back(barrier.last);
  barrier.pending = barrier.count;
  barrier.last = {};
  return true;
}

bool Barriers::passes(const Phase& phase, double now) {
  const plan::Channel& channel = plan_[phase.channel];
  const Barrier& barrier = at(phase);
  auto done = static_cast<std::int64_t>(barrier.completed.size());
  while (done > 0 && barrier.completed[static_cast<std::size_t>(done) - 1].time > now + kSlack) {
    --done;  // the phase lies ahead: its arrivals are on their way
  }
  const std::int64_t wanted = lap(phase) + (phase.empty ? 0 : 1);
  const std::int64_t parity =
      ((phase.empty ? channel.empty_parity : channel.full_parity) + lap(phase)) % 2;
  const bool passed = done % 2 != parity;
  if (done > wanted || (passed && done != wanted)) {
    note_misuse(phase, fmt::format("a wait for phase {} meets phase {}", wanted, done));
  }
  return passed;
}

bool Barriers::token_passes(const Phase& phase, double now) const {
  return completed_at(phase) <= now + kSlack;
}

double Barriers::completed_at(const Phase& phase) const {
  const auto index = static_cast<std::size_t>(lap(phase));
  const Barrier& barrier = at(phase);
  if (index >= barrier.completed.size()) return std::numeric_limits<double>::infinity();
  return barrier.completed[index].time;
}

const Arrival* Barriers::completed_by(const Phase& phase) const {
  const std::int64_t index = lap(phase) - (phase.empty ? 1 : 0);
  const Barrier& barrier = at(phase);
  if (index < 0 || index >= static_cast<std::int64_t>(barrier.completed.size())) return nullptr;
  return &barrier.completed[static_cast<std::size_t>(index)];
}

}  // namespace twill::simulate
