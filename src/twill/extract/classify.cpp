#include "twill/extract/classify.h"

#include <algorithm>

#include "twill/ir/operands.h"

namespace twill::extract {
namespace {

using ir::OpKind;

/// Integer division and remainder are subroutines of about this many instructions.
constexpr std::int64_t kDivisionInstructions = 16;

Elementwise core(std::string kind, std::string word, std::int64_t times = 1) {
  return {Unit::core, {{std::move(kind), 32, times, ""}}, std::move(word)};
}

Elementwise mufu(std::vector<Piece> pieces, std::string word) {
  return {Unit::mufu, std::move(pieces), std::move(word)};
}

Elementwise conversion(int from_bits, int to_bits) {
  const Unit unit = to_bits < from_bits ? Unit::narrowing : Unit::core;
  return {unit, {{"convert", from_bits, 1, ""}}, "convert"};
}

/// Packed halves take half of an instruction each, doubles more than one: rates go by the widest
/// element.
Elementwise arithmetic(const ir::Program& program, const ir::Op& op, std::string kind,
                       std::string word, std::int64_t times = 1) {
  int bits = 0;
  for (ir::ValueId value : op.operands) {
    bits = std::max(bits, ir::element_bits(ir::type_of(program, value)));
  }
  for (ir::ValueId value : op.results) {
    bits = std::max(bits, ir::element_bits(ir::type_of(program, value)));
  }
  return {Unit::core, {{std::move(kind), bits > 0 ? bits : 32, times, ""}}, std::move(word)};
}

std::optional<Elementwise> floating(const ir::Program& program, const ir::Op& op) {
  const auto rated = [&](const char* kind, const char* word, std::int64_t times = 1) {
    return arithmetic(program, op, kind, word, times);
  };
  switch (op.kind) {
    case OpKind::arith_mulf:
      return rated("fma", "mul");
    case OpKind::math_fma:
      return rated("fma", "fma");
    case OpKind::arith_addf:
      return rated("add", "add");
    case OpKind::arith_subf:
    case OpKind::arith_negf:
      return rated("add", "sub");
    case OpKind::math_absf:
      return rated("add", "abs");
    case OpKind::arith_maxnumf:
    case OpKind::arith_maximumf:
      return rated("max", "max");
    case OpKind::arith_minnumf:
    case OpKind::arith_minimumf:
      return rated("max", "min");
    case OpKind::tt_clampf:
      return rated("max", "clamp", 2);
    case OpKind::math_exp2:
      return mufu({{"exp2", 32, 1, ""}}, "exp2");
    case OpKind::math_exp:
      return mufu({{"exp2", 32, 1, ""}, {"fma", 32, 1, ""}}, "exp");
    case OpKind::math_log:
    case OpKind::math_log2:
      return mufu({{"special", 32, 1, ""}}, "log");
    case OpKind::math_sqrt:
    case OpKind::math_rsqrt:
    case OpKind::tt_precise_sqrt:
      return mufu({{"special", 32, 1, ""}}, "sqrt");
    case OpKind::arith_divf:
    case OpKind::tt_precise_divf:
      return mufu({{"special", 32, 1, ""}}, "div");
    case OpKind::math_sin:
    case OpKind::math_cos:
      return mufu({{"special", 32, 1, ""}}, "sin");
    case OpKind::math_tanh:
      return mufu({{"special", 32, 1, ""}}, "tanh");
    case OpKind::math_erf:
      return mufu({{"special", 32, 1, ""}, {"fma", 32, 8, ""}}, "erf");
    case OpKind::math_floor:
    case OpKind::math_ceil:
      return core("convert", "round");
    default:
      return std::nullopt;
  }
}

std::optional<Elementwise> integer(const ir::Op& op) {
  switch (op.kind) {
    case OpKind::arith_addi:
    case OpKind::arith_subi:
    case OpKind::arith_muli:
    case OpKind::tt_mulhiui:
    case OpKind::arith_mulsi_extended:
    case OpKind::arith_mului_extended:
    case OpKind::arith_addui_extended:
    case OpKind::tt_addptr:
    case OpKind::tt_advance:
      return core("int", "index");
    case OpKind::arith_andi:
    case OpKind::arith_ori:
    case OpKind::arith_xori:
    case OpKind::arith_shli:
    case OpKind::arith_shrsi:
    case OpKind::arith_shrui:
      return core("int", "bits");
    case OpKind::arith_minsi:
    case OpKind::arith_minui:
    case OpKind::arith_maxsi:
    case OpKind::arith_maxui:
    case OpKind::math_absi:
      return core("int", "minmax");
    case OpKind::arith_extsi:
    case OpKind::arith_extui:
    case OpKind::arith_trunci:
    case OpKind::arith_index_cast:
    case OpKind::arith_index_castui:
    case OpKind::tt_int_to_ptr:
    case OpKind::tt_ptr_to_int:
      return core("int", "cast");
    case OpKind::arith_divsi:
    case OpKind::arith_divui:
    case OpKind::arith_ceildivsi:
    case OpKind::arith_ceildivui:
    case OpKind::arith_floordivsi:
    case OpKind::arith_remsi:
    case OpKind::arith_remui:
      return core("int", "index", kDivisionInstructions);
    case OpKind::arith_cmpi:
    case OpKind::arith_cmpf:
    case OpKind::arith_select:
      return core("select", "mask");
    default:
      return std::nullopt;
  }
}

/// Functions of CUDA's device library on f32, by the instructions they come to. Those that are not
/// known have no price.
std::optional<Elementwise> function(std::string_view name) {
  struct Row {
    std::string_view name;
    std::string_view word;
    std::int64_t special;  ///< instructions on the MUFU
    std::int64_t fma;
  };
  static constexpr Row kRows[] = {
      {"tanhf", "tanh", 2, 8},      {"fast_tanhf", "tanh", 1, 0}, {"erff", "erf", 1, 8},
      {"expf", "exp", 1, 3},        {"fast_expf", "exp", 1, 1},   {"exp2f", "exp2", 1, 0},
      {"exp10f", "exp", 1, 3},      {"expm1f", "exp", 1, 8},      {"logf", "log", 1, 8},
      {"fast_logf", "log", 1, 1},   {"log2f", "log", 1, 8},       {"log10f", "log", 1, 8},
      {"log1pf", "log", 1, 8},      {"sqrtf", "sqrt", 1, 4},      {"rsqrtf", "sqrt", 1, 0},
      {"sinf", "sin", 1, 16},       {"cosf", "sin", 1, 16},       {"fast_sinf", "sin", 1, 0},
      {"fast_cosf", "sin", 1, 0},   {"powf", "pow", 2, 24},       {"fast_powf", "pow", 2, 1},
      {"fast_dividef", "div", 1, 1}};
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    std::vector<Piece> pieces = {{"special", 32, row.special, ""}};
    if (row.fma > 0) pieces.push_back({"fma", 32, row.fma, ""});
    return mufu(std::move(pieces), std::string(row.word));
  }
  for (const std::string_view rounding :
       {"rintf", "nearbyintf", "roundf", "truncf", "floorf", "ceilf"}) {
    if (name == rounding) return core("convert", "round");
  }
  if (name == "fabsf") return core("add", "abs");
  if (name == "fmaxf" || name == "fminf") return core("max", "max");
  if (name == "fmaf") return core("fma", "fma");
  return std::nullopt;
}

/// Along a row, which few lanes hold; down the rows, where the warps of a group have to meet; or of
/// a vector that they hold together.
std::string scan_kind(const ir::Program& program, const ir::Reduction& scan) {
  const auto& shape = ir::type_of(program, scan.sources[0])->shape;
  const auto axis = static_cast<std::size_t>(std::max(scan.axis, 0));
  bool vector = true;
  for (std::size_t i = 0; i < shape.size(); ++i) vector = vector && (i == axis || shape[i] == 1);
  if (vector) return "scan_vector";
  return axis + 1 == shape.size() ? "scan_row" : "scan_column";
}

}  // namespace

