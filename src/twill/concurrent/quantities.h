#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "twill/ir/program.h"

namespace twill::concurrent {

/// Position of the loops around an op: the quantity of the innermost loop, and its position.
using Scope = std::optional<std::pair<std::size_t, std::int64_t>>;

/// Mark in place of a scope's quantity: the position is the number of a draw (`Number`).
inline constexpr std::size_t kDrawn = SIZE_MAX;

/// Unknown number that roles read alike, with the bounds assumed so far. An example: the trip count
/// of an inner loop in one iteration of the outer loop.
struct OpenNumber {
  std::size_t id = 0;  ///< numbers in one run, in order
  std::size_t form = 0;
  std::size_t occurrence = 0;
  Scope scope;
  std::optional<std::int64_t> above;    ///< the quantity is more than this number
  std::optional<std::int64_t> at_most;  ///< the quantity is at most this number
  std::uint64_t left = 0;               ///< roles that are behind their loop of this quantity
};

/// Question whether a quantity is more than `threshold`.
struct Question {
  std::size_t quantity = 0;
  std::int64_t threshold = 0;
  ir::OpId op;  ///< the op that needs the answer
};

/// All quantities that a role may still ask about.
class Quantities {
 public:
  /// Finds the quantity of a form, occurrence and scope; adds a new one if there is none.
  OpenNumber& get(std::size_t form, std::size_t occurrence, const Scope& scope);
  OpenNumber* find(std::size_t id);
  const std::vector<OpenNumber>& all() const { return all_; }
  std::vector<OpenNumber>& all() { return all_; }

 private:
  std::vector<OpenNumber> all_;
  std::size_t next_ = 0;
};

std::optional<bool> is_more(const OpenNumber& quantity, std::int64_t threshold);
void assume(OpenNumber& quantity, std::int64_t threshold, bool more);

}  // namespace twill::concurrent
