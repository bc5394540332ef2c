#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "twill/ir/operands.h"
#include "twill/ir/program.h"

/// Facts about neighbouring elements of a tile, to decide whether one thread may access several
/// elements at once.
namespace twill::ir {

/// Elements of a tile in runs of `length` neighbours along one dimension, each run beginning at a
/// multiple of its length.
struct Run {
  enum class Kind {
    constant,     ///< all elements of a run are equal
    consecutive,  ///< each is one more than the previous element; pointers: points to the next
                  ///< element
    unknown,
  };
  Kind kind = Kind::unknown;
  /// A power of two that divides the first element of every run; for pointers, in bytes.
  std::int64_t divisor = 1;
  friend bool operator==(const Run&, const Run&) = default;
};

/// Follows the arithmetic of a tile, from the text's facts about arguments and values (`Hints`).
/// Assumes, as Triton's own analysis (AxisInfo) does, that indices do not overflow and dividends
/// are not negative.
class Runs {
 public:
  /// Runs of `length`, a power of two. `divisors`: powers of two that divide arguments of the
  /// function, instead of the divisors in the text. `divisors` must outlive this.
  Runs(const Program& program, std::int64_t length,
       const std::map<std::size_t, std::int64_t>* divisors = nullptr)
      : program_(&program), length_(length), divisors_(divisors) {}

  /// Run of a tile along `dimension`, which the tile must have. Cost: linear in the ops that make
  /// the tile.
  Run of(ValueId value, std::size_t dimension) { return at(value, static_cast<int>(dimension)); }
  /// Run of a scalar, which is always constant.
  Run of(ValueId value) { return at(value, kNone); }

 private:
  /// Stands for no dimension: the whole run is one element of the value.
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
  const std::map<std::size_t, std::int64_t>* divisors_;
  std::map<std::pair<ValueId, int>, Run> known_;
};

/// Whether a thread may access each run of `elements` neighbours along a dimension of a tile of
/// pointers at once. The elements must be adjacent, aligned to their total size in
/// bytes, and under one mask. `elements` is a power of two. Cost: as Runs::of.
bool in_one_piece(const Program& program, const MemoryAccess& access, std::size_t dimension,
                  std::int64_t elements);

/// A vectorised access to runs of `elements` neighbours (a power of two, at least 2) along
/// a dimension.
struct Piece {
  MemoryAccess access;
  std::size_t dimension = 0;
  std::int64_t elements = 2;
};

/// Divisors that the integer arguments of a function must have so that `pieces` stay vectorised
/// accesses. Key: number of the argument. Values: powers of two above 1, no larger than the
/// text promises. Each value is the least while the others stay. Precondition: the text's divisors
/// suffice for all pieces. Cost: a few times the cost of in_one_piece for each argument and piece.
std::map<std::size_t, std::int64_t> divisors_relied_on(const Program& program, OpId function,
                                                       const std::vector<Piece>& pieces);

}  // namespace twill::ir
