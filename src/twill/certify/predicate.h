#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "twill/problem/ops.h"

/// Statements of a proof's variables and sums about a schedule. docs/reference/certificate.md has
/// the exact meaning of each, and the constraints between them.
namespace twill::certify {

/// Predicate. Its numbers are indices of ops, groups and memories of the Problem, or of the proof's
/// accumulators.
struct Predicate {
  enum class Kind : std::uint8_t {
    slot,       ///< slot(first) - slot(second) >= number
    stage,      ///< stage(first) - stage(second) >= number
    in,         ///< op `first` is in group `second`
    used,       ///< group `first` has an op
    opened,     ///< an op that does not come after op `second` is in group `first`
    same,       ///< ops `first` and `second` are in one group
    waits,      ///< op `first` blocks
    alive,      ///< `number` copies of the value of `first` are alive when `second` is issued
    held,       ///< as `alive`, and the two ops are in one group
    together,   ///< all ops of accumulator `first` are in the group of op `second`
    before,     ///< a value of the accumulator, up to position `number`, is held when `second` is
                ///< issued
    counts,     ///< the value at `number` is held; and not the first held, or not together
    gathered,   ///< all ops of accumulator `first` are in group `second`
    leaves,     ///< value `first` is made in group `second`, and a late reader is in another group
    crosses,    ///< value `first` is made outside of group `second`, and one of its readers is in
                ///< the group
    handed,     ///< value `first`, made by `number` warps or more, has a reader in another group
    exists,     ///< transfer op `first` exists
    runs,       ///< transfer op `first` exists and is in group `second`
    steps,      ///< group `first` needs at least `number` steps of its register budget
    deep,       ///< `number` copies live at once in the buffer of op `first` in memory `second`
    shorter,    ///< that buffer is shorter than `number`
    above,      ///< in memory `number`, op `first`'s buffer begins no lower than `second`'s ends
    groups,     ///< at most `number` groups have an op
    crossings,  ///< at most `number` crossings
    length,     ///< the schedule is at most `number` long
    pipe,       ///< sum: demands on pipe `first`
    memory,     ///< sum: contents of memory `first` when op `second` is issued
    depth,      ///< sum: copies in the buffer of op `first` in memory `second` when that op is
                ///< issued
    registers,  ///< sum: registers in the group of op `first` when that op is issued
    issue,      ///< sum: issue cycles of group `first`
    register_time,   ///< sum: registers times cycles of group `first`
    compute_groups,  ///< sum: compute groups without an op
    budget,          ///< sum: steps that the groups of group `first`'s budget need
  };
  Kind kind = Kind::used;
  std::size_t first = 0;
  std::size_t second = 0;
  std::int64_t number = 0;

  friend auto operator<=>(const Predicate&, const Predicate&) = default;
};
inline constexpr int kPredicateKinds = 33;

/// Whether the kind may be a variable; whether it may be a sum that overflows. `groups` and
/// `crossings` are both.
bool is_variable(Predicate::Kind kind);
bool is_sum(Predicate::Kind kind);

/// Meaning of the two numbers of a kind; `nothing`: the kind has no number at that place.
enum class Noun : std::uint8_t { nothing, op, group, pipe, memory, accumulator };
struct Form {
  const char* word;  ///< "slot", "register-time" ...
  Noun first;
  Noun second;
  bool number;
  bool of_memory = false;  ///< the number is an index of a memory
};
const Form& form_of(Predicate::Kind kind);

/// Text of a predicate as a proof spells it: "slot qkA qkB 512". Precondition: the numbers fit the
/// Problem.
std::string text_of(const Predicate& predicate, const problem::Problem& problem);

}  // namespace twill::certify
