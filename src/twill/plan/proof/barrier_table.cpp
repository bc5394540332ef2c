#include "twill/plan/proof/barrier_table.h"

#include <algorithm>

namespace twill::plan::proof {
namespace {

/// Sorts notes by their numbers, and records where each number begins.
template <class T>
void sort_by_number(const std::vector<std::pair<std::uint32_t, T>>& noted, std::size_t numbers,
                    std::vector<std::uint32_t>& first, std::vector<T>& sorted) {
  first.assign(numbers + 2, 0);
  for (const auto& [number, what] : noted) ++first[number + 2];
  for (std::size_t n = 2; n < first.size(); ++n) first[n] += first[n - 1];
  sorted.resize(noted.size());
  for (const auto& [number, what] : noted) sorted[first[number + 1]++] = what;
  first.pop_back();
}

}  // namespace

void BarrierTable::clear(const Plan& plan, std::size_t ctas, std::int64_t iterations,
                         std::int64_t tiles) {
  ctas_ = ctas;
  depths_.clear();
  first_slot_.clear();
  barriers_.clear();
  phases_ = 0;
  noted_arrivals_.clear();
  noted_waits_.clear();
  for (std::size_t c = 0; c < plan.channels.size(); ++c) {
    const Channel& channel = plan.channels[c];
    const std::int64_t depth = channel.depth;
    const bool by_tile = channel.counts == Channel::Counts::tiles;
    const std::int64_t instances = by_tile ? tiles : iterations;
    const std::int64_t laps = (instances + depth - 1) / depth;
    depths_.push_back(depth);
    for (const Side side : {Side::full, Side::empty}) {
      first_slot_.push_back(barriers_.size());
      for (std::int64_t slot = 0; slot < std::min(depth, instances); ++slot) {
        for (std::size_t cta = 0; cta < ctas; ++cta) {
          barriers_.push_back({ChannelId(c), side, slot, cta, phases_, laps, {}});
          phases_ += static_cast<std::size_t>(laps);
        }
      }
    }
  }
}

std::size_t BarrierTable::index(ChannelId channel, Side side, std::size_t cta,
                                std::int64_t instance) const {
  const std::int64_t slot = instance % depths_[channel.index()];
  return first_slot_[2 * channel.index() + static_cast<std::size_t>(side)] +
         static_cast<std::size_t>(slot) * ctas_ + cta;
}

void BarrierTable::arrive(ChannelId channel, Side side, std::size_t cta, std::int64_t instance,
                          const Arriving& arriving) {
  const Barrier& barrier = barriers_[index(channel, side, cta, instance)];
  const auto lap = static_cast<std::size_t>(instance / depths_[channel.index()]);
  noted_arrivals_.emplace_back(static_cast<std::uint32_t>(barrier.first_phase + lap), arriving);
}

void BarrierTable::wait(ChannelId channel, Side side, std::size_t cta, std::int64_t instance,
                        const Wait& wait) {
  noted_waits_.emplace_back(static_cast<std::uint32_t>(index(channel, side, cta, instance)), wait);
}

void BarrierTable::sort() {
  sort_by_number(noted_arrivals_, phases_, first_arrival_, arrivals_);
  sort_by_number(noted_waits_, barriers_.size(), first_wait_, waits_);
  for (std::size_t b = 0; b < barriers_.size(); ++b) {
    barriers_[b].waits =
        std::span(waits_).subspan(first_wait_[b], first_wait_[b + 1] - first_wait_[b]);
  }
}

}  // namespace twill::plan::proof
