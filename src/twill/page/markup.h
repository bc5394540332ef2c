#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

/// Internal to the room: HTML and SVG whose text and attributes are escaped by construction.
namespace twill::page {

/// Escapes `text` for HTML, between tags and in quoted attributes. Bytes that are no UTF-8, and
/// control characters other than blanks, become U+FFFD.
std::string escaped(std::string_view text);

/// Writes elements. Tags and names of attributes are trusted; all other text is escaped.
class Markup {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Writes `<tag ...>` and a line break.
  void open(std::string_view tag, Attributes attributes = {});
  void close(std::string_view tag);
  /// Writes `<tag ...>text</tag>` and a line break.
  void leaf(std::string_view tag, Attributes attributes, std::string_view text);
  /// Writes a leaf without the line break, for words within a sentence.
  void word(std::string_view tag, Attributes attributes, std::string_view text);
  /// Writes `<tag .../>`, for SVG and for elements of HTML that have no end.
  void empty(std::string_view tag, Attributes attributes);
  void text(std::string_view text) { text_ += escaped(text); }
  /// Writes constants of the program, style and script, without escaping.
  void verbatim(std::string_view constant) { text_ += constant; }

  const std::string& str() const { return text_; }

 private:
  void begin(std::string_view tag, Attributes attributes);

  std::string text_;
};

/// Prints a number: "2421.8", "2092". At most `decimals` decimals, without zeros at the end.
std::string number(double value, int decimals = 1);
/// Prints a share as a percentage of a width: "12.345%".
std::string percent(double share);

}  // namespace twill::page
