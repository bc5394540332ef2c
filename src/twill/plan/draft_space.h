#pragma once

#include <string>
#include <vector>

#include "twill/plan/draft.h"

/// Internal to the room: the buffers of one memory, and their places in it.
namespace twill::plan {

inline Amount total(const Buffer& buffer) { return buffer.size * buffer.depth; }

/// The buffers of one memory, with their alignments and places.
struct BufferSpace {
  Draft& draft;
  std::string memory;
  Amount capacity = 0;
  std::vector<BufferId> buffers;
  std::vector<Amount> alignment;  ///< by BufferId

  Buffer& at(BufferId id) const { return draft.plan.buffers[id.index()]; }

  Amount round_up(Amount offset, BufferId id) const {
    const Amount to = alignment[id.index()];
    return (offset + to - 1) / to * to;
  }
};

/// Lays out buffers one after the other; returns the end of the last buffer.
Amount lay_out(BufferSpace& space);

/// Lays out buffers that may share addresses, the largest first. A buffer that ends beyond the
/// capacity goes first in the next attempt. Returns the least end found; the layout is that of the
/// last attempt.
Amount lay_out_sharing(BufferSpace& space);

}  // namespace twill::plan
