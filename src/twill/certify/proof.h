#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twill/certify/predicate.h"
#include "twill/support/diagnostic.h"

namespace twill::certify {

/// Permutation of ops: the two ops of each pair change places, and all others stay.
using Exchange = std::vector<std::pair<std::size_t, std::size_t>>;

/// Statement that a proof refutes: there is a schedule of the Problem with this initiation interval
/// that keeps the limits. Also the assumptions made without loss of generality.
struct Subject {
  Cycles interval = 1;
  bool with_room = false;           ///< the schedule also leaves memory for values that change
                                    ///< groups
  std::size_t anchor = 0;           ///< the op whose slot is 0
  std::vector<std::size_t> tiles;   ///< ops ordered by slot; empty or >= 2
  std::vector<Exchange> exchanges;  ///< exchanges that justify the order of `tiles`
  std::vector<std::vector<std::size_t>> accumulators;  ///< ops in the order in which they read each
                                                       ///< other
  std::vector<Predicate> given;                        ///< limits that the schedule keeps
  std::optional<Predicate> refuted;                    ///< limit that the schedule cannot keep
                                                       ///< beside `given`
  friend bool operator==(const Subject&, const Subject&) = default;
};

/// Kind of a step. A step adds a clause to those that hold, or drops some.
enum class StepKind : std::uint8_t {
  difference,  ///< the negated literals are differences that close a circuit of positive weight
  overflow,    ///< the negated literals overflow a sum
  learned,     ///< reverse unit propagation (Goldberg and Novikov, DATE 2003): the negated literals
               ///< lead to a contradiction by unit propagation
  dropped,     ///< no longer needed; the numbers of earlier steps, from 1
};

struct Step {
  StepKind kind = StepKind::learned;
  std::uint32_t sum = 0;    ///< for `overflow`: index into Proof::sums
  std::uint32_t begin = 0;  ///< index into Proof::numbers
  std::uint32_t end = 0;
};

/// Refutation of the Subject. Literals are signed variable numbers from 1; the number of a clause
/// counts the steps that add a clause, from 1.
struct Proof {
  Subject subject;
  std::vector<Predicate> variables;  ///< variable i is element i - 1
  std::vector<Predicate> sums;
  std::vector<Step> steps;
  std::vector<std::int32_t> numbers;

  std::span<const std::int32_t> numbers_of(const Step& step) const {
    return std::span(numbers).subspan(step.begin, step.end - step.begin);
  }
};

/// Reason and place of a rejection.
struct Rejection {
  std::string file;  ///< file name, which the caller fills in
  int line = 0;      ///< 0: no line
  std::string reason;
};

/// Prints and reads the text form (docs/reference/certificate.md). Reading fails for a text that is
/// no proof about this Problem. Reading does not check the proof.
std::string print_proof(const Proof& proof, const problem::Problem& problem);
Result<Proof> parse_proof(std::string_view text, const std::string& file,
                          const problem::Problem& problem);

/// Line of the printed text on which a step stands. Precondition: it is a step of the proof.
int line_of_step(const Proof& proof, std::size_t step);

/// Checks every step. Precondition: every op of the Problem has one alternative. The `line` of a
/// rejection is a line of the printed text. Cost: about that of the search that found the proof.
tl::expected<void, Rejection> check_proof(const problem::Problem& problem, const Proof& proof);

/// Checks every step, and returns the part of the proof that the refutation needs. Clauses are
/// dropped after their last use.
tl::expected<Proof, Rejection> trim_proof(const problem::Problem& problem, const Proof& proof);

}  // namespace twill::certify
