#pragma once

#include <optional>

#include "twill/extract/tile_graph.h"
#include "twill/ir/program.h"

namespace twill::extract {

/// Cost of an element-wise op: its kinds of work for the machine, and its unit class.
struct Elementwise {
  Unit unit = Unit::core;
  std::vector<Piece> pieces;
  std::string word;
};

/// Classifies an op; nullopt for ops that are not known as element-wise.
std::optional<Elementwise> elementwise(const ir::Program& program, const ir::Op& op);

/// Ops without cost, computed at each use: constants, ranges, splats.
bool is_free(ir::OpKind kind);

/// The piece and word of a reduction or scan: "reduce_max" or "reduce_sum" by its combine region,
/// "scan_row", "scan_column" or "scan_vector" by its axis; one piece per source. Precondition: it
/// has a source.
Elementwise combination(const ir::Program& program, ir::OpId op);

}  // namespace twill::extract
