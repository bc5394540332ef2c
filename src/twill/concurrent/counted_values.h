#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "twill/concurrent/guide.h"

/// Values that roles compute of one counter, and the slots of rings to which they lead.
namespace twill::concurrent {

/// Dependence of a value on counters.
struct CountedValue {
  enum class Kind : unsigned char {
    same,      ///< independent of counters
    counter,   ///< the counter itself, or the counter plus a number
    computed,  ///< a function of the counter alone
    mixed      ///< a function of several numbers
  };
  Kind kind = Kind::same;
  ir::ValueId root;  ///< the counter
  /// The value for each number of the counter, from `Shift::least` on, for two periods. Empty if
  /// the value also depends on an unknown number.
  std::vector<std::int64_t> table;

  bool turns() const { return kind == Kind::counter || kind == Kind::computed; }
};

class CountedValues {
 public:
  /// Counters are those of `guide.shifts`. Both arguments must outlive this.
  CountedValues(const ir::Program& program, const Guide& guide);

  const CountedValue& of(ir::ValueId value);
  /// Number of the counter's shift; nullopt for a value that is no counter.
  std::optional<std::size_t> shift_of(ir::ValueId counter) const;
  /// All values asked for so far, and their sources.
  const std::map<ir::ValueId, CountedValue>& all() const { return known_; }

 private:
  CountedValue compute(ir::ValueId value);
  CountedValue of_op(ir::ValueId value, const ir::Op& op);
  std::vector<std::int64_t> table_of(ir::ValueId value, const ir::Op& op, std::size_t size);
  std::int64_t constant(ir::ValueId value) const;

  const ir::Program& program_;
  const Guide& guide_;
  std::map<ir::ValueId, std::size_t> shift_of_;
  std::map<ir::ValueId, CountedValue> known_;
};

/// Place in memory to which a view leads.
struct RingPlace {
  ir::OpId ring;                    ///< the allocation
  std::optional<ir::ValueId> slot;  ///< empty: the whole allocation
};

/// The allocation that a value is, through captures; nullopt for views of a part.
std::optional<ir::OpId> allocation_of(const ir::Program& program, ir::ValueId value);

/// The place of an allocation or of one of its slots; nullopt for other views.
std::optional<RingPlace> place_of(const ir::Program& program, ir::ValueId view);

std::int64_t slots_of(const ir::Program& program, ir::OpId ring);

}  // namespace twill::concurrent
