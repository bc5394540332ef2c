#include "twill/ir/source_words.h"

namespace twill::ir {

std::string op_words(const Program& program, OpId op) {
  const Op& it = program.op(op);
  return it.name + " @ " + std::to_string(it.line) + ":" + std::to_string(it.column);
}

std::string source_words(const Program& program, OpId op) {
  const auto source = source_location(program, op);
  if (!source || source->line < 1 || source->file == program.file()) return {};
  const std::string file = source->file.substr(source->file.find_last_of('/') + 1);
  return " (" + file + ":" + std::to_string(source->line) + ")";
}

}  // namespace twill::ir
