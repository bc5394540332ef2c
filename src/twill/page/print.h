#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "twill/page/facts.h"
#include "twill/page/markup.h"

/// Internal to the room: parts of a page. A part prints nothing where its facts are missing.
namespace twill::page {

/// Widths of a drawing in pixels for its readers, the narrowest first.
struct Widths {
  double least;
  double middle;                  ///< not for readers whose drawing has `least`
  double wide;                    ///< on a wide screen only
  std::string_view middle_class;  ///< class by which the style hides a name where the drawing has
                                  ///< `least`
};

/// Class of a name in a part of a drawing, by the readers whose drawing has room for its letters:
/// "" for all readers. Empty if no reader has room.
std::optional<std::string_view> class_of_name(double share, std::size_t letters,
                                              const Widths& widths);

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

/// Class that colours an op by its resource, or the `index`th of other things.
std::string colour(std::size_t index);

/// Opens a section with a heading, which `close("section")` ends.
void open_section(Markup& out, std::string_view id, std::string_view title);

extern const char* const kStyle;
extern const char* const kScript;

}  // namespace twill::page
