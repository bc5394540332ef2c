#include <cstring>

#include <gtest/gtest.h>

#include "twill/page/page.h"

namespace twill::page {
namespace {

constexpr const char* kNasty = "<img src=x onerror=\"alert('1')\">&amp;</script>";

Operation operation(const std::string& name) {
  return {name, 0, name, 1, 2, 3, {name}, name, {7}, {1, 2}};
}

Chart chart_of(const std::string& id, const std::string& text) {
  Chart chart{id, text, text, 100, 50, {}, {}};
  chart.lanes.push_back({text, text, true, {{0, 40, text, {text}, 0, false, 1, false, false}}});
  chart.lanes.push_back({text,
                         text,
                         false,
                         {{0, 0.01, text, {text}, 0, false, 0, false, false},
                          {50, 90, text, {text}, {}, true, 0, false, true}}});
  chart.arrows.push_back({0, 40, 1, 60, text, 0});
  chart.arrows.push_back({1, 60, 0, 80, text, 20});
  return chart;
}

/// Makes facts in which every text is `text`.
Facts facts_of(const std::string& text) {
  Facts facts;
  facts.command = facts.name = facts.headline = facts.verdict = facts.gap_note = text;
  facts.no_triton = text;
  facts.about = facts.proven = {{text, text}};
  facts.figures = {{text, 100, Basis::proven, text},
                   {text, 116, Basis::simulated, text},
                   {text, 130, Basis::model, text},
                   {text, 140, Basis::measured, text}};
  facts.gap = {{text, 16}};
  facts.resources = {text};
  facts.ops = {operation(text)};
  facts.ttgir = {text + "\n" + text, {text}};
  facts.interval = 100;
  facts.graph = {{text}, {{0, 0, 0}}, {{0, 0, 1, false, true}}};
  facts.fills = {{text, true, 90, {{0, 90}}}};
  facts.charts = {chart_of("steady-state", text), chart_of("schedule", text)};
  facts.waits = {{text, 5, text}};
  facts.levels = {
      {text,
       "bytes",
       2048,
       1024,
       100,
       {{text, text, 0, {{0, 100, 1024}}}, {text, text, {}, {{0, 50, 512}, {50, 100, 0}}}}}};
  facts.changes =
      Changes{text, text, {text}, {{text, text, text, 90, 10, text, false}}, {text}, {text}};
  facts.strategies = {{text, text, text, 100, 100, 1.0, text, text, text, text, text}};
  facts.assumptions = facts.warnings = {text};
  return facts;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

// Protects: names of users stay text wherever they are shown. The page has the same elements as
// with harmless names, one script, and no attribute that contains a name.
TEST(Html, LeavesNamesText) {
  const std::string nasty = html(facts_of(kNasty));
  const std::string harmless = html(facts_of(std::string(std::strlen(kNasty), 'x')));
  EXPECT_EQ(count(nasty, "<"), count(harmless, "<"));
  EXPECT_EQ(count(nasty, ">"), count(harmless, ">"));
  EXPECT_EQ(count(nasty, "\""), count(harmless, "\""));
  EXPECT_EQ(nasty.find("<img"), std::string::npos);
  EXPECT_EQ(count(nasty, "<script"), 1U);
}

// Protects: the same facts give the same bytes, and the page loads no file.
TEST(Html, IsOneFileAndAlwaysTheSame) {
  const std::string page = html(facts_of("x"));
  EXPECT_EQ(page, html(facts_of("x")));
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
  EXPECT_EQ(page.find("src=\""), std::string::npos);
  EXPECT_NE(page.find("default-src &#39;none&#39;"), std::string::npos);
}

// Protects: a page has the sections for which there are facts, and no others.
TEST(Html, HasNoSectionWithoutFacts) {
  const std::string all = html(facts_of("x"));
  const std::string none = html(Facts{});
  for (const char* id : {"verdict", "strategies", "changes", "steady-state", "schedule", "pipes",
                         "waits", "memory", "roles", "operations", "basis"}) {
    const std::string section = std::string("<section id=\"") + id + "\">";
    EXPECT_EQ(count(all, section), 1U) << id;
    EXPECT_EQ(count(none, section), 0U) << id;
  }
  EXPECT_NE(none.find("</html>"), std::string::npos);
}

// Protects: an arrow on which a role waited looks different from an arrow that came early.
TEST(Html, TellsArrowsThatAreAwaited) {
  const std::string page = html(facts_of("x"));
  EXPECT_EQ(count(page, "<g class=\"arrow last\">"), 2U);
  EXPECT_EQ(count(page, "<g class=\"arrow\">"), 2U);
  EXPECT_EQ(count(page, "slack 20 cycles"), 2U);
}

}  // namespace
}  // namespace twill::page
