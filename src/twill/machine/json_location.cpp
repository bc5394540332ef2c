#include "twill/machine/json_location.h"

#include <algorithm>

namespace twill::machine {
namespace {

/// Walks over valid JSON without building anything.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::size_t offset() const { return at_; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_blanks() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  /// Moves past a mark and the blanks after it.
  void step() {
    if (at_ < text_.size()) ++at_;
    skip_blanks();
  }

  /// The text between the quotes, with its escapes as written.
  std::string_view string() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2U : 1U;
    at_ = std::min(at_, text_.size());
    const std::string_view inside = text_.substr(begin, at_ - begin);
    step();
    return inside;
  }

  void skip_value() {
    int depth = 0;
    do {
      const char c = peek();
      if (c == '"') {
        string();
      } else {
        depth += (c == '{' || c == '[') ? 1 : (c == '}' || c == ']') ? -1 : 0;
        const bool scalar = std::string_view("{}[],:").find(c) == std::string_view::npos;
        if (scalar) {
          skip_scalar();
        } else {
          step();
        }
      }
    } while (depth > 0 && at_ < text_.size());
  }

 private:
  void skip_scalar() {
    const std::size_t end = text_.find_first_of(",:{}[] \t\r\n", at_);
    at_ = end == std::string_view::npos ? text_.size() : end;
    skip_blanks();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool enter_member(Walker& walker, std::string_view name) {
  walker.step();
  while (walker.peek() == '"') {
    const bool found = walker.string() == name;
    walker.step();  // the colon
    if (found) return true;
    walker.skip_value();
    if (walker.peek() == ',') walker.step();
  }
  return false;
}

bool enter_element(Walker& walker, std::string_view number) {
  walker.step();
  for (std::size_t i = 0; walker.peek() != ']' && walker.peek() != '\0'; ++i) {
    if (std::to_string(i) == number) return true;
    walker.skip_value();
    if (walker.peek() == ',') walker.step();
  }
  return false;
}

}  // namespace

Location location_at(std::string_view text, std::size_t offset, std::string file) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {std::move(file), static_cast<int>(lines) + 1,
          static_cast<int>(before.size() - line_start) + 1};
}

Location locate(std::string_view text, std::span<const std::string> path, std::string file) {
  Walker walker(text);
  walker.skip_blanks();
  std::size_t best = walker.offset();
  for (const std::string& segment : path) {
    const bool entered = walker.peek() == '{'   ? enter_member(walker, segment)
                         : walker.peek() == '[' ? enter_element(walker, segment)
                                                : false;
    if (!entered) break;
    best = walker.offset();
  }
  return location_at(text, best, std::move(file));
}

}  // namespace twill::machine
