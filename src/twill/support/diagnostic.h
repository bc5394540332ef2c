#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace twill {

/// A place in a text of the user's. Lines and columns count from 1; 0 means "not known" and is not
/// printed.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;

  friend bool operator==(const Location&, const Location&) = default;
};

/// A fault of an input: what it is, where, and how to mend it.
struct Diagnostic {
  Location location;
  std::string message;      ///< one sentence, lower case, no full stop
  std::string source_line;  ///< the offending line itself, if there is one
  std::string hint;         ///< what to do; may be empty
};

/// A value, or the one diagnostic that explains why there is none.
template <class T>
using Result = tl::expected<T, Diagnostic>;

/// Prints
///
///     FILE:LINE:COLUMN: error: MESSAGE
///       SOURCE LINE
///            ^
///     hint: HINT
///
/// leaving out unknown parts. `severity` is "error" or "warning".
std::string to_string(const Diagnostic& diagnostic, std::string_view severity = "error");

/// The line (from 1) of `text`, without its newline; empty if there is no such line.
std::string_view line_of(std::string_view text, int line);

/// A failed Result in one expression: `return fail({file, 3, 7}, "unknown unit 'TX'");`
tl::unexpected<Diagnostic> fail(Location location, std::string message, std::string hint = {});

/// The same about byte `at` (from 0) of a text: with its line, column and the line itself.
tl::unexpected<Diagnostic> fail_at(std::string_view text, std::size_t at, std::string file,
                                   std::string message);

}  // namespace twill

#define TWILL_CONCAT_(a, b) a##b
#define TWILL_CONCAT(a, b) TWILL_CONCAT_(a, b)

/// `TWILL_TRY(auto x, parse(text));` binds x or returns the diagnostic to the caller.
#define TWILL_TRY(declaration, expression) \
  TWILL_TRY_IMPL_(TWILL_CONCAT(twill_result_, __LINE__), declaration, expression)
#define TWILL_TRY_IMPL_(temporary, declaration, expression)           \
  auto temporary = (expression);                                      \
  if (!temporary) return tl::unexpected(std::move(temporary).error()); \
  declaration = *std::move(temporary)

/// Returns the diagnostic of a `Result<void>` to the caller.
#define TWILL_TRY_VOID(expression) \
  TWILL_TRY_VOID_IMPL_(TWILL_CONCAT(twill_result_, __LINE__), expression)
#define TWILL_TRY_VOID_IMPL_(temporary, expression) \
  auto temporary = (expression);                    \
  if (!temporary) return tl::unexpected(std::move(temporary).error())
