#pragma once

#include <string>

#include "twill/page/facts.h"
#include "twill/page/markup.h"

/// Internal to the room: the parts of a page. Each prints nothing where its facts are missing.
namespace twill::page {

/// Pixels that a letter of a name in a bar takes, with room around the name.
inline constexpr double kLetter = 7.2;

void print_heading(const Facts& facts, Markup& out);
void print_strip(const Facts& facts, Markup& out);
void print_charts(const Facts& facts, Markup& out);
void print_fills(const Facts& facts, Markup& out);
void print_levels(const Facts& facts, Markup& out);
void print_waits(const Facts& facts, Markup& out);
void print_graph(const Facts& facts, Markup& out);
void print_operations(const Facts& facts, Markup& out);
void print_changes(const Facts& facts, Markup& out);
void print_strategies(const Facts& facts, Markup& out);
void print_basis(const Facts& facts, Markup& out);

/// The class that colours an op by its resource, or the `index`th of other things.
std::string colour(std::size_t index);

/// A section with a heading; ends with `close("section")`.
void open_section(Markup& out, std::string_view id, std::string_view title);

extern const char* const kStyle;
extern const char* const kScript;

}  // namespace twill::page
