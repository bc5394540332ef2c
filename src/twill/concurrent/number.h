#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "twill/ir/program.h"

/// Numbers that roles hand to each other through memory, such as that of the next tile.
namespace twill::concurrent {

/// A scalar, or the number of which all elements of a tile are. Where the number is not known,
/// roles that have the same draw have the same number.
struct Number {
  std::optional<std::size_t> draw;
  std::int64_t known = 0;  ///< without a draw
};

/// Operands of which the result may have the number: of views, of reductions that keep what all
/// elements are, and of choices.
std::vector<ir::ValueId> handed_on_by(const ir::Program& program, ir::OpId op);

/// Whether a value is loaded from shared memory, or brought by an atomic update.
bool reads_changing(const ir::Program& program, ir::ValueId value);

/// Numbers of a function on which it depends what roles do.
class HandedOn {
 public:
  HandedOn() = default;
  HandedOn(const ir::Program& program, const std::vector<ir::OpId>& ops);

  /// Follows a number that is made of a tile. Returns scalars that it comes from.
  std::vector<ir::ValueId> follow(const ir::Program& program, ir::ValueId number);
  /// Follows scalars on which something depends, if they come from shared memory or
  /// an atomic update.
  void follow_all(const ir::Program& program, const std::vector<bool>& needed);
  /// Values that a value is, in other blocks and other forms, with itself.
  std::set<ir::ValueId> origins(const ir::Program& program, ir::ValueId value) const;
  bool is_followed(ir::ValueId value) const;
  /// Numbers that are handed on, or come from memory, of which a value is computed.
  std::vector<ir::ValueId> drawn_behind(const ir::Program& program, ir::ValueId value) const;

 private:
  std::vector<ir::ValueId> becoming(const ir::Program& program, ir::ValueId value) const;

  std::vector<bool> followed_;                              ///< by value
  bool in_memory_ = false;                                  ///< followed
  std::vector<ir::ValueId> stored_;                         ///< tiles of integers
  std::map<ir::ValueId, std::vector<ir::ValueId>> passed_;  ///< by what they are in another block
};

}  // namespace twill::concurrent
