#include "twill/extract/unpriced.h"

#include <set>
#include <string>

#include "twill/ir/operands.h"
#include "twill/ir/source_words.h"

namespace twill::extract {
namespace {

using ir::OpKind;

/// Whether the op loads a number or a pointer, and no tile.
bool loads_scalar(const ir::Program& program, const ir::Op& op) {
  const auto access = ir::memory_access(op);
  return access && access->reads && access->space == ir::AccessSpace::global && access->result &&
         ir::type_of(program, *access->result)->shape.empty();
}

/// Whether a value of this iteration depends on the carried value `from`.
bool depends(const Body& body, ir::ValueId value, ir::ValueId from) {
  const ir::Program& program = *body.program;
  std::set<ir::ValueId> seen;
  std::vector<ir::ValueId> open = {value};
  while (!open.empty()) {
    const ir::ValueId next = open.back();
    open.pop_back();
    if (next == from) return true;
    if (ir::is_invariant(program, body.loop, next) || !seen.insert(next).second) continue;
    const auto renamed = body.renamed.find(next);
    if (renamed != body.renamed.end()) open.push_back(renamed->second);
    const auto made = program.value(next).op;
    if (!made) continue;
    const std::vector<ir::ValueId> read = read_by(program, *made);
    open.insert(open.end(), read.begin(), read.end());
  }
  return false;
}

/// Whether the loaded value decides on the op's address in the next iteration.
bool is_chained(const Body& body, const ir::Op& load) {
  const auto access = ir::memory_access(load);
  for (const auto& [argument, yielded] : body.carried) {
    if (depends(body, yielded, *access->result) && depends(body, access->address, argument)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Diagnostic> unpriced(const Body& body) {
  const ir::Program& program = *body.program;
  std::vector<Diagnostic> found;
  const auto add = [&](ir::OpId id, const std::string& what) {
    found.push_back({ir::text_location(program, id),
                     program.op(id).name + ir::source_words(program, id) + ": " + what, "", ""});
  };
  for (const ir::OpId id : body.ops) {
    const ir::Op& op = program.op(id);
    if (op.kind == OpKind::make_descriptor) {
      add(id,
          "a descriptor is made in every iteration, which costs nothing in the model: make it "
          "before the loop where that is possible");
    } else if (loads_scalar(program, op) && is_chained(body, op)) {
      add(id,
          "each iteration waits for what the one before loads here, and the model has no latency "
          "for that: the loop takes longer than is said");
    }
  }
  return found;
}

}  // namespace twill::extract
