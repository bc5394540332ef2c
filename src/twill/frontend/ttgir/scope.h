#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "twill/frontend/ttgir/cursor.h"
#include "twill/ir/builder.h"

namespace twill::frontend::ttgir {

/// Visible SSA names. A name is defined once per isolated region (a function), and vanishes at the
/// end of its region. In a region of several blocks, a use may precede the definition in the text,
/// from the second block on. Such a value is created at its use, and must be defined before the
/// region ends.
class Scope {
 public:
  Scope(const Cursor& cursor, ir::ProgramBuilder& builder);

  /// `isolated`: names from outside are invisible.
  void enter(bool isolated);
  /// Enters a further block of the current region: uses may now refer forward.
  void enter_next_block();
  Result<void> leave();

  /// Defines `count` values under one name ("%5", or for several "%5:3"). Returns the first; the
  /// others are numbered consecutively.
  Result<ir::ValueId> define(const Token& name, std::size_t count, ir::Type type);

  /// Looks up value number `index` of `name`.
  Result<ir::ValueId> use(const Token& name, std::size_t index);

 private:
  struct Names {
    ir::ValueId first;
    std::size_t count = 1;
    std::size_t level = 0;  ///< level of the region with the definition
  };
  struct Pending {
    ir::ValueId value;
    Token use;
    std::size_t level = 0;  ///< level of the region that must define the value
  };
  struct Level {
    bool isolated = false;
    bool several_blocks = false;
    std::vector<std::string_view> defined;
    /// Outside names hidden by an isolated region.
    std::unordered_map<std::string_view, Names> hidden;
  };

  std::optional<std::size_t> level_of_forward_use() const;

  const Cursor& cursor_;
  ir::ProgramBuilder& builder_;
  std::unordered_map<std::string_view, Names> names_;
  std::unordered_map<std::string_view, Pending> pending_;
  std::vector<Level> levels_;
};

}  // namespace twill::frontend::ttgir
