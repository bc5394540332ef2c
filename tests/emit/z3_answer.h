#pragma once

#include <optional>
#include <set>
#include <string>

namespace twill::emit_test {

/// Answer of Z3 to an SMT-LIB text with these assertions added: true for sat, false for unsat. None
/// if both its quick solver and its default give up after `rlimit` units of work. Throws Z3's
/// exceptions for a text that Z3 cannot read.
std::optional<bool> z3_answer(const std::string& text, const std::string& assertions = "",
                              unsigned rlimit = 20'000'000);

/// The Boolean constants that are true in a model, if there is one. Integers of the text are sums
/// of Booleans, as in the paper's: bit-blasting is ten times faster there. Throws if Z3 gives up.
std::optional<std::set<std::string>> z3_model(const std::string& text);

}  // namespace twill::emit_test
