#include "twill/extract/name_ops.h"

#include <map>

namespace twill::extract {
namespace {

constexpr std::size_t kMostWords = 3;
constexpr std::size_t kLongest = 60;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string as_identifier(std::string name) {
  for (char& c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
    if (!good) c = '_';
  }
  if (name.empty() || is_digit(name[0])) name.insert(0, "op_");
  return name.substr(0, kLongest);
}

std::string stem_of(const TileOp& op) {
  std::vector<std::string> words = op.words;
  if (words.size() > kMostWords) words = {words[0], words[1], words.back()};
  std::string stem = op.action == Action::elementwise && is_row(op.space) ? "vec" : "";
  for (const std::string& word : words) stem += (stem.empty() ? "" : "_") + word;
  return as_identifier(stem);
}

}  // namespace

TileGraph name_ops(TileGraph graph) {
  std::map<std::string, int> count;
  for (const TileOp& op : graph.ops) ++count[stem_of(op)];
  std::map<std::string, int> next;
  std::map<std::string, int> taken;
  for (TileOp& op : graph.ops) {
    const std::string stem = stem_of(op);
    op.name = stem;
    if (count[stem] > 1) {
      op.name += (is_digit(stem.back()) ? "_" : "") + std::to_string(next[stem]++);
    }
    while (taken[op.name]++ > 0) op.name += "_";  // "mma" + "0" next to an op called "mma0"
  }
  return graph;
}

}  // namespace twill::extract
