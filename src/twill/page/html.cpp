#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "twill/page/page.h"
#include "twill/page/print.h"
#include "twill/support/sha256.h"

namespace twill::page {
namespace {

constexpr std::size_t kColours = 10;

unsigned hex_digit(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }

/// Base 64 (RFC 4648) of bytes that are given in hexadecimal digits.
std::string base64_of(std::string_view hex) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < hex.size(); at += 6) {
    const std::size_t bytes = std::min<std::size_t>(3, (hex.size() - at) / 2);
    unsigned bits = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      bits = bits << 4U | (i < 2 * bytes ? hex_digit(hex[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += i <= bytes ? kDigits[bits >> (18U - 6U * i) & 63U] : '=';
    }
  }
  return out;
}

/// Content-Security-Policy: forbids loads, and scripts other than the page's own.
std::string policy() {
  return fmt::format(
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{}'; "
      "base-uri 'none'; form-action 'none'",
      base64_of(sha256(kScript)));
}

void print_head(const Facts& facts, Markup& out) {
  out.verbatim("<!DOCTYPE html>\n");
  out.open("html", {{"lang", "en"}});
  out.open("head");
  out.verbatim("<meta charset=\"utf-8\">\n");
  out.empty("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy()}});
  out.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  out.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  out.empty("link", {{"rel", "icon"}, {"href", "data:,"}});
  out.leaf("title", {}, facts.name + " - " + facts.command);
  out.verbatim("<style>");
  out.verbatim(kStyle);
  out.verbatim("</style>\n");
  out.close("head");
}

/// Prints definitions that several drawings of the page use: the hatching of waits and the tips of
/// arrows.
void print_definitions(Markup& out) {
  out.verbatim(R"SVG(<svg class="defs" width="0" height="0" aria-hidden="true"><defs>
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch" width="2" height="6"/></pattern>
<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="tip" d="M0 0.8 8 4 0 7.2z"/></marker>
<marker id="tip-last" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="tip last" d="M0 0.8 8 4 0 7.2z"/></marker>
</defs></svg>
)SVG");
}

}  // namespace

std::optional<std::string_view> class_of_name(double share, std::size_t letters,
                                              const Widths& widths) {
  constexpr double kLetter = 7.2, kAround = 6;  // pixels
  const double wanted = kLetter * static_cast<double>(letters) + kAround;
  if (share * widths.least >= wanted) return "";
  if (share * widths.middle >= wanted) return widths.middle_class;
  if (share * widths.wide >= wanted) return "wide";
  return std::nullopt;
}

std::string colour(std::size_t index) { return fmt::format("c{}", index % kColours); }

void open_section(Markup& out, std::string_view id, std::string_view title) {
  out.open("section", {{"id", id}});
  out.leaf("h2", {}, title);
}

std::string html(const Facts& facts) {
  Markup out;
  print_head(facts, out);
  out.open("body");
  print_definitions(out);
  out.open("main");
  print_heading(facts, out);
  print_strip(facts, out);
  print_strategies(facts, out);
  print_changes(facts, out);
  print_charts(facts, out);
  print_fills(facts, out);
  print_waits(facts, out);
  print_levels(facts, out);
  print_graph(facts, out);
  print_operations(facts, out);
  print_basis(facts, out);
  out.close("main");
  out.open("footer");
  out.leaf("p", {},
           fmt::format("Made by {}. This page is one file and loads nothing.", facts.command));
  out.close("footer");
  out.verbatim("<script>");
  out.verbatim(kScript);
  out.verbatim("</script>\n");
  out.close("body");
  out.close("html");
  return out.str();
}

}  // namespace twill::page
