#include "twill/plan/buffers.h"

#include <algorithm>
#include <utility>

namespace twill::plan {
namespace {

/// Rings with fewer copies than this hide no latency.
constexpr int kFewestCopies = 2;

bool is_ring(const Plan& plan, const Channel& channel) {
  return channel.kind == ChannelKind::pipeline && !channel.buffers.empty() &&
         channel.counts == Channel::Counts::iterations &&
         std::all_of(channel.buffers.begin(), channel.buffers.end(), [&](BufferId buffer) {
           return plan[buffer].depth == channel.depth && plan[buffer].initial == 0;
         });
}

}  // namespace

bool share_addresses(const Buffer& a, const Buffer& b) {
  const auto end = [](const Buffer& it) { return it.offset + it.size * it.depth; };
  return a.residence != Residence::registers && a.residence == b.residence &&
         a.memory == b.memory && a.offset < end(b) && b.offset < end(a);
}

std::optional<ProvenPlan> with_fewer_copies(Plan plan) {
  int deepest = 0;
  for (const Channel& channel : plan.channels) {
    if (is_ring(plan, channel)) deepest = std::max(deepest, channel.depth);
  }
  if (deepest <= kFewestCopies) return std::nullopt;
  for (Channel& channel : plan.channels) {
    if (!is_ring(plan, channel) || channel.depth != deepest) continue;
    channel.depth = deepest - 1;
    for (const BufferId buffer : channel.buffers) plan.buffers[buffer.index()].depth = deepest - 1;
  }
  auto proven = prove(std::move(plan));
  return proven ? std::optional(*std::move(proven)) : std::nullopt;
}

}  // namespace twill::plan
