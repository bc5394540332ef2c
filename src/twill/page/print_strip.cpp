#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "twill/page/print.h"

/// Head of a page: its subject, and the main figures.
namespace twill::page {
namespace {

std::string_view name_of(Basis basis) {
  switch (basis) {
    case Basis::proven:
      return "proven";
    case Basis::simulated:
      return "simulated";
    case Basis::model:
      return "model";
    case Basis::measured:
      break;
  }
  return "measured";
}

void print_card(const Facts& facts, const Figure& figure, Markup& out) {
  out.open("div", {{"class", fmt::format("card {}", name_of(figure.basis))}});
  out.leaf("span", {{"class", "who"}}, figure.who);
  out.open("span", {{"class", "cycles"}});
  out.word("b", {}, number(figure.cycles));
  out.word("small", {}, " cycles");
  out.close("span");
  const double bound = facts.figures.front().cycles;
  std::string text(name_of(figure.basis));
  if (figure.basis != Basis::proven && bound > 0) {
    text += fmt::format(", {:.2f} of the bound", figure.cycles / bound);
  }
  out.leaf("span", {{"class", "basis"}}, text);
  out.leaf("small", {}, figure.note);
  out.close("div");
}

/// Prints all figures on one line, from zero.
void print_scale(const Facts& facts, Markup& out) {
  double most = 0;
  for (const Figure& it : facts.figures) most = std::max(most, it.cycles);
  if (most <= 0) return;
  most *= 1.02;
  constexpr int kScaleRow = 20;
  out.open("svg", {{"class", "scale"},
                   {"role", "img"},
                   {"aria-label", "the figures on one line"},
                   {"width", "100%"},
                   {"height", std::to_string(kScaleRow * static_cast<int>(facts.figures.size()))}});
  for (std::size_t i = 0; i < facts.figures.size(); ++i) {
    const Figure& it = facts.figures[i];
    const int y = kScaleRow * static_cast<int>(i);
    out.empty("rect", {{"class", "row"},
                       {"y", std::to_string(y + 3)},
                       {"width", "100%"},
                       {"height", std::to_string(kScaleRow - 6)}});
    out.empty("rect", {{"class", fmt::format("mark {}", name_of(it.basis))},
                       {"y", std::to_string(y + 3)},
                       {"width", percent(it.cycles / most)},
                       {"height", std::to_string(kScaleRow - 6)}});
    out.leaf("text", {{"x", "6"}, {"y", std::to_string(y + 14)}}, it.who);
  }
  const std::string x = percent(facts.figures.front().cycles / most);
  out.empty("line", {{"class", "limit"}, {"x1", x}, {"x2", x}, {"y1", "0"}, {"y2", "100%"}});
  out.close("svg");
}

void print_gap(const Facts& facts, Markup& out) {
  if (facts.gap.empty()) return;
  const double bound = facts.figures.front().cycles;
  out.open("p", {{"class", "gap"}});
  out.text("Between the bound and the plan: ");
  for (std::size_t i = 0; i < facts.gap.size(); ++i) {
    if (i > 0) out.text(", ");
    out.text(facts.gap[i].what + " ");
    out.word("b", {}, number(facts.gap[i].cycles));
    out.text(fmt::format(" ({} %)", number(100 * facts.gap[i].cycles / bound)));
  }
  out.text(". ");
  out.text(facts.gap_note);
  out.close("p");
}

void print_no_triton(const Facts& facts, Markup& out) {
  if (facts.no_triton.empty()) return;
  out.leaf("p", {{"class", "note"}}, "No figure for Triton: " + facts.no_triton + ".");
}

}  // namespace

void print_heading(const Facts& facts, Markup& out) {
  out.open("header");
  out.leaf("p", {{"class", "brand"}}, facts.command);
  out.leaf("h1", {}, facts.name);
  out.leaf("p", {{"class", "headline"}}, facts.headline);
  if (!facts.verdict.empty()) out.leaf("p", {}, facts.verdict);
  if (!facts.about.empty()) {
    out.open("dl", {{"class", "about"}});
    for (const auto& [what, text] : facts.about) {
      out.open("div");
      out.leaf("dt", {}, what);
      out.leaf("dd", {}, text);
      out.close("div");
    }
    out.close("dl");
  }
  out.close("header");
}

void print_strip(const Facts& facts, Markup& out) {
  if (facts.figures.empty()) return;
  out.open("section", {{"id", "verdict"}});
  out.leaf("h2", {}, "Cycles of an iteration");
  out.open("div", {{"class", "cards"}});
  for (const Figure& figure : facts.figures) print_card(facts, figure, out);
  out.close("div");
  print_scale(facts, out);
  print_gap(facts, out);
  print_no_triton(facts, out);
  out.close("section");
}

}  // namespace twill::page
