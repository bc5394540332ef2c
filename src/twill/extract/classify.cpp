#include "twill/extract/classify.h"

#include <algorithm>

#include "twill/extract/assembly.h"
#include "twill/ir/operands.h"
#include "twill/ir/user_function.h"

namespace twill::extract {
namespace {

using ir::OpKind;

/// Approximate number of instructions in the subroutine for an integer division or remainder.
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

/// Classifies arithmetic. Packed halves take half an instruction each, doubles more than one. The
/// widest element decides the rate.
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
    case OpKind::fmul:
      return rated("fma", "mul");
    case OpKind::fma:
      return rated("fma", "fma");
    case OpKind::fadd:
      return rated("add", "add");
    case OpKind::fsub:
    case OpKind::fneg:
      return rated("add", "sub");
    case OpKind::fabs:
      return rated("add", "abs");
    case OpKind::fmaxnum:
    case OpKind::fmaximum:
      return rated("max", "max");
    case OpKind::fminnum:
    case OpKind::fminimum:
      return rated("max", "min");
    case OpKind::clamp:
      return rated("max", "clamp", 2);
    case OpKind::exp2:
      return mufu({{"exp2", 32, 1, ""}}, "exp2");
    case OpKind::exp:
      return mufu({{"exp2", 32, 1, ""}, {"fma", 32, 1, ""}}, "exp");
    case OpKind::log:
    case OpKind::log2:
      return mufu({{"special", 32, 1, ""}}, "log");
    case OpKind::sqrt:
    case OpKind::rsqrt:
    case OpKind::precise_sqrt:
      return mufu({{"special", 32, 1, ""}}, "sqrt");
    case OpKind::fdiv:
    case OpKind::precise_fdiv:
      return mufu({{"special", 32, 1, ""}}, "div");
    case OpKind::sin:
    case OpKind::cos:
      return mufu({{"special", 32, 1, ""}}, "sin");
    case OpKind::tanh:
      return mufu({{"special", 32, 1, ""}}, "tanh");
    case OpKind::erf:
      return mufu({{"special", 32, 1, ""}, {"fma", 32, 8, ""}}, "erf");
    case OpKind::floor:
    case OpKind::ceil:
      return core("convert", "round");
    default:
      return std::nullopt;
  }
}

std::optional<Elementwise> integer(const ir::Op& op) {
  switch (op.kind) {
    case OpKind::add:
    case OpKind::sub:
    case OpKind::mul:
    case OpKind::umul_high:
    case OpKind::smul_long:
    case OpKind::umul_long:
    case OpKind::uadd_carry:
    case OpKind::pointer_add:
    case OpKind::pointer_advance:
      return core("int", "index");
    case OpKind::bit_and:
    case OpKind::bit_or:
    case OpKind::bit_xor:
    case OpKind::shl:
    case OpKind::ashr:
    case OpKind::lshr:
      return core("int", "bits");
    case OpKind::smin:
    case OpKind::umin:
    case OpKind::smax:
    case OpKind::umax:
    case OpKind::iabs:
      return core("int", "minmax");
    case OpKind::sext:
    case OpKind::zext:
    case OpKind::trunc:
    case OpKind::index_cast:
    case OpKind::index_castu:
    case OpKind::inttoptr:
    case OpKind::ptrtoint:
      return core("int", "cast");
    case OpKind::sdiv:
    case OpKind::udiv:
    case OpKind::sdiv_up:
    case OpKind::udiv_up:
    case OpKind::sdiv_down:
    case OpKind::srem:
    case OpKind::urem:
      return core("int", "index", kDivisionInstructions);
    case OpKind::icmp:
    case OpKind::fcmp:
    case OpKind::select:
      return core("select", "mask");
    default:
      return std::nullopt;
  }
}

/// Functions of CUDA's device library on f32, by the instructions that they compile to. Unlisted
/// functions have no price.
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

/// Classifies a user's function by its meaning alone.
Elementwise priced(const ir::Formula& meaning) {
  const ir::FormulaCount count = ir::count_of(meaning);
  if (count.special == 0) return core("fma", "user", std::max<std::int64_t>(1, count.others));
  std::vector<Piece> pieces = {{"special", 32, count.special, ""}};
  if (count.others > 0) pieces.push_back({"fma", 32, count.others, ""});
  return mufu(std::move(pieces), "user");
}

/// Word for a scan: along a row, which few lanes hold; along a column, for which the warps of a
/// group synchronize; or over a vector that all lanes hold together.
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
    case OpKind::fptrunc:
    case OpKind::fpext:
    case OpKind::fpcast:
    case OpKind::sitofp:
    case OpKind::uitofp:
    case OpKind::fptosi:
    case OpKind::fptoui: {
      if (op.operands.empty() || op.results.empty()) return std::nullopt;
      return conversion(ir::element_bits(ir::type_of(program, op.operands[0])),
                        ir::element_bits(ir::type_of(program, op.results[0])));
    }
    default:
      break;
  }
  if (const auto name = ir::device_function(op)) return function(*name);
  if (const auto user = ir::user_function(op)) return priced(user->meaning);
  if (op.kind == OpKind::inline_asm && op.is_pure && !op.results.empty()) {
    return assembly(op.symbol, op.count.value_or(1));
  }
  if (auto known = floating(program, op)) return known;
  return integer(op);
}

bool is_free(OpKind kind) {
  return kind == OpKind::constant || kind == OpKind::range || kind == OpKind::splat ||
         kind == OpKind::poison;
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
