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
  /// Prints `head {` and indents from here on; `close` ends the block with `}` and its argument.
  void open(std::string_view head);
  void close(std::string_view tail = {});
  /// Prints `} head {` between two blocks.
  void otherwise(std::string_view head);
  /// Appends lines that were printed elsewhere, with their own indentation.
  void append(const Text& other) { text_ += other.text_; }

  void paste(std::string_view text) { text_ += text; }

  int depth() const { return depth_; }
  bool empty() const { return text_.empty(); }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
  int depth_;
};

/// A valid C++ name: '.', '@', ' ' and the like become '_'.
std::string identifier(std::string_view name);

}  // namespace twill::emit::cuda
