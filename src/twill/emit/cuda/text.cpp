#include "twill/emit/cuda/text.h"

namespace twill::emit::cuda {

void Text::line(std::string_view text) {
  text_.append(static_cast<std::size_t>(2 * depth_), ' ').append(text).append("\n");
}

void Text::blank() { text_ += "\n"; }

void Text::open(std::string_view head) {
  line(head.empty() ? std::string("{") : std::string(head) + " {");
  ++depth_;
}

void Text::close(std::string_view tail) {
  --depth_;
  line("}" + std::string(tail));
}

void Text::otherwise(std::string_view head) {
  --depth_;
  line("} " + std::string(head) + " {");
  ++depth_;
}

std::string identifier(std::string_view name) {
  std::string made;
  for (const char c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    made += good ? c : '_';
  }
  if (made.empty() || (made[0] >= '0' && made[0] <= '9')) made.insert(0, "_");
  return made;
}

}  // namespace twill::emit::cuda
