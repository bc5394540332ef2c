#pragma once

#include <string>

#include "twill/page/facts.h"

namespace twill::page {

/// The facts as one HTML page without other files and network. Script is needed for sorting tables
/// and closer looks only. The page follows the reader's preference for dark or light, narrows to a
/// phone and prints. All facts are escaped, and a Content-Security-Policy allows the page's own
/// script only. The same facts give the same bytes. docs/reference/html.md describes it.
std::string html(const Facts& facts);

}  // namespace twill::page
