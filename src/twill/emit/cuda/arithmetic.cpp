#include "twill/emit/cuda/arithmetic.h"

#include <cmath>
#include <map>
#include <set>

#include <fmt/args.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "twill/emit/cuda/view.h"
#include "twill/ir/operands.h"
#include "twill/ir/user_function.h"

namespace twill::emit::cuda {
namespace {

using ir::OpKind;
using Words = std::vector<std::string>;

/// C++ text of an op by its kind: `{0}` and so on are the operands.
using Patterns = std::map<OpKind, const char*>;

const Patterns& for_all() {
  static const Patterns patterns = {
      {OpKind::add, "{0} + {1}"},          {OpKind::sub, "{0} - {1}"},
      {OpKind::mul, "{0} * {1}"},          {OpKind::sdiv, "{0} / {1}"},
      {OpKind::srem, "{0} % {1}"},         {OpKind::bit_and, "{0} & {1}"},
      {OpKind::bit_or, "{0} | {1}"},       {OpKind::bit_xor, "{0} ^ {1}"},
      {OpKind::shl, "{0} << {1}"},         {OpKind::ashr, "{0} >> {1}"},
      {OpKind::smin, "min({0}, {1})"},     {OpKind::smax, "max({0}, {1})"},
      {OpKind::fadd, "{0} + {1}"},         {OpKind::fsub, "{0} - {1}"},
      {OpKind::fmul, "{0} * {1}"},         {OpKind::fneg, "-{0}"},
      {OpKind::select, "{0} ? {1} : {2}"}, {OpKind::pointer_add, "{0} + {1}"},
  };
  return patterns;
}

const Patterns& for_f32() {
  static const Patterns patterns = {
      {OpKind::fdiv, "__fdividef({0}, {1})"},
      {OpKind::fmaxnum, "fmaxf({0}, {1})"},
      {OpKind::fminnum, "fminf({0}, {1})"},
      {OpKind::fmaximum, "twill::maximum({0}, {1})"},
      {OpKind::fminimum, "twill::minimum({0}, {1})"},
      {OpKind::precise_fdiv, "__fdiv_rn({0}, {1})"},
      {OpKind::exp2, "twill::exp2_approx({0})"},
      {OpKind::exp, "__expf({0})"},
      {OpKind::log2, "twill::log2_approx({0})"},
      {OpKind::log, "__logf({0})"},
      {OpKind::sqrt, "__fsqrt_rn({0})"},
      {OpKind::precise_sqrt, "__fsqrt_rn({0})"},
      {OpKind::rsqrt, "rsqrtf({0})"},
      {OpKind::fabs, "fabsf({0})"},
      {OpKind::tanh, "tanhf({0})"},
      {OpKind::erf, "erff({0})"},
      {OpKind::sin, "__sinf({0})"},
      {OpKind::cos, "__cosf({0})"},
      {OpKind::floor, "floorf({0})"},
      {OpKind::ceil, "ceilf({0})"},
      {OpKind::fma, "fmaf({0}, {1}, {2})"},
      {OpKind::clamp, "fminf(fmaxf({0}, {1}), {2})"},
  };
  return patterns;
}

/// f16 and bf16; sums and products are rounded to their types.
const Patterns& for_halves() {
  static const Patterns patterns = {
      {OpKind::fmaxnum, "__hmax({0}, {1})"},
      {OpKind::fminnum, "__hmin({0}, {1})"},
      {OpKind::fabs, "__habs({0})"},
  };
  return patterns;
}

/// Unsigned integers: `{0}` and so on are of type U, and so is the result.
const Patterns& for_unsigned() {
  static const Patterns patterns = {
      {OpKind::udiv, "{0} / {1}"},     {OpKind::urem, "{0} % {1}"},
      {OpKind::lshr, "{0} >> {1}"},    {OpKind::umin, "min({0}, {1})"},
      {OpKind::umax, "max({0}, {1})"},
  };
  return patterns;
}

/// The unsigned type of the same width; for a bool, bool itself. Empty if there is none.
std::string without_sign(const std::string& type) {
  static const std::map<std::string, std::string> known = {{"bool", "bool"},
                                                           {"signed char", "unsigned char"},
                                                           {"short", "unsigned short"},
                                                           {"int", "unsigned"},
                                                           {"long long", "unsigned long long"}};
  const auto found = known.find(type);
  return found == known.end() ? std::string() : found->second;
}

std::string cast(const std::string& type, const std::string& x) {
  return fmt::format("static_cast<{}>({})", type, x);
}

/// A call of CUDA's device library, which has these functions under the same names.
std::optional<std::string> call(std::string_view function, const Words& x) {
  static const std::map<std::string_view, std::string_view> fast = {
      {"fast_expf", "__expf"}, {"fast_logf", "__logf"}, {"fast_sinf", "__sinf"},
      {"fast_cosf", "__cosf"}, {"fast_powf", "__powf"}, {"fast_dividef", "__fdividef"}};
  static const std::set<std::string_view> same = {
      "tanhf",  "erff",       "erfcf",  "expf",   "exp2f",  "exp10f", "expm1f", "logf",  "log2f",
      "log10f", "log1pf",     "sqrtf",  "rsqrtf", "cbrtf",  "sinf",   "cosf",   "tanf",  "powf",
      "rintf",  "nearbyintf", "roundf", "truncf", "floorf", "ceilf",  "fabsf",  "fmaxf", "fminf",
      "fmaf",   "fmodf",      "asinf",  "acosf",  "atanf",  "atan2f", "sinhf",  "coshf"};
  const auto found = fast.find(function);
  if (found == fast.end() && !same.contains(function)) return std::nullopt;
  return fmt::format("{}({})", found == fast.end() ? function : found->second, fmt::join(x, ", "));
}

std::string fill(const char* pattern, const Words& x) {
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  for (const std::string& word : x) arguments.push_back(word);
  return fmt::vformat(pattern, arguments);
}

/// Compares integers. MLIR numbers its predicates: eq, ne, then signed and unsigned less, less or
/// equal, ...
std::optional<std::string> compare_integers(const ir::Op& op, const Words& x) {
  static const char* const kSigned[] = {"==", "!=", "<", "<=", ">", ">="};
  const auto predicate = op.predicate;
  if (!predicate || *predicate < 0 || *predicate > 9) return std::nullopt;
  if (*predicate < 6) return fmt::format("{} {} {}", x[0], kSigned[*predicate], x[1]);
  return fmt::format("static_cast<unsigned long long>({}) {} static_cast<unsigned long long>({})",
                     x[0], kSigned[*predicate - 4], x[1]);
}

std::optional<std::string> compare_floats(const ir::Op& op, const Words& x) {
  const auto predicate = op.predicate;
  static const std::map<std::int64_t, const char*> known = {
      {1, "{0} == {1}"},    {2, "{0} > {1}"},     {3, "{0} >= {1}"},    {4, "{0} < {1}"},
      {5, "{0} <= {1}"},    {9, "!({0} <= {1})"}, {10, "!({0} < {1})"}, {11, "!({0} >= {1})"},
      {12, "!({0} > {1})"}, {13, "{0} != {1}"}};
  const auto found = predicate ? known.find(*predicate) : known.end();
  if (found == known.end()) return std::nullopt;
  return fill(found->second, x);
}

std::optional<std::string> convert(const ir::Program& program, const ir::Op& op, const Words& x) {
  const std::string from = cpp_type(ir::type_of(program, op.operands[0]));
  const std::string to = cpp_type(ir::type_of(program, op.results[0]));
  if (from.empty() || to.empty()) return std::nullopt;
  if (from == to) return x[0];
  static const std::map<std::pair<std::string, std::string>, const char*> known = {
      {{"float", "__half"}, "__float2half_rn({0})"},
      {{"float", "__nv_bfloat16"}, "__float2bfloat16_rn({0})"},
      {{"__half", "float"}, "__half2float({0})"},
      {{"__nv_bfloat16", "float"}, "__bfloat162float({0})"}};
  const auto found = known.find({from, to});
  if (found != known.end()) return fill(found->second, x);
  // Formats of 8 bits have conversions of their own; numbers too large become the largest.
  const auto is_short = [](const std::string& type) { return type.starts_with("__nv_fp8"); };
  if ((is_short(from) && !without_sign(to).empty()) ||
      (is_short(to) && !without_sign(from).empty())) {
    return std::nullopt;
  }
  if (is_short(from) != is_short(to)) return cast(to, x[0]);
  const std::string bare_from = without_sign(from), bare_to = without_sign(to);
  switch (op.kind) {
    case OpKind::zext:
    case OpKind::uitofp:
    case OpKind::index_castu:
      if (bare_from.empty() || to[0] == '_') return std::nullopt;
      return cast(to, cast(bare_from, x[0]));
    case OpKind::fptoui:
      if (bare_to.empty() || from != "float") return std::nullopt;
      return cast(to, cast(bare_to, x[0]));
    case OpKind::sext:
    case OpKind::sitofp:
      if (from == "bool" && to[0] != '_') return "-" + cast(to, x[0]);
      break;
    default:
      break;
  }
  const auto simple = [](const std::string& type) { return type[0] != '_'; };
  if (!simple(from) || !simple(to)) return std::nullopt;
  return fmt::format("static_cast<{}>({})", to, x[0]);
}

/// Reinterprets the bits as another type.
std::optional<std::string> same_bits(const ir::Program& program, const ir::Op& op, const Words& x) {
  const std::string from = cpp_type(ir::type_of(program, op.operands[0]));
  const std::string to = cpp_type(ir::type_of(program, op.results[0]));
  if (from.empty() || to.empty()) return std::nullopt;
  if (from == to) return x[0];
  if (from.back() == '*' && to.back() == '*') {
    return fmt::format("reinterpret_cast<{}>({})", to, x[0]);
  }
  if (from == "float" && to == "int") return fill("__float_as_int({0})", x);
  if (from == "int" && to == "float") return fill("__int_as_float({0})", x);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> arithmetic(const ir::Program& program, const ir::Op& op,
                                      const Words& x) {
  if (op.results.size() != 1) return std::nullopt;
  const std::string type = cpp_type(ir::type_of(program, op.results[0]));
  switch (op.kind) {
    case OpKind::icmp:
      return compare_integers(op, x);
    case OpKind::fcmp:
      return compare_floats(op, x);
    case OpKind::sext:
    case OpKind::trunc:
    case OpKind::fpext:
    case OpKind::fptrunc:
    case OpKind::sitofp:
    case OpKind::fptosi:
    case OpKind::zext:
    case OpKind::uitofp:
    case OpKind::fptoui:
    case OpKind::index_cast:
    case OpKind::index_castu:
    case OpKind::fpcast:
      return convert(program, op, x);
    case OpKind::bitcast:
      return same_bits(program, op, x);
    default:
      break;
  }
  if (op.kind == OpKind::load && x.size() == 1) return fmt::format("*({})", x[0]);
  if (op.kind == OpKind::load && x.size() == 2)
    return fmt::format("{1} ? *({0}) : {2}{{}}", x[0], x[1], type);
  if (op.kind == OpKind::load && x.size() == 3) return fill("{1} ? *({0}) : {2}", x);
  const auto common = for_all().find(op.kind);
  if (common != for_all().end()) return fill(common->second, x);
  if (const auto bare = for_unsigned().find(op.kind); bare != for_unsigned().end()) {
    Words without;
    for (const std::string& word : x) without.push_back(cast(without_sign(type), word));
    return cast(type, fill(bare->second, without));
  }
  if (type == "__half" || type == "__nv_bfloat16") {
    const auto half = for_halves().find(op.kind);
    if (half != for_halves().end()) return fill(half->second, x);
  }
  if (type != "float") return std::nullopt;
  if (const auto function = ir::device_function(op)) return call(*function, x);
  if (const auto user = ir::user_function(op)) {
    return fmt::format("{}({})", user->name, fmt::join(x, ", "));
  }
  const auto single = for_f32().find(op.kind);
  if (single == for_f32().end()) return std::nullopt;
  return fill(single->second, x);
}

std::optional<std::string> constant(const ir::Program& program, ir::ValueId value) {
  const ir::Op* op = ir::defining_op(program, value);
  if (op == nullptr || op->kind != OpKind::constant) return std::nullopt;
  const std::string type = cpp_type(ir::type_of(program, value));
  if (const auto integer = ir::constant_integer(program, value)) {
    if (type == "bool") return *integer != 0 ? "true" : "false";
    if (type == "long long") return fmt::format("{}ll", *integer);
    if (type[0] != '_' && type != "float") return fmt::format("{}", *integer);
  }
  const auto number = ir::constant_number(program, value);
  if (!number) return std::nullopt;
  std::string text;
  if (std::isnan(*number)) {
    text = "twill::not_a_number()";
  } else if (std::isinf(*number)) {
    text = *number > 0 ? "twill::infinity()" : "-twill::infinity()";
  } else {
    const auto single = static_cast<float>(*number);
    text = fmt::format("{:.9g}", single);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    text += "f";
  }
  if (type == "float") return text;
  if (type == "__half") return "__float2half_rn(" + text + ")";
  if (type == "__nv_bfloat16") return "__float2bfloat16_rn(" + text + ")";
  return std::nullopt;
}

}  // namespace twill::emit::cuda
