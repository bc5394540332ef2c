#pragma once

#include <array>
#include <initializer_list>
#include <limits>
#include <utility>

#include "twill/ir/op_kind.h"

/// Internal to the room: functions of ops, found by the kind of the op.
namespace twill::execute {

/// Pointer to a function for some kinds of ops; null for other kinds.
template <class Function>
class ByKind {
 public:
  ByKind(std::initializer_list<std::pair<ir::OpKind, Function>> functions) {
    for (const auto& [kind, function] : functions) {
      functions_[static_cast<std::size_t>(kind)] = function;
    }
  }
  Function operator[](ir::OpKind kind) const { return functions_[static_cast<std::size_t>(kind)]; }

 private:
  std::array<Function, std::numeric_limits<unsigned char>::max() + 1> functions_{};
};

}  // namespace twill::execute
