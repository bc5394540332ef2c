#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "twill/ir/loop.h"
#include "twill/ir/program.h"

/// Integers that roles compute, as sums of unknown atoms. Equal forms show that loops of two roles
/// make equally many iterations.
namespace twill::concurrent {

/// Sum of a constant and of coefficient * atom. Atoms are numbers of unknown values: arguments of
/// the function, program ids, iterations of loops, and values computed from these. Two values with
/// equal forms are equal wherever loops that are alike are in the same iteration. Sums are taken
/// not to overflow.
struct LinearForm {
  std::int64_t constant = 0;
  std::map<std::size_t, std::int64_t> terms;
  bool is_constant() const { return terms.empty(); }
  friend auto operator<=>(const LinearForm&, const LinearForm&) = default;
};
LinearForm plus(LinearForm a, const LinearForm& b, std::int64_t times);

/// Whether sums of this type are taken not to overflow. Narrower integers overflow in long runs.
bool is_wide(ir::Type type);

/// Bounds of a counting loop, or the condition of a while loop.
std::vector<ir::ValueId> end_of(const ir::Program& program, const ir::Loop& loop);

/// Counting loop, which goes on while its quantity, `form`, is more than its position. The position
/// is `first`, and grows by `step` in each iteration.
struct CountedLoop {
  std::size_t form = 0;        ///< number of the quantity's form, which has no constant part
  std::size_t occurrence = 0;  ///< number among loops of that form in its role, in text order
  /// Loop of few iterations around this loop. Each of these iterations has an occurrence of its
  /// own, `stride` more than the iteration before, as if the loops stood one behind the other.
  std::optional<ir::OpId> unrolled = {};
  std::size_t stride = 0;
  std::size_t times = 1;  ///< iterations of `unrolled`
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::size_t position = 0;               ///< number of the atom
  std::size_t role = 0;                   ///< role of the loop: 0, or one more than its partition
  std::optional<ir::ValueId> drawn = {};  ///< number from another role, in the form
};

/// The forms of a function's values, and its counting loops.
class Forms {
 public:
  Forms(const ir::Program& program, ir::OpId function);

  LinearForm of(ir::ValueId value);
  /// Form of a value, with one atom for all numbers that roles hand to each other: `drawn`.
  LinearForm of_drawn(ir::ValueId value, ir::ValueId drawn);
  /// The quantity that all while loops with computed ends share; no question is asked about this
  /// quantity.
  LinearForm iterations() { return {0, {{atom("iterations", true), 1}}}; }
  /// The atom counts as constant: what is asked about a draw holds for the draw, in any iteration.
  LinearForm drawn() { return {0, {{atom("drawn", false), 1}}}; }
  const std::map<ir::OpId, CountedLoop>& loops() const { return loops_; }
  /// While loops by op. Loops whose conditions have equal first values and recurrences have the
  /// same form.
  const std::map<ir::OpId, CountedLoop>& whiles() const { return whiles_; }
  /// The loop whose position the atom is; nullopt for other atoms.
  std::optional<ir::OpId> loop_of(std::size_t position) const;
  /// Number of a form; equal forms have equal numbers.
  std::size_t number(const LinearForm& form);
  const LinearForm& form(std::size_t number) const { return *by_number_[number]; }
  /// Whether a form may change from one iteration of a loop to the next.
  bool varies(const LinearForm& form) const;
  /// Whether the form is a sum of program ids and of other numbers that are at least 0.
  bool is_at_least_zero(const LinearForm& form) const;

 private:
  std::size_t atom(const std::string& key, bool varies);
  LinearForm compute(ir::ValueId value);
  LinearForm of_argument(ir::ValueId value);
  LinearForm of_op(ir::ValueId value);
  std::optional<LinearForm> of_sum(const ir::Op& op);
  std::optional<LinearForm> divided(const ir::Op& op);
  LinearForm unique(ir::ValueId value);
  LinearForm carried(const ir::Loop& loop, ir::ValueId value);
  std::vector<std::size_t> carried_behind(const ir::Loop& loop, ir::ValueId value) const;
  const std::vector<ir::ValueId>& values_inside(const ir::Loop& loop);
  std::string recurrence(const ir::Loop& loop, ir::ValueId value);
  std::string condition_of(const ir::Loop& loop);
  std::string place_of(const ir::Loop& loop);
  LinearForm known_by(const std::string& key, ir::ValueId value, bool varies);
  std::string text(const LinearForm& form);
  void add_loop(const ir::Loop& loop);
  LinearForm in_units(const LinearForm& lower, const LinearForm& upper, const LinearForm& step,
                      CountedLoop& made);
  void unroll_loops();
  void add_while(const ir::Loop& loop);

  const ir::Program& program_;
  ir::OpId function_;
  std::map<ir::ValueId, LinearForm> memo_;
  std::map<std::string, std::size_t> atoms_;
  std::vector<bool> varies_;             ///< by atom
  std::set<std::size_t> at_least_zero_;  ///< atoms
  std::map<LinearForm, std::size_t> numbers_;
  std::vector<const LinearForm*> by_number_;
  std::map<ir::OpId, CountedLoop> loops_;
  std::map<ir::OpId, CountedLoop> whiles_;
  std::map<ir::OpId, std::vector<ir::ValueId>> inside_;  ///< values that loops define
  std::map<std::size_t, ir::OpId> positions_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> counts_;
  std::vector<ir::ValueId> computed_;  ///< values whose forms are in progress, innermost last
  std::set<ir::ValueId> assumed_;  ///< carried values in the recurrences that are being compared
  std::size_t nested_ = 0;         ///< depth of the recurrences that are being compared
  std::size_t recurrences_ = 0;    ///< recurrences compared so far
};

/// Role of an op: 0, or one more than its partition.
std::size_t role_of(const ir::Program& program, ir::OpId op);

/// Whether a loop holds the op, in the same function.
bool is_in_loop(const ir::Program& program, ir::OpId op);

/// Appends the values from which a value is computed directly.
void add_sources(const ir::Program& program, ir::ValueId value, std::vector<ir::ValueId>& todo);

/// Values from which the text computes a value. A loop's result also depends on the values that end
/// the loop. A carried value depends on the values of the next iteration.
std::vector<ir::ValueId> sources_of(const ir::Program& program, ir::ValueId value);

/// The value, and all values that `next` reaches from there.
std::set<ir::ValueId> reached_from(
    ir::ValueId value, const std::function<std::vector<ir::ValueId>(ir::ValueId)>& next);

/// The constant that a value is known to be, also through captures.
std::optional<std::int64_t> known_integer(const ir::Program& program, ir::ValueId value);

}  // namespace twill::concurrent
