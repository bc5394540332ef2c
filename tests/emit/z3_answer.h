#pragma once

#include <optional>
#include <set>
#include <string>

namespace twill::emit_test {

/// Answer of Z3 to an SMT-LIB text with these assertions added: true for sat, false for unsat, none
/// if it gives up after `rlimit` units of its work. Throws what Z3 throws at a text that it cannot
/// read.
std::optional<bool> z3_answer(const std::string& text, const std::string& assertions = "",
                              unsigned rlimit = 20'000'000);

/// The Boolean constants that are true in a model, if there is one: of texts whose integers are
/// sums of Booleans, such as the paper's, by bit-blasting, which is ten times faster there. Throws
/// if Z3 gives up.
std::optional<std::set<std::string>> z3_model(const std::string& text);

}  // namespace twill::emit_test
