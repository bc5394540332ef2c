#pragma once

#include <string>
#include <string_view>

#include "twill/device/kernel.h"

/// Internal to the TTGIR printer: ops for nodes that are no operation of the Program.
namespace twill::emit::ttgir {

struct NodeWords {
  std::string op;
  /// Attributes for the node's numbers, in their order. `count` names one number, `-` skips one,
  /// and `offsets[]` takes all numbers. `count=1:i32` has that constant value, and `flag!` has
  /// none.
  std::string_view attributes = {};
};

/// Precondition: the printer has no function of its own for nodes of this kind.
const NodeWords& words_of(device::NodeKind kind);

}  // namespace twill::emit::ttgir
