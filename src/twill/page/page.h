#pragma once

#include <string>

#include "twill/page/facts.h"

namespace twill::page {

/// The facts as one HTML page that needs no other file, no network and, but for sorting tables and
/// looking closer, no script. It follows the reader's preference for dark or light, narrows to a
/// phone and prints. What stands in the facts is escaped, and a Content-Security-Policy allows the
/// page's own script only. The same facts give the same bytes. docs/reference/html.md describes it.
std::string html(const Facts& facts);

}  // namespace twill::page
