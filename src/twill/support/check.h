#pragma once

namespace twill::support {

/// Prints "twill: internal error: FILE:LINE: CONDITION (MESSAGE)" to stderr and exits with code 1
/// (documented as "our bug"); no input may ever reach it.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const char* message);

}  // namespace twill::support

/// A contract between Twill's own parts. Never used on anything a user can write.
#define TWILL_CHECK(condition, message)                                              \
  do {                                                                               \
    if (!(condition)) {                                                              \
      ::twill::support::check_failed(__FILE__, __LINE__, #condition, message);       \
    }                                                                                \
  } while (false)
