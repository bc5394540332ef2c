#pragma once

#include <vector>

#include "twill/plan/draft_space.h"

/// Internal to the room: numbers of copies of buffers, mostly of rings.
namespace twill::plan {

/// Groups loads of one role that the same ops read: they share a channel, and arrive and leave
/// together. Copies by threads and by TMA have separate channels, since their arrivals are counted
/// differently.
void group_rings(Draft& draft);

/// Gives copies to all rings in turn until each has that depth, as far as memory allows.
void deepen_in_turn(BufferSpace& space, int until, Amount& left);

/// Gives the remaining memory to the rings, a copy at a time, to the ring that hides least of its
/// latency. Once all latency is hidden, the rings get copies in turn. Deeper rings absorb delays
/// that are not in the model.
void deepen_rings(BufferSpace& space, Amount left);

/// Takes a copy from the buffer that needs its last copy for the shortest time. The schedule counts
/// on that copy, so the plan becomes slower than the schedule. Returns false if all buffers have
/// one copy.
bool shrink(BufferSpace& space);

/// Notes the rings that have fewer copies than wanted.
void note_short_rings(BufferSpace& space, int wanted);

/// Whether a ring in the memory has too few copies to hide the latency of its loads.
bool lacks_copies(BufferSpace& space, const Setting& setting);

/// Copies of all rings.
int copies_of_rings(const Draft& draft);

/// Whether an op of the loop reads the value.
bool is_read(const Draft& draft, OpId value);

}  // namespace twill::plan
