#include "twill/emit/cuda/resources.h"

#include <algorithm>

namespace twill::emit::cuda {

SharedMemory shared_memory_of(const plan::Plan& plan) {
  constexpr Amount kBarrierBytes = 8;
  Amount end = 0;
  for (const plan::Buffer& buffer : plan.buffers) {
    if (buffer.residence != plan::Residence::shared) continue;
    end = std::max(end, buffer.offset + buffer.size * buffer.depth);
  }
  SharedMemory shared;
  shared.barriers_at = (end + kBarrierBytes - 1) / kBarrierBytes * kBarrierBytes;
  for (const plan::Channel& channel : plan.channels) {
    if (channel.kind == plan::ChannelKind::token) continue;
    shared.barrier_bytes += kBarrierBytes * channel.depth * (channel.empty_arrivals > 0 ? 2 : 1);
  }
  return shared;
}

int threads_of(const plan::Plan& plan) {
  constexpr int kThreadsOfWarpgroup = 128;
  return kThreadsOfWarpgroup * static_cast<int>(plan.warpgroups.size());
}

}  // namespace twill::emit::cuda
