#include "twill/extract/name_ops.h"

#include <algorithm>
#include <map>
#include <set>

namespace twill::extract {
namespace {

constexpr std::size_t kMostWords = 3;

std::string as_identifier(std::string name) {
  for (char& c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!good) c = '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "op_");
  return name.substr(0, 60);
}

std::string stem_of(const TileOp& op) {
  std::vector<std::string> words = op.words;
  if (words.size() > kMostWords) {  // the first ones and what it ends in
    words = {words[0], words[1], words.back()};
  }
  std::string stem = op.action == Action::elementwise && is_row(op.space) ? "vec" : "";
  for (const std::string& word : words) stem += (stem.empty() ? "" : "_") + word;
  return as_identifier(stem);
}

std::string suffix_of(int part) {
  if (part < 0) return "";
  if (part < 26) return std::string(1, static_cast<char>('A' + part));
  return "_" + std::to_string(part);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::vector<std::string> name_ops(const TileGraph& graph) {
  std::map<std::pair<std::string, int>, int> count;   // of ops with this stem in this part
  std::map<std::string, bool> numbered;
  for (const TileOp& op : graph.ops) {
    const std::string stem = stem_of(op);
    if (++count[{stem, op.part}] > 1) numbered[stem] = true;
  }
  // A shared op and a cut one of the same stem differ by the suffix; keep numbers apart anyway.
  std::map<std::pair<std::string, int>, int> next;
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (const TileOp& op : graph.ops) {
    const std::string stem = stem_of(op);
    std::string name = stem;
    int number = next[{stem, op.part}]++;
    if (numbered.contains(stem)) {
      name += (is_digit(stem.back()) ? "_" : "") + std::to_string(number);
    }
    name += suffix_of(op.part);
    while (!taken.insert(name).second) name += "_";
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace twill::extract
