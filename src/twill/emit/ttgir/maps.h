#pragma once

#include <string>
#include <vector>

#include "twill/device/kernel.h"

/// Internal to the TTGIR printer: descriptors that the kernel makes.
namespace twill::emit::ttgir {

/// The words of a node that makes one, behind "%result = ". Names and types are those of the
/// operands; `result` is the type of what it gives, or empty.
std::string map_words(const device::Node& node, const std::vector<std::string>& names,
                      const std::vector<std::string>& types, const std::string& result);

}  // namespace twill::emit::ttgir
