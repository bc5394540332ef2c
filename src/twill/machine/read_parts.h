#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "twill/machine/json_node.h"
#include "twill/machine/machine.h"

/// Internal to the reader of machine files: parts that several members have in common. All fail
/// with the place, as the functions of JsonNode do.
namespace twill::machine {

/// A name that problem texts can spell: letters, digits and '_', a letter first.
Result<std::string> name_in(const JsonNode& node);

Result<std::string> text_in(const JsonNode& node, std::string_view member);

/// Reads a flag that may be left out: then it is false.
Result<bool> flag_in(const JsonNode& node, std::string_view key);

/// Fails if a name of the list occurs twice.
Result<void> unique(const JsonNode& list, const std::vector<std::string_view>& names);

/// Reads a quantity of the form {"value": 2048, "unit": "bytes", "source": "key of /sources"}.
Result<Quantity> quantity(const JsonNode& node, double least, double most);

/// A quantity in this unit, without other members.
Result<Quantity> plain_quantity(const JsonNode& parent, std::string_view member,
                                std::string_view unit, double least, double most);

}  // namespace twill::machine
