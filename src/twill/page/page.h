#pragma once

#include <string>

#include "twill/page/facts.h"

namespace twill::page {

/// Prints the facts as one HTML page, which needs no other file and no network. Script is needed
/// for sorting tables and closer looks only. The page follows the reader's preference for dark or
/// light, narrows to a phone and prints. All facts are escaped, and a Content-Security-Policy
/// allows the page's own script only. Equal facts give equal bytes. Description:
/// docs/reference/html.md.
std::string html(const Facts& facts);

}  // namespace twill::page
