#pragma once

#include <string>
#include <string_view>

/// Internal to the CUDA printer: C++ text with its indentation.
namespace twill::emit::cuda {

/// Line before loops that the compiler shall unroll.
inline constexpr const char* kUnroll = "#pragma unroll";

class Text {
 public:
  explicit Text(int depth = 0) : depth_(depth) {}

  void line(std::string_view text);
  void blank();
  /// `head {`, indented from here on; `close` ends it with `}` and what follows it.
  void open(std::string_view head);
  void close(std::string_view tail = {});
  /// Prints `} head {` in between.
  void otherwise(std::string_view head);
  /// Lines that were printed elsewhere, indented as they are.
  void append(const Text& other) { text_ += other.text_; }

  void paste(std::string_view text) { text_ += text; }

  int depth() const { return depth_; }
  bool empty() const { return text_.empty(); }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
  int depth_;
};

/// A name as C++ takes it: '.', '@', ' ' and the like become '_'.
std::string identifier(std::string_view name);

}  // namespace twill::emit::cuda
