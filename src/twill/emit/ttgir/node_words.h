#pragma once

#include <string>
#include <string_view>

#include "twill/device/kernel.h"

/// Internal to the TTGIR printer: ops for nodes that are no operation of the Program.
namespace twill::emit::ttgir {

struct NodeWords {
  std::string op;
  /// What the node's numbers are in the text, in their order: `count` an attribute, `-` none, and
  /// `offsets[]` all of them in one. `count=1:i32` is always that, and `flag!` has no value.
  std::string_view attributes = {};
};

/// Precondition: the printer has no function of its own for nodes of this kind.
const NodeWords& words_of(device::NodeKind kind);

}  // namespace twill::emit::ttgir
