#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "twill/ir/program.h"

/// Numbers that roles hand to each other through memory, such as the number of the next tile.
namespace twill::concurrent {

/// Value of a scalar, or common value of all elements of a tile. Where the value is unknown, roles
/// with the same draw have the same number.
struct Number {
  std::optional<std::size_t> draw;
  std::int64_t known = 0;  ///< the value, if there is no draw
};

/// Operands whose number the result may have: operands of views, of choices, and of reductions that
/// keep equal elements.
std::vector<ir::ValueId> handed_on_by(const ir::Program& program, ir::OpId op);

/// Scalars whose number the op puts into a tile.
std::vector<ir::ValueId> put_into_tile(const ir::Program& program, ir::OpId op);

/// Whether a load from shared memory, or an atomic update, makes the value.
bool reads_changing(const ir::Program& program, ir::ValueId value);

/// Numbers of a function that decide steps of roles, and pass through memory.
class HandedOn {
 public:
  HandedOn() = default;
  HandedOn(const ir::Program& program, const std::vector<ir::OpId>& ops);

  /// Follows a number that comes from a tile. Returns the scalars from which it comes.
  std::vector<ir::ValueId> follow(const ir::Program& program, ir::ValueId number);
  /// Follows needed scalars that come from shared memory or from an atomic update.
  void follow_all(const ir::Program& program, const std::vector<bool>& needed);
  /// Values that equal a value, in other blocks and other forms, with the value itself.
  std::set<ir::ValueId> origins(const ir::Program& program, ir::ValueId value) const;
  bool is_followed(ir::ValueId value) const;
  /// Numbers from other roles or from memory from which a value is computed.
  std::vector<ir::ValueId> drawn_behind(const ir::Program& program, ir::ValueId value) const;

 private:
  std::vector<ir::ValueId> becoming(const ir::Program& program, ir::ValueId value) const;

  std::vector<bool> followed_;                              ///< by value
  bool in_memory_ = false;                                  ///< memory has a followed number
  std::vector<ir::ValueId> stored_;                         ///< stored tiles of integers
  std::map<ir::ValueId, std::vector<ir::ValueId>> passed_;  ///< values passed to other blocks
};

}  // namespace twill::concurrent
