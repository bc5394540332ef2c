#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "twill/ir/operands.h"
#include "twill/ir/program.h"

/// What is known of neighbouring elements of a tile: enough to say whether threads may read them in
/// one piece.
namespace twill::ir {

/// The elements of a tile in runs of so many neighbours along one dimension, each run beginning at
/// a multiple of its length.
struct Run {
  enum class Kind {
    constant,     ///< all elements of a run are equal
    consecutive,  ///< each is one more than its neighbour; of pointers: points to the next element
    unknown,
  };
  Kind kind = Kind::unknown;
  /// A power of two that divides the first element of every run; of pointers: in bytes.
  std::int64_t divisor = 1;
  friend bool operator==(const Run&, const Run&) = default;
};

/// Follows the arithmetic that makes a tile, from what the text says of arguments and values
/// (`tt.divisibility`, `tt.contiguity`, `tt.constancy`). As in Triton's own analysis, indices do
/// not overflow, and what is divided is not negative.
class Runs {
 public:
  /// Runs of `length`, a power of two.
  Runs(const Program& program, std::int64_t length) : program_(&program), length_(length) {}

  /// Of a tile along `dimension`, which it must have. Cost: linear in the ops that make it.
  Run of(ValueId value, std::size_t dimension) { return at(value, static_cast<int>(dimension)); }
  /// Of a scalar: always constant.
  Run of(ValueId value) { return at(value, kNone); }

 private:
  /// No dimension of the value follows the run: all elements that a run meets are one.
  static constexpr int kNone = -1;
  Run at(ValueId value, int dimension);
  Run computed(ValueId value, int dimension);
  Run of_argument(ValueId value, int dimension);
  Run of_result(const Op& op, int dimension);
  Run hinted(const Op& op, int dimension, Run run) const;
  bool whole(const Run& run) const { return run.divisor % length_ == 0; }
  Run sum(Run a, Run b, bool minus) const;
  Run product(const Op& op, Run a, Run b) const;
  Run quotient(const Op& op, Run a, Run b) const;
  Run remainder(Run a, Run b) const;
  Run comparison(const Op& op, Run a, Run b) const;
  Run elementwise(const Op& op, int dimension);

  const Program* program_;
  std::int64_t length_;
  std::map<std::pair<ValueId, int>, Run> known_;
};

/// Whether threads may access the elements of each run of `elements` neighbours along a dimension
/// of a tile of pointers in one piece: they lie side by side, aligned to as many bytes as they are,
/// under one mask. `elements` is a power of two. Cost: as Runs::of.
bool in_one_piece(const Program& program, const MemoryAccess& access, std::size_t dimension,
                  std::int64_t elements);

}  // namespace twill::ir
