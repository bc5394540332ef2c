#include "twill/support/check.h"

#include <cstdio>
#include <cstdlib>

namespace twill::support {

void check_failed(const char* file, int line, const char* condition, const char* message) {
  std::fprintf(stderr, "twill: internal error: %s:%d: %s (%s)\n", file, line, condition, message);
  std::exit(1);
}

}  // namespace twill::support
