#pragma once

#include <optional>
#include <string>

namespace twill::emit_test {

/// What Z3 says of an SMT-LIB text with these assertions added: true for sat, false for unsat, none
/// if it gives up after `rlimit` units of its work. Throws what Z3 throws at a text that it cannot
/// read.
std::optional<bool> z3_answer(const std::string& text, const std::string& assertions = "",
                              unsigned rlimit = 20'000'000);

}  // namespace twill::emit_test
