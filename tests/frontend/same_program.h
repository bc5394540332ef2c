#pragma once

#include <string>

#include "twill/ir/program.h"

namespace twill::tests {

/// Contents of a Program, one line per op, block and value: equal contents mean equal Programs.
/// Lines of the text, alias names and the label of a first block are left out.
inline std::string content_of(const ir::Program& program, ir::OpId id, const std::string& indent) {
  const ir::Op& op = program.op(id);
  std::string text = indent + op.name + " " + ir::entries_text(op.attributes) + " " + op.form;
  const auto values = [&program, &text](const std::vector<ir::ValueId>& list) {
    for (const ir::ValueId value : list) {
      text += " %" + program.value(value).name + ":" + program.value(value).type->text;
    }
  };
  values(op.operands);
  text += " ->";
  values(op.results);
  if (op.location != nullptr) text += " " + op.location->text;
  for (const ir::BlockId block : op.successors) text += " ^" + program.block(block).label;
  for (const ir::RegionId region : op.regions) {
    text += "\n" + indent + "{";
    for (const ir::BlockId block : program.region(region).blocks) {
      text += "\n" + indent + "^";
      if (block != program.region(region).blocks.front()) text += program.block(block).label;
      values(program.block(block).arguments);
      for (const ir::ValueId argument : program.block(block).arguments) {
        const ir::Attribute location = program.value(argument).location;
        if (location != nullptr) text += " " + location->text;
      }
      for (const ir::OpId inner : program.block(block).ops) {
        text += "\n" + content_of(program, inner, indent + "  ");
      }
    }
    text += "\n" + indent + "}";
  }
  return text;
}

inline std::string content_of(const ir::Program& program) {
  return content_of(program, program.module(), "");
}

}  // namespace twill::tests
