#include <algorithm>

#include <fmt/format.h>

#include "twill/plan/proof/run.h"

namespace twill::plan::proof {
namespace {

class BarrierCheck {
 public:
  BarrierCheck(const Run& run, const Barrier& barrier, Findings& findings)
      : run_(run), channel_(run.plan()[barrier.channel]), barrier_(barrier), findings_(findings) {}

  void check() {
    for (std::int64_t phase = 0; phase < barrier_.phases; ++phase) {
      const Arrivals arrivals = arrivals_of(phase);
      if (arrivals.empty()) continue;
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
  using Arrivals = std::span<const Arriving>;

  Arrivals arrivals_of(std::int64_t phase) const {
    return run_.barriers().arrivals(barrier_, phase);
  }

  std::string name() const {
    const std::string_view side = channel_.kind == ChannelKind::token ? "named"
                                  : barrier_.side == Side::full       ? "full"
                                                                      : "empty";
    return fmt::format("the {} barrier of {}, slot {}", side, channel_.name, barrier_.slot);
  }

  void check_count(std::int64_t phase, const Arrivals& arrivals) {
    std::int64_t count = 0;
    Amount bytes = 0;
    Amount expected = 0;
    for (const Arriving& arrival : arrivals) {
      count += arrival.weight;
      bytes += arrival.bytes;
      expected += arrival.expected;
    }
    const int wanted =
        barrier_.side == Side::full ? channel_.full_arrivals : channel_.empty_arrivals;
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

  /// Checks that an arrival meant for a phase comes after the end of the phase before.
  void check_overrun(std::int64_t phase, const Arrivals& arrivals) {
    if (phase == 0) return;
    const Arrivals before = arrivals_of(phase - 1);
    if (before.empty()) {
      findings_.add("arrivals", fmt::format("with {}, {} gets arrivals for phase {}, but none "
                                            "for the phase before",
                                            run_.trips(), name(), phase));
      return;
    }
    if (run_.of_one_tile(before.front().event, arrivals.front().event)) return;
    for (const Arriving& late : arrivals) {
      for (const Arriving& early : before) {
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

  /// Checks that a wait by parity comes while its phase, or the next phase, is open.
  void check_wait(const Wait& wait) {
    const int right = static_cast<int>((wait.phase + 2) % 2);
    if (wait.parity != right) {
      findings_.add("phase", fmt::format("with {}, {} asks {} for parity {}, but phase {} has {}",
                                         run_.trips(), run_.describe(wait.event), name(),
                                         wait.parity, wait.phase, right));
      return;
    }
    check_not_early(wait);
    check_not_missed(wait);
  }

  bool in_one_tile(const Wait& wait, const Arrivals& arrivals) const {
    return !arrivals.empty() && run_.of_one_tile(wait.event, arrivals.front().event);
  }

  void check_not_early(const Wait& wait) {
    const Arrivals previous = arrivals_of(wait.phase - 1);
    if (in_one_tile(wait, previous)) return;
    for (const Arriving& arrival : previous) {
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
    const Arrivals next = arrivals_of(wait.phase + 1);
    if (in_one_tile(wait, next)) return;
    const bool kept = std::any_of(next.begin(), next.end(), [&](const Arriving& arrival) {
      return run_.before(wait.event, arrival.event);
    });
    if (kept || next.empty()) return;
    std::vector<std::string> trace = {run_.describe(wait.event) + " is not ordered before any of"};
    for (const Arriving& arrival : next) trace.push_back(run_.describe(arrival.event));
    findings_.add(
        "phase",
        fmt::format("with {}, {} may miss phase {} of {}: phase {} can complete before",
                    run_.trips(), run_.describe(wait.event), wait.phase, name(), wait.phase + 1),
        std::move(trace));
  }

  const Run& run_;
  const Channel& channel_;
  const Barrier& barrier_;
  Findings& findings_;
};

}  // namespace

void check_barriers(const Run& run, Findings& findings) {
  for (const Barrier& barrier : run.barriers().all()) {
    if (barrier.cta > 0) continue;  // the barriers of other CTAs behave like those of the first
    BarrierCheck(run, barrier, findings).check();
    if (findings.full()) return;
  }
}

void check_exits(const Run& run, Findings& findings) {
  if (cluster_size(run.plan()) == 1) return;
  const auto is_late = [&](const Arriving& arrival) {
    return run.events()[arrival.event].cta > 0 &&
           std::none_of(run.exits().begin(), run.exits().end(),
                        [&](EventId exit) { return run.before(arrival.event, exit); });
  };
  for (const Barrier& barrier : run.barriers().all()) {
    if (barrier.cta > 0) continue;
    for (std::int64_t phase = 0; phase < barrier.phases; ++phase) {
      const auto arrivals = run.barriers().arrivals(barrier, phase);
      const auto late = std::find_if(arrivals.begin(), arrivals.end(), is_late);
      if (late == arrivals.end()) continue;
      findings.add(
          "exit",
          fmt::format(
              "with {}, all warps of a CTA may have exited when data or an arrival comes to its "
              "barriers of {}",
              run.trips(), run.plan()[barrier.channel].name),
          {run.describe(late->event)});
      return;
    }
  }
}

}  // namespace twill::plan::proof
