#include "twill/dialect/tensor_map.h"

#include <functional>
#include <map>
#include <string>

namespace twill::dialect {

std::optional<std::int64_t> map_type(ir::Type element) {
  static const std::map<std::string, std::int64_t, std::less<>> kTypes = {
      {"i8", 0},  {"si8", 0},  {"ui8", 0},  {"i16", 1},  {"si16", 1}, {"ui16", 1},
      {"i32", 3}, {"si32", 3}, {"ui32", 2}, {"i64", 5},  {"si64", 5}, {"ui64", 4},
      {"f16", 6}, {"f32", 7},  {"f64", 9},  {"bf16", 10}};
  const auto found = kTypes.find(element->name);
  if (found != kTypes.end()) return found->second;
  if (ir::element_bits(element) == 8) return 0;  // all types of eight bits have the number 0
  return std::nullopt;
}

}  // namespace twill::dialect
