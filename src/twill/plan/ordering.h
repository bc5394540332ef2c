#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "twill/plan/draft.h"

/// Internal to the room: order that already holds in the steady state of a Draft, so that no second
/// barrier is made for it. The proof does not use this order.
namespace twill::plan {

/// A cluster of a role's window.
struct At {
  RoleId role;
  std::size_t cluster = 0;
  friend bool operator==(const At&, const At&) = default;
};

/// A graph of points in windows with integer distances. An edge of weight d from a to b: b of
/// window w + d comes after a of window w. For example, a channel of depth 2 from a load to its
/// reader, and its release back to the load:
///
///     load  --0-->  reader      instance n is read once it is loaded
///     load  <--2--  reader      instance n + 2 is loaded once instance n is read
///
/// Steps exist only for iterations of the loop. So a path counts only if all its steps belong to
/// iterations between those of its two ends. Then it exists whenever these do, also in the first
/// and last windows.
class Ordering {
 public:
  explicit Ordering(const Draft& draft);

  At issue_of(OpId op) const { return issue_[op.index()]; }
  /// Step at which the op's own role sees its end.
  At retire_of(OpId op) const { return retire_[op.index()]; }

  std::size_t enter(At at) const { return 2 * (first_[at.role.index()] + at.cluster); }
  std::size_t exit(At at) const { return enter(at) + 1; }
  /// Point after which the op no longer accesses its operands: the end of its asynchronous work, or
  /// its exit.
  std::size_t done(OpId op) const;

  /// Adds an edge that exists when the steps of the iterations n = `window of from` - `shift` and n
  /// + `span` do; span >= 0.
  void add(std::size_t from, std::size_t to, Cycles weight, Cycles shift, Cycles span = 0);
  /// Whether `to` of window `window` + `weight` comes after `from` of window `window`, for steps of
  /// iterations 0 and `lead`.
  bool implies(std::size_t from, std::size_t to, Cycles window, Cycles weight, Cycles lead) const;

 private:
  struct Link {
    std::size_t to;
    Cycles weight;
    std::optional<Cycles> shift;  ///< empty: the order of a role's own steps, which always holds
    Cycles span;
  };
  void add_order(std::size_t from, std::size_t to, Cycles weight);
  void add_queue(const Draft& draft, RoleId role, Mechanism mechanism);

  std::vector<std::size_t> first_;  // by RoleId: number of clusters before it
  std::vector<At> issue_, retire_;  // by OpId
  std::vector<std::size_t> done_;   // by OpId
  std::vector<std::vector<Link>> links_;
};

/// Window that contains a moment, counted from the window of moment 0.
inline Cycles window_of(const Draft& draft, Cycles time) {
  return floor_divide(time, draft.interval);
}

}  // namespace twill::plan
