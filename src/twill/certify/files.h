#pragma once

#include <string>

#include "twill/certify/certificate.h"

/// Internal to the room: certificates within certificates of several Problems.
namespace twill::certify {

/// Checks the certificate of one Problem whose files' names begin with `folder`.
Result<Checked> check_folder(const Files& files, const std::string& folder);

}  // namespace twill::certify
