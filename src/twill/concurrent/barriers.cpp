#include "twill/concurrent/barriers.h"

namespace twill::concurrent {

void Barriers::init(const execute::View& view, std::string name, const Visit& visit,
                    std::int64_t count, std::size_t agent) {
  Barrier barrier;
  barrier.name = std::move(name);
  barrier.made = visit;
  barrier.agent = agent;
  barrier.count = count;
  barrier.pending = count;
  all_[{view.storage.get(), view.offset}] = std::move(barrier);
}

void Barriers::end(const execute::View& view, const Visit& visit, const Knowledge& known) {
  const Barrier* barrier = find(view);
  if (barrier == nullptr) return;
  for (const auto* visits : {&barrier->arrivals, &barrier->previous, &barrier->waits}) {
    for (const Visit& before : *visits) {
      if (known.done.covers(before.agent, before.time)) continue;
      findings_.add({Rule::barrier, visit.op, before.op,
                     barrier->name + " is invalidated by " + *visit.by +
                         ", which does not know that " + at(before) + " is done with it"});
    }
  }
  all_.erase({view.storage.get(), view.offset});
}

Barrier* Barriers::find(const execute::View& view) {
  const auto found = all_.find({view.storage.get(), view.offset});
  return found == all_.end() ? nullptr : &found->second;
}

std::string Barriers::at(const Visit& visit) const {
  return *visit.by + " (line " + std::to_string(program_.op(visit.op).line) + ")";
}

/// Checks that the visitor knows of every arrival in the phase before.
void Barriers::check_overrun(const Barrier& barrier, const Visit& visit, const Knowledge& known) {
  for (const Visit& before : barrier.previous) {
    if (known.done.covers(before.agent, before.time)) continue;
    findings_.add({Rule::overrun, visit.op, before.op,
                   barrier.name + ": " + *visit.by +
                       " arrives for a phase and does not know that the one before is complete: " +
                       "the arrival of " + at(before) + " may come later"});
  }
}

void Barriers::arrive(Barrier& barrier, const Visit& visit, std::int64_t count,
                      const Knowledge& known) {
  check_overrun(barrier, visit, known);
  if (count > barrier.pending) {
    findings_.add({Rule::arrivals, visit.op, std::nullopt,
                   barrier.name + " gets " + std::to_string(count) + " arrivals from " + *visit.by +
                       ", and only " + std::to_string(barrier.pending) + " of " +
                       std::to_string(barrier.count) + " are missing in phase " +
                       std::to_string(barrier.completed)});
    count = barrier.pending;
  }
  barrier.pending -= count;
  barrier.gathered.join(known);
  barrier.arrivals.push_back(visit);
  complete_if_full(barrier);
}

std::uint32_t Barriers::announce(Barrier& barrier, const Visit& visit, const Knowledge& known) {
  check_overrun(barrier, visit, known);
  return barrier.completed + 1;
}

void Barriers::land(Barrier& barrier, const Visit& visit, std::int64_t bytes,
                    const Knowledge& known) {
  if (visit.time != barrier.completed + 1) {
    findings_.add({Rule::arrivals, visit.op, std::nullopt,
                   barrier.name + ": the bytes that " + *visit.by +
                       " copies may land when the phase is over that they were meant for"});
  }
  barrier.bytes -= bytes;
  barrier.gathered.done.join(known.done);
  barrier.gathered.done.advance(visit.agent, visit.time);
  barrier.arrivals.push_back(visit);
  complete_if_full(barrier);
}

void Barriers::complete_if_full(Barrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  for (const Visit& wait : barrier.waits) {
    if (barrier.gathered.done.covers(wait.agent, wait.time)) continue;
    const Visit& last = barrier.arrivals.back();
    findings_.add({Rule::phase, wait.op, last.op,
                   barrier.name + ": the wait of " + *wait.by +
                       " may miss its phase by a lap: nothing holds back the arrival of " +
                       at(last) + " for the next one until it has passed"});
  }
  barrier.waits.clear();
  barrier.earlier = std::move(barrier.previous);
  barrier.previous = std::move(barrier.arrivals);
  barrier.arrivals.clear();
  barrier.last.join(barrier.gathered);
  barrier.gathered = {};
  barrier.pending = barrier.count;
  ++barrier.completed;
}

void Barriers::pass(Barrier& barrier, const Visit& visit, Knowledge& known) {
  for (const Visit& before : barrier.earlier) {
    if (known.done.covers(before.agent, before.time)) continue;
    findings_.add({Rule::phase, visit.op, before.op,
                   barrier.name + ": the wait of " + *visit.by +
                       " may pass a phase early: it does not know that the phase before the one " +
                       "it waits for is complete, with the arrival of " + at(before)});
  }
  known.join(barrier.last);
  // Knowledge of an agent's last wait covers all earlier waits of the agent.
  std::erase_if(barrier.waits, [&](const Visit& wait) { return wait.agent == visit.agent; });
  barrier.waits.push_back(visit);
}

}  // namespace twill::concurrent
