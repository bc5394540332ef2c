#include "twill/dialect/formats.h"

#include <unordered_map>

namespace twill::dialect {
namespace {

struct Row {
  std::string_view name;
  std::string_view syntax;  ///< pieces as FormatElement describes them, separated by blanks
  ResultRule results = ResultRule::listed;
};

#define TWILL_CACHE                                           \
  " ?( cacheModifier = @cache=i32:1:none|ca|cg|wb|cs|wt|cv )" \
  " ?( evictionPolicy = @evict=i32:1:evict_normal|evict_first|evict_last )"
#define TWILL_TOKEN " ?( [ ?( $token ) ] )"
#define TWILL_BARRIERS " *( , $barriers ?( [ $barrier_preds ] ) )"
#define TWILL_SEMANTIC "@sem=i32:1:relaxed|acquire|release|acq_rel , @scope=i32:1:gpu|cta|sys"
#define TWILL_REDUCE_KIND "@kind=i32:1:add|min|max|inc|dec|and|or|xor"
#define TWILL_SCALE_TYPES(a, b)                \
  "lhs = @" a                                  \
  "=i32:0:e4m3|e5m2|e2m3|e3m2|e2m1|bf16|fp16 " \
  "rhs = @" b "=i32:0:e4m3|e5m2|e2m3|e3m2|e2m1|bf16|fp16"

/// Custom forms of Triton 3.6 that hold keywords, or whose operands are not simply the SSA names in
/// the order of the text. A text that does not fit its row is read as an unknown op's.
constexpr Row kRows[] = {
    {"arith.cmpi", "@predicate=i64:0:eq|ne|slt|sle|sgt|sge|ult|ule|ugt|uge , $a , $b",
     ResultRule::truth},
    {"arith.cmpf",
     "@predicate=i64:0:false|oeq|ogt|oge|olt|ole|one|ord|ueq|ugt|uge|ult|ule|une|uno|true , $a , "
     "$b",
     ResultRule::truth},
    {"arith.select", "$condition , $true_value , $false_value", ResultRule::last},
    {"scf.condition", "( $condition ) {} $args*"},
    {"scf.yield", "{} $args*"},
    {"tt.get_program_id", "@axis=i32:0:x|y|z"},
    {"tt.get_num_programs", "@axis=i32:0:x|y|z"},
    {"tt.call", "@callee:symbol ( $args* )"},
    {"func.call", "@callee:symbol ( $args* )"},
    {"tt.addptr", "$ptr , $offset", ResultRule::first},
    {"tt.advance", "$ptr , [ $offsets* ]"},
    {"tt.make_tensor_ptr", "$base , [ $shape* ] , [ $strides* ] , [ $offsets* ]"},
    {"tt.make_tensor_descriptor", "$base , [ $shape* ] , [ $strides* ]", ResultRule::last},
    {"tt.load", "$ptr ?( , $mask ) ?( , $other )" TWILL_CACHE, ResultRule::pointee},
    {"tt.store", "$ptr , $value ?( , $mask )" TWILL_CACHE},
    {"tt.atomic_rmw",
     "@atomic_rmw_op=i32:1:and|or|xor|add|fadd|max|min|umax|umin|exch , " TWILL_SEMANTIC
     " , $ptr , $value ?( , $mask )"},
    {"tt.atomic_cas", TWILL_SEMANTIC " , $ptr , $compare , $value"},
    {"tt.reshape", "$source @allow_reorder!allow_reorder @efficient_layout!efficient_layout"},
    {"tt.gather", "$source [ $index ]"},
    {"tt.clampf", "$x , $min , $max , propagateNan = @propagateNan=i32:0:none"},
    {"tt.fp_to_fp", "$source {} ?( , rounding = @rounding=i32:0:rtz|rtne )"},
    {"tt.dot",
     "$a , $b , $c ?( , inputPrecision = "
     "@inputPrecision=i32:0:tf32|tf32x3|ieee|bf16x3|bf16x6 )"},
    {"tt.dot_scaled", "$a ?( scale $a_scale ) , $b ?( scale $b_scale ) , $c " TWILL_SCALE_TYPES(
                          "a_elem_type", "b_elem_type")},
    {"tt.elementwise_inline_asm", "@asm_string:string {} $args*"},
    {"tt.print", "@prefix:string {} ?( : $args* )"},
    {"tt.assert", "$condition , @message:string"},
    {"cf.assert", "$condition , @msg:string"},
    {"tt.descriptor_load", "$desc [ $indices* ]" TWILL_CACHE},
    {"tt.descriptor_gather", "$desc [ $x_offsets , $y_offset ]"},
    {"tt.descriptor_store", "$desc [ $indices* ] , $source"},
    {"tt.descriptor_reduce", TWILL_REDUCE_KIND " , $desc [ $indices* ] , $source"},
    {"tt.descriptor_scatter", "$desc [ $x_offsets , $y_offset ] , $source"},
    {"ttg.local_load", "$source ?( token $token )"},
    {"ttg.memdesc_index", "$source [ $index ]"},
    {"ttg.memdesc_subslice", "$source [ @offsets:i32[] ]"},
    {"ttg.async_copy_global_to_local",
     "$source , $destination ?( mask $mask ) ?( other $other )" TWILL_CACHE,
     ResultRule::only_tokens},
    {"ttg.async_commit_group", "?( tokens $tokens* )", ResultRule::only_tokens},
    {"ttg.async_wait", "$tokens*", ResultRule::only_tokens},
    {"ttng.tc_gen5_mma", "$a , $b , $d" TWILL_TOKEN " , $use_d , $pred" TWILL_BARRIERS,
     ResultRule::only_tokens},
    {"ttng.tc_gen5_mma_scaled",
     "$a , $b , $d" TWILL_TOKEN " , $a_scale , $b_scale , $use_d , $pred " TWILL_SCALE_TYPES(
         "a_type", "b_type") TWILL_BARRIERS,
     ResultRule::only_tokens},
    {"ttng.tc_gen5_commit", "$barrier ?( , $pred )"},
    {"ttng.tmem_load", "$source" TWILL_TOKEN, ResultRule::tokens},
    {"ttng.tmem_store", "$source , $destination" TWILL_TOKEN " , $pred", ResultRule::only_tokens},
    {"ttng.tmem_copy", "$source , $destination ?( , $barrier )"},
    {"ttng.init_barrier", "$barrier , @count:i32"},
    {"ttng.barrier_expect", "$barrier , @size:i32 {} , $pred"},
    {"ttng.wait_barrier", "$barrier , $phase ?( , $pred ) ?( deps $deps* )"},
    {"ttng.arrive_barrier", "$barrier , @count:i32 ?( , $pred )"},
    {"ttng.async_tma_copy_global_to_local",
     "$desc [ $indices* ] $destination , $barrier , $pred" TWILL_CACHE},
    {"ttng.async_tma_copy_local_to_global", "$desc [ $indices* ] $source"},
    {"ttng.async_tma_reduce", TWILL_REDUCE_KIND " , $desc [ $indices* ] $source"},
    {"ttng.tensormap_create",
     "$desc , $base , [ $box* ] , [ $shape* ] , [ $strides* ] , [ $element_strides* ]"},
    {"ttng.async_tma_gather", "$desc [ $x_offsets , $y_offset ] $destination , $barrier , $pred"},
    {"ttng.async_tma_scatter", "$desc [ $x_offsets , $y_offset ] $source"},
};

struct ResultRow {
  std::string_view name;
  ResultRule results;
};

/// Ops without a row above that need a rule for their result types.
constexpr ResultRow kResultRows[] = {
    {"tt.unsplat", ResultRule::element},
    {"gpu.thread_id", ResultRule::index},
};

/// Splits `text` at `separator`.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// "@axis=i32:0:x|y|z", "@count:i32", "@allow_reorder!allow_reorder".
FormatElement attribute_element(std::string_view piece) {
  FormatElement element;
  const std::size_t end = piece.find_first_of("=:!");
  element.name = piece.substr(0, end);
  const std::string_view rest = piece.substr(end + 1);
  if (piece[end] == '=') {
    const std::vector<std::string> parts = split(rest, ':');
    element.kind = FormatElement::Kind::keyword;
    element.type = parts[0];
    element.first_number = parts[1][0] - '0';
    element.words = split(parts[2], '|');
  } else if (piece[end] == '!') {
    element.kind = FormatElement::Kind::flag;
    element.words = {std::string(rest)};
  } else if (rest == "symbol" || rest == "string") {
    element.kind = rest == "symbol" ? FormatElement::Kind::symbol : FormatElement::Kind::string;
  } else {
    const bool several = rest.back() == ']';
    element.kind = several ? FormatElement::Kind::integers : FormatElement::Kind::integer;
    element.type = several ? rest.substr(0, rest.size() - 2) : rest;
  }
  return element;
}

FormatElement simple_element(std::string_view piece) {
  if (piece.size() > 1 && piece[0] == '@') return attribute_element(piece.substr(1));
  FormatElement element;
  element.name = piece;
  if (piece == "{}") element.kind = FormatElement::Kind::attributes;
  if (piece.size() > 1 && piece[0] == '$') {
    const bool several = piece.back() == '*';
    element.kind = several ? FormatElement::Kind::operands : FormatElement::Kind::operand;
    element.name = piece.substr(1, piece.size() - (several ? 2 : 1));
  }
  return element;
}

/// Elements up to the ")" that closes the group (or the end).
std::vector<FormatElement> parse_group(const std::vector<std::string>& pieces, std::size_t& next) {
  std::vector<FormatElement> elements;
  int open = 0;  // open parentheses that are literals of the syntax
  while (next < pieces.size()) {
    const std::string& piece = pieces[next++];
    if (piece == "?(" || piece == "*(") {
      FormatElement group;
      group.kind = piece == "?(" ? FormatElement::Kind::optional : FormatElement::Kind::repeated;
      group.inside = parse_group(pieces, next);
      elements.push_back(std::move(group));
      continue;
    }
    if (piece == ")" && open == 0) break;
    if (piece == "(") ++open;
    if (piece == ")") --open;
    if (!piece.empty()) elements.push_back(simple_element(piece));
  }
  return elements;
}

std::unordered_map<std::string_view, Format> make_formats() {
  std::unordered_map<std::string_view, Format> formats;
  for (const Row& row : kRows) {
    std::size_t next = 0;
    const std::vector<std::string> pieces = split(row.syntax, ' ');
    formats.emplace(row.name, Format{parse_group(pieces, next), row.results, true});
  }
  for (const ResultRow& row : kResultRows) {
    formats.emplace(row.name, Format{{}, row.results, false});
  }
  return formats;
}

}  // namespace

const Format* format_of(std::string_view name) {
  static const std::unordered_map<std::string_view, Format> kFormats = make_formats();
  const auto found = kFormats.find(name);
  return found == kFormats.end() ? nullptr : &found->second;
}

}  // namespace twill::dialect
