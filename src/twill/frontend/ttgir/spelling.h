#pragma once

#include "twill/dialect/attributes.h"
#include "twill/dialect/dialects.h"
#include "twill/dialect/formats.h"
#include "twill/dialect/layouts.h"
#include "twill/dialect/roles.h"

/// Names of the room `dialect` that the reader uses.
namespace twill::frontend::ttgir {

using dialect::Arity;
using dialect::attribute;
using dialect::dialect_of;
using dialect::Format;
using dialect::format_of;
using dialect::FormatElement;
using dialect::has_segment_sizes;
using dialect::integer_attribute;
using dialect::integers_attribute;
using dialect::integers_of;
using dialect::kind_of;
using dialect::layout_of;
using dialect::operand_segments;
using dialect::OperandRole;
using dialect::ResultRule;
using dialect::roles_of;
using dialect::space_of;
using dialect::string_attribute;
using dialect::todays_name;

}  // namespace twill::frontend::ttgir
