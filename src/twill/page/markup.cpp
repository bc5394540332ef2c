#include "twill/page/markup.h"

#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace twill::page {
namespace {

/// Length in bytes of the UTF-8 sequence that begins here; 0 if none does (RFC 3629: no overlong
/// forms, no surrogates, nothing above U+10FFFF).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80U) return 1;
  if (first >= 0xC2U && first <= 0xDFU) return continues(1) ? 2 : 0;
  if (first >= 0xE0U && first <= 0xEFU) {
    const bool overlong = first == 0xE0U && byte(1) < 0xA0U;
    const bool surrogate = first == 0xEDU && byte(1) >= 0xA0U;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    const bool overlong = first == 0xF0U && byte(1) < 0x90U;
    const bool beyond = first == 0xF4U && byte(1) >= 0x90U;
    return continues(1) && continues(2) && continues(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20U && c != '\n' && c != '\t') || byte == 0x7FU;
}

}  // namespace

std::string escaped(std::string_view text) {
  static constexpr const char* kReplacement = "\xEF\xBF\xBD";
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const char c = text.front();
    if (length == 0 || is_control(c)) {
      out += kReplacement;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

void Markup::begin(std::string_view tag, Attributes attributes) {
  text_ += '<';
  text_ += tag;
  for (const auto& [name, value] : attributes) {
    if (value.empty()) continue;
    text_ += ' ';
    text_ += name;
    text_ += "=\"" + escaped(value) + '"';
  }
}

void Markup::open(std::string_view tag, Attributes attributes) {
  begin(tag, attributes);
  text_ += ">\n";
}

void Markup::close(std::string_view tag) { text_ += fmt::format("</{}>\n", tag); }

void Markup::leaf(std::string_view tag, Attributes attributes, std::string_view text) {
  word(tag, attributes, text);
  text_ += '\n';
}

void Markup::word(std::string_view tag, Attributes attributes, std::string_view text) {
  begin(tag, attributes);
  text_ += fmt::format(">{}</{}>", escaped(text), tag);
}

void Markup::empty(std::string_view tag, Attributes attributes) {
  begin(tag, attributes);
  text_ += "/>\n";
}

std::string number(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string percent(double share) { return number(100 * share, 3) + "%"; }

}  // namespace twill::page
