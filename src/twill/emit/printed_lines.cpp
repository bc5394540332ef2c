#include "twill/emit/printed_lines.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

namespace twill::emit {
namespace {

/// By OpId, the numbers of the lines of which `name_in` says the name of an op.
template <class NameIn>
std::vector<std::vector<int>> lines_with(std::string_view text, const problem::Problem& problem,
                                         NameIn name_in) {
  std::map<std::string_view, std::size_t> ops;
  for (std::size_t i = 0; i < problem.ops().size(); ++i) ops.emplace(problem.ops()[i].name, i);
  std::vector<std::vector<int>> lines(problem.ops().size());
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const std::optional<std::string_view> name = name_in(line);
    const auto op = name ? ops.find(*name) : ops.end();
    if (op != ops.end()) lines[op->second].push_back(number);
  }
  return lines;
}

}  // namespace

std::vector<std::vector<int>> printed_lines(std::string_view kernel,
                                            const problem::Problem& problem) {
  return lines_with(kernel, problem, [](std::string_view line) -> std::optional<std::string_view> {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.starts_with("// ")) return std::nullopt;
    line.remove_prefix(3);
    return line.substr(0, line.find_first_of(":;"));
  });
}

std::vector<std::vector<int>> ttgir_lines(std::string_view module,
                                          const problem::Problem& problem) {
  return lines_with(module, problem, [](std::string_view line) -> std::optional<std::string_view> {
    const std::size_t remark = line.rfind("// ");
    if (remark == std::string_view::npos) return std::nullopt;
    line.remove_prefix(remark + 3);
    for (const std::string_view verb : {"issue ", "compute "}) {
      if (!line.starts_with(verb)) continue;
      line.remove_prefix(verb.size());
      return line.substr(0, line.find_first_of(" ,"));
    }
    return std::nullopt;
  });
}

}  // namespace twill::emit