std::optional<Elementwise> elementwise(const ir::Program& program, const ir::Op& op) {
  switch (op.kind) {
    case OpKind::arith_truncf:
    case OpKind::arith_extf:
    case OpKind::tt_fp_to_fp:
    case OpKind::arith_sitofp:
    case OpKind::arith_uitofp:
    case OpKind::arith_fptosi:
    case OpKind::arith_fptoui: {
      if (op.operands.empty() || op.results.empty()) return std::nullopt;
      return conversion(ir::element_bits(ir::type_of(program, op.operands[0])),
                        ir::element_bits(ir::type_of(program, op.results[0])));
    }
    default:
      break;
  }
  if (const auto name = ir::device_function(op)) return function(*name);
  if (auto known = floating(program, op)) return known;
  return integer(op);
}

bool is_free(OpKind kind) {
  return kind == OpKind::arith_constant || kind == OpKind::tt_make_range ||
         kind == OpKind::tt_splat || kind == OpKind::ub_poison;
}

Elementwise combination(const ir::Program& program, ir::OpId id) {
  const auto reduction = ir::reduction(program, id);
  Elementwise result = core("default", "reduce");
  if (!reduction) return result;
  bool sums = false, compares = false, other = false;
  for (ir::OpId inner : program.block(reduction->combine).ops) {
    const auto known = elementwise(program, program.op(inner));
    if (!known) continue;
    const std::string& kind = known->pieces.front().kind;
    if (kind == "add" || kind == "fma") {
      sums = true;
    } else if (kind == "max" || kind == "select" || kind == "int") {
      compares = true;
    } else {
      other = true;
    }
  }
  if (other) return core("default", reduction->is_scan ? "scan" : "reduce");
  const auto sources = static_cast<std::int64_t>(reduction->sources.size());
  if (reduction->is_scan) return core(scan_kind(program, *reduction), "scan", sources);
  if (compares || !sums) return core("reduce_max", "max", sources);
  return core("reduce_sum", "sum", sources);
}

}  // namespace twill::extract
