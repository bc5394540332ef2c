#include <algorithm>

#include <fmt/format.h>

#include "twill/plan/proof/run.h"

namespace twill::plan::proof {
namespace {

class BarrierCheck {
 public:
  BarrierCheck(const Run& run, const BarrierKey& key, const Barrier& barrier, Findings& findings)
      : run_(run),
        channel_(run.plan()[std::get<0>(key)]),
        side_(std::get<1>(key)),
        slot_(std::get<2>(key)),
        barrier_(barrier),
        findings_(findings) {}

  void check() {
    for (const auto& [phase, arrivals] : barrier_.phases) {
      check_count(phase, arrivals);
      check_overrun(phase, arrivals);
      if (findings_.full()) return;
    }
    for (const Wait& wait : barrier_.waits) {
      if (wait.parity >= 0) check_wait(wait);
      if (findings_.full()) return;
    }
  }

 private:
  std::string name() const {
    const std::string_view side = channel_.kind == ChannelKind::token ? "named"
                                  : side_ == Side::full               ? "full"
                                                                      : "empty";
    return fmt::format("the {} barrier of {}, slot {}", side, channel_.name, slot_);
  }

  void check_count(std::int64_t phase, const std::vector<Arriving>& arrivals) {
    std::int64_t count = 0;
    Amount bytes = 0;
    Amount expected = 0;
    for (const Arriving& arrival : arrivals) {
      count += arrival.weight;
      bytes += arrival.bytes;
      expected += arrival.expected;
    }
    const int wanted = side_ == Side::full ? channel_.full_arrivals : channel_.empty_arrivals;
    if (count != wanted) {
      std::vector<std::string> trace;
      for (const Arriving& arrival : arrivals) trace.push_back(run_.describe(arrival.event));
      findings_.add("arrivals",
                    fmt::format("with {}, phase {} of {} gets {} arrivals, but counts {}",
                                run_.trips(), phase, name(), count, wanted),
                    std::move(trace));
    }
    if (bytes != expected) {
      findings_.add("arrivals",
                    fmt::format("with {}, phase {} of {} expects {} bytes, but {} arrive",
                                run_.trips(), phase, name(), expected, bytes));
    }
  }

  /// An arrival meant for a phase may not come while the one before is still open.
  void check_overrun(std::int64_t phase, const std::vector<Arriving>& arrivals) {
    if (phase == 0) return;
    const auto before = barrier_.phases.find(phase - 1);
    if (before == barrier_.phases.end()) {
      findings_.add("arrivals",
                    fmt::format("with {}, {} gets arrivals for phase {}, but none "
                                "for the phase before",
                                run_.trips(), name(), phase));
      return;
    }
    for (const Arriving& late : arrivals) {
      for (const Arriving& early : before->second) {
        if (run_.before(early.event, late.event)) continue;
        findings_.add(
            "overrun",
            fmt::format("with {}, an arrival for phase {} of {} may come before phase "
                        "{} is complete and be counted there",
                        run_.trips(), phase, name(), phase - 1),
            {run_.describe(late.event) + " is not ordered after", run_.describe(early.event)});
        return;
      }
    }
  }

  /// A wait by parity must come while its phase, or the one after it, is open.
  void check_wait(const Wait& wait) {
    const int right = static_cast<int>((wait.phase + 2) % 2);
    if (wait.parity != right) {
      findings_.add(
          "phase",
          fmt::format("with {}, {} asks {} for parity {}, but phase {} has {}", run_.trips(),
                      run_.describe(wait.event), name(), wait.parity, wait.phase, right));
      return;
    }
    check_not_early(wait);
    check_not_missed(wait);
  }

  void check_not_early(const Wait& wait) {
    const auto previous = barrier_.phases.find(wait.phase - 1);
    if (wait.phase < 1 || previous == barrier_.phases.end()) return;
    for (const Arriving& arrival : previous->second) {
      const bool over = wait.before != kNone && run_.before_or_same(arrival.event, wait.before);
      if (over) continue;
      findings_.add(
          "phase",
          fmt::format("with {}, {} may ask for phase {} of {} while phase {} is still "
                      "open, and pass at once",
                      run_.trips(), run_.describe(wait.event), wait.phase, name(), wait.phase - 1),
          {run_.describe(wait.event) + " is not ordered after", run_.describe(arrival.event)});
      return;
    }
  }

  void check_not_missed(const Wait& wait) {
    const auto next = barrier_.phases.find(wait.phase + 1);
    if (next == barrier_.phases.end()) return;
    const bool kept = std::any_of(
        next->second.begin(), next->second.end(),
        [&](const Arriving& arrival) { return run_.before(wait.event, arrival.event); });
    if (kept) return;
    std::vector<std::string> trace = {run_.describe(wait.event) + " is not ordered before any of"};
    for (const Arriving& arrival : next->second) trace.push_back(run_.describe(arrival.event));
    findings_.add(
        "phase",
        fmt::format("with {}, {} may miss phase {} of {}: phase {} can complete before",
                    run_.trips(), run_.describe(wait.event), wait.phase, name(), wait.phase + 1),
        std::move(trace));
  }

  const Run& run_;
  const Channel& channel_;
  Side side_;
  std::int64_t slot_;
  const Barrier& barrier_;
  Findings& findings_;
};

}  // namespace

void check_barriers(const Run& run, Findings& findings) {
  for (const auto& [key, barrier] : run.barriers()) {
    if (std::get<3>(key) > 0) continue;  // like those of the first
    BarrierCheck(run, key, barrier, findings).check();
    if (findings.full()) return;
  }
}

void check_exits(const Run& run, Findings& findings) {
  if (cluster_size(run.plan()) == 1) return;
  for (const auto& [key, barrier] : run.barriers()) {
    if (std::get<3>(key) > 0) continue;
    for (const auto& [phase, arrivals] : barrier.phases) {
      for (const Arriving& arrival : arrivals) {
        if (run.events()[arrival.event].cta == 0) continue;
        const bool there = std::any_of(run.exits().begin(), run.exits().end(), [&](EventId exit) {
          return run.before(arrival.event, exit);
        });
        if (there) continue;
        findings.add("exit",
                     fmt::format("with {}, all of a CTA may be gone when something comes to its "
                                 "barriers of {}",
                                 run.trips(), run.plan()[std::get<0>(key)].name),
                     {run.describe(arrival.event)});
        return;
      }
    }
  }
}

}  // namespace twill::plan::proof
