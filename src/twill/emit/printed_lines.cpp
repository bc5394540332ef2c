#include "twill/emit/printed_lines.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace twill::emit {

std::vector<std::vector<int>> printed_lines(std::string_view kernel,
                                            const problem::Problem& problem) {
  std::map<std::string_view, std::size_t> ops;
  for (std::size_t i = 0; i < problem.ops().size(); ++i) ops.emplace(problem.ops()[i].name, i);
  std::vector<std::vector<int>> lines(problem.ops().size());
  int number = 0;
  while (!kernel.empty()) {
    const std::size_t end = std::min(kernel.find('\n'), kernel.size());
    std::string_view line = kernel.substr(0, end);
    kernel.remove_prefix(std::min(end + 1, kernel.size()));
    ++number;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.starts_with("// ")) continue;
    line.remove_prefix(3);
    const auto op = ops.find(line.substr(0, line.find_first_of(":;")));
    if (op != ops.end()) lines[op->second].push_back(number);
  }
  return lines;
}

}  // namespace twill::emit
