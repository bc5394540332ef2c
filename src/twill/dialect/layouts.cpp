#include "twill/dialect/layouts.h"

#include <limits>

#include "twill/dialect/attributes.h"
#include "twill/ir/program.h"

namespace twill::dialect {
namespace {

using Entries = std::vector<ir::NamedAttribute>;

ir::Attribute entry_of(const Entries& entries, std::string_view key) {
  for (const auto& [name, value] : entries) {
    if (name == key) return value;
  }
  return nullptr;
}

int integer_entry(const Entries& entries, std::string_view key, int otherwise) {
  const ir::Attribute entry = entry_of(entries, key);
  if (entry == nullptr || entry->kind != ir::AttributeKind::integer) return otherwise;
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return entry->integer >= 0 && entry->integer <= kMost ? static_cast<int>(entry->integer)
                                                        : otherwise;
}

bool flag_entry(const Entries& entries, std::string_view key) {
  const ir::Attribute entry = entry_of(entries, key);
  return entry != nullptr && (entry->kind == ir::AttributeKind::unit || entry->integer != 0);
}

std::vector<std::int64_t> list_entry(const Entries& entries, std::string_view key) {
  const ir::Attribute entry = entry_of(entries, key);
  if (entry == nullptr) return {};
  return integers_of(entry).value_or(std::vector<std::int64_t>());
}

}  // namespace

ir::Encoding layout_of(std::string_view name, const Entries& entries) {
  const std::size_t dot = name.find('.');
  const std::string_view kind = dot == std::string_view::npos ? "" : name.substr(dot + 1);
  const auto integer = [&](std::string_view key, int otherwise) {
    return integer_entry(entries, key, otherwise);
  };
  if (kind == "nvidia_mma") {
    return ir::MmaEncoding{integer("versionMajor", 0), integer("versionMinor", 0),
                           list_entry(entries, "instrShape"), list_entry(entries, "warpsPerCTA")};
  }
  if (kind == "dot_op") {
    return ir::DotOperandEncoding{integer("opIdx", 0), integer("kWidth", 0),
                                  entry_of(entries, "parent")};
  }
  if (kind == "nvmma_shared") {
    return ir::NvmmaSharedEncoding{integer("swizzlingByteWidth", 0),
                                   flag_entry(entries, "transposed"), integer("elementBitWidth", 0),
                                   flag_entry(entries, "fp4Padded")};
  }
  if (kind == "swizzled_shared" || kind == "shared") {
    return ir::SwizzledSharedEncoding{integer("vec", 1), integer("perPhase", 1),
                                      integer("maxPhase", 1), list_entry(entries, "order")};
  }
  if (kind == "tensor_memory_encoding") {
    return ir::TensorMemoryEncoding{integer("blockM", 0), integer("blockN", 0),
                                    integer("colStride", 1), flag_entry(entries, "unpacked")};
  }
  if (kind == "tensor_memory_scales_encoding") return ir::TensorMemoryScalesEncoding{};
  return {};
}

ir::MemorySpace space_of(ir::Attribute memory_space) {
  if (memory_space == nullptr) return ir::MemorySpace::none;
  const std::string_view name = memory_space->value;
  if (name.ends_with("shared_memory")) return ir::MemorySpace::shared;
  return name.ends_with("tensor_memory") ? ir::MemorySpace::tensor : ir::MemorySpace::none;
}

}  // namespace twill::dialect
