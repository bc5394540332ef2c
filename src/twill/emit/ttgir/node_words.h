#pragma once

#include <string>
#include <vector>

#include "twill/device/kernel.h"

/// Internal to the TTGIR printer: ops for nodes that are no operation of the Program.
namespace twill::emit::ttgir {

struct NodeWords {
  const char* op;
  std::vector<std::string>
      roles;  ///< of the operands; the last one is that of all further operands
};

/// Precondition: the printer has no function of its own for nodes of this kind.
const NodeWords& words_of(device::NodeKind kind);

}  // namespace twill::emit::ttgir
