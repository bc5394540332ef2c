#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace twill::gate {

/// Objection of nvcc's front end to a line of the source.
struct Complaint {
  std::string file;
  int line = 0;
  bool is_error = false;
  int number = 0;  ///< of a warning, as 550; 0 for an error without a number
  std::string text;
};

/// Reads the output of nvcc, and skips lines that do not come from the front end. Form: nvcc 12 and
/// 13.
std::vector<Complaint> read_complaints(std::string_view text);

/// Reasons why a printed kernel must not be used; empty if it may. Every warning refuses, since it
/// shows something that the printer forgot. Examples: a variable that is computed and never used
/// (550), never referenced (177), or used before it has a value (549). Warnings about code that
/// constants make unreachable (111, 128, 186) do not refuse: the kernel's own text decides there.
/// Errors come first, and at most a few of each.
std::vector<std::string> refusals(const std::vector<Complaint>& complaints);

}  // namespace twill::gate
