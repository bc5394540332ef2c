#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "twill/ir/program.h"

namespace twill::concurrent {

/// Where loops around an op stand: the quantity of the innermost one, and its position.
using Scope = std::optional<std::pair<std::size_t, std::int64_t>>;

/// In a scope, in place of a quantity: the position is the number of a draw (`Number`).
inline constexpr std::size_t kDrawn = SIZE_MAX;

/// A number that is not known and that roles read alike. An example: the iterations of an inner
/// loop in one iteration of the outer one. The bounds were assumed so far.
struct OpenNumber {
  std::size_t id = 0;  ///< numbers of one run, in order
  std::size_t form = 0;
  std::size_t occurrence = 0;
  Scope scope;
  std::optional<std::int64_t> above;    ///< it is more than that
  std::optional<std::int64_t> at_most;  ///< it is no more than that
  std::uint64_t left = 0;               ///< roles that are behind their loop of this quantity
};

/// Is that quantity more than `threshold`?
struct Question {
  std::size_t quantity = 0;
  std::int64_t threshold = 0;
  ir::OpId op;  ///< that wants to know
};

/// All quantities that a role may still ask about.
class Quantities {
 public:
  /// The quantity of that form, occurrence and scope; a new one if there is none.
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
