#pragma once

#if !defined(__clang__)
#include <source_location>
#endif

#include "twill/tasks/values.h"

/// Places in the C++ source of tasks.
namespace twill::tasks::cpp {

#if defined(__clang__)
/// Replaces std::source_location, which clang 14 lacks with libstdc++.
class Site {
 public:
  static constexpr Site current(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                int column = __builtin_COLUMN()) {
    Site site;
    site.file_ = file;
    site.line_ = line;
    site.column_ = column;
    return site;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr int line() const { return line_; }
  constexpr int column() const { return column_; }

 private:
  const char* file_ = "";
  int line_ = 0;
  int column_ = 0;
};
#else
using Site = std::source_location;
#endif
Where where_of(const Site& site);

}  // namespace twill::tasks::cpp
