#pragma once

#include <map>
#include <string>
#include <vector>

#include "twill/numerics/meaning.h"
#include "twill/plan/plan.h"

/// Internal to the room: buffers of a plan while it runs. Every copy of every buffer is a slot that
/// holds its last contents. A write destroys the contents of slots at the same addresses.
namespace twill::numerics {

using plan::BufferId;

/// Part of a thing, with its elements.
struct Piece {
  Box box;
  execute::TilePtr tile;
};
using Content = std::map<Thing, Piece>;

/// Queue of asynchronous work of one role and mechanism. The work runs in order, so accesses of one
/// queue to a slot do not conflict. 0: no queue.
using Queue = std::size_t;

class Slots {
 public:
  explicit Slots(const plan::Plan& plan);

  std::size_t of(BufferId buffer, std::int64_t iteration) const;

  /// Replaces the contents of the slot.
  void put(std::size_t slot, Content content);
  /// Adds to the contents of the slot.
  void add(std::size_t slot, Thing thing, Piece piece);

  /// Marks the slot as being written until `end_write`. Meanwhile only work of the same queue finds
  /// its contents. `keeps`: the write adds to the contents instead of destroying them.
  void begin_write(std::size_t slot, Queue queue, bool keeps);
  void end_write(std::size_t slot, Content content, Queue queue);

  /// Thing in the slot; null if it is missing, or while another queue writes the slot.
  const Piece* find(std::size_t slot, Thing thing, Queue queue) const;
  /// Counts changes of the slot by queues other than `queue`.
  std::int64_t changes(std::size_t slot, Queue queue) const;
  /// Destroys the contents of the slot on behalf of `queue`.
  void destroy(std::size_t slot, Queue queue = 0);

  /// Names a slot: "load0, slot 1".
  std::string name(std::size_t slot) const;

 private:
  struct Slot {
    BufferId buffer;
    int copy = 0;
    Content content;
    int writers = 0;
    Queue writer = 0;  ///< queue of the writes under way
    std::int64_t changes = 0;
    std::map<Queue, std::int64_t> own;  ///< changes by queue
    std::vector<std::size_t> beside;    ///< slots with common addresses
  };
  void touch(std::size_t slot, Queue queue);
  bool overlap(const Slot& a, const Slot& b) const;

  const plan::Plan& plan_;
  std::vector<std::size_t> first_;  ///< by BufferId
  std::vector<Slot> slots_;
};

}  // namespace twill::numerics
