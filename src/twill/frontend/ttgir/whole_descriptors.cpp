#include "twill/frontend/ttgir/whole_descriptors.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "twill/dialect/attributes.h"
#include "twill/dialect/tensor_map.h"
#include "twill/frontend/ttgir/copy.h"
#include "twill/ir/type.h"

namespace twill::frontend::ttgir {
namespace {

constexpr std::string_view kScratch = "ttg.global_scratch_alloc";
constexpr std::string_view kMap = "ttng.tensormap_create";
constexpr std::string_view kAcquire = "ttng.tensormap_fenceproxy_acquire";
constexpr std::string_view kCast = "ttng.reinterpret_tensor_descriptor";

/// A number of elements: a value of the text, or a constant.
struct Stride {
  std::optional<ir::ValueId> value;
  std::int64_t constant = 0;
};

/// A descriptor in a kernel's text: base, extents and strides, outermost first. The innermost
/// stride is one; tensor maps leave it out.
struct Made {
  ir::ValueId base;
  std::vector<ir::ValueId> extents;
  std::vector<Stride> strides;
  bool pads_with_nan = false;
};

class DescriptorFinder {
 public:
  explicit DescriptorFinder(const ir::Program& program) : program_(program) {
    for (const ir::OpId op : ir::walk(program, program.module())) {
      if (program.op(op).name == kScratch) look_at(op);
    }
  }

  std::map<ir::OpId, Made> casts;  ///< for each op to be replaced by a descriptor
  std::set<ir::OpId> gone;

 private:
  /// Checks that all ops that use the memory belong to one tensor map.
  void look_at(ir::OpId scratch) {
    std::vector<ir::OpId> all = {scratch}, ends;
    std::optional<ir::OpId> map;
    for (const ir::Use& use : program_.value(program_.op(scratch).results.front()).uses) {
      const std::string& name = program_.op(use.op).name;
      if (name == kMap && use.operand == 0 && !map) {
        map = use.op;
      } else if (name == kCast) {
        ends.push_back(use.op);
        continue;
      } else if (name != kAcquire) {
        return;
      }
      all.push_back(use.op);
    }
    if (!map || ends.empty()) return;
    std::map<ir::OpId, Made> found;
    for (const ir::OpId end : ends) {
      const auto made = descriptor_of(*map, end);
      const bool behind = program_.op(end).block == program_.op(*map).block && *map < end;
      if (!made || !behind) return;
      found.emplace(end, *made);
    }
    casts.merge(found);
    gone.insert(all.begin(), all.end());
  }

  std::optional<Made> descriptor_of(ir::OpId map, ir::OpId cast) const {
    const ir::Op& op = program_.op(map);
    const ir::Type block = ir::type_of(program_, program_.op(cast).results.front())->element;
    const std::size_t rank = block == nullptr ? 0 : block->shape.size();
    // Triton makes tensor maps of no other type for these elements.
    if (rank > 0 &&
        dialect::integer_attribute(op, "elem_type") != dialect::map_type(block->element)) {
      return std::nullopt;
    }
    // Operands: map, base, box, extents, strides except the innermost, and steps.
    if (rank == 0 || op.operands.size() != 2 + 4 * rank - 1) return std::nullopt;
    Made made;
    made.base = op.operands[1];
    made.pads_with_nan = dialect::integer_attribute(op, "fill_mode") == 1;
    for (std::size_t i = rank; i-- > 0;) {
      made.extents.push_back(op.operands[2 + rank + i]);
      if (i == 0) break;
      const auto stride = elements_of(op.operands[2 + 2 * rank + i - 1], block);
      if (!stride) return std::nullopt;
      made.strides.push_back(*stride);
    }
    return made;
  }

  /// Number of elements from which a number of bytes was computed, or which it is for bytes.
  std::optional<Stride> elements_of(ir::ValueId bytes, ir::Type block) const {
    const std::int64_t size = ir::element_bits(block) / 8;
    if (const auto constant = ir::constant_integer(program_, bytes)) {
      if (size == 0 || *constant % size != 0) return std::nullopt;
      return Stride{std::nullopt, *constant / size};
    }
    const ir::Op* const by = ir::defining_op(program_, bytes);
    if (by == nullptr || by->kind != ir::OpKind::mul) return std::nullopt;
    const bool fits = ir::constant_integer(program_, by->operands[1]) == size;
    return fits ? std::optional(Stride{by->operands[0]}) : std::nullopt;
  }

  const ir::Program& program_;
};

}  // namespace

std::optional<ir::Program> whole_descriptors(const ir::Program& program) {
  const DescriptorFinder found(program);
  if (found.casts.empty()) return std::nullopt;
  Copier copier(program);
  ir::TypeTable& types = copier.builder().types();
  const auto constant = [&](std::int64_t number, ir::OpId like, ir::BlockId into) {
    return copier.add_constant(number, types.scalar("i64"), like, into);
  };
  return std::move(copier).copy([&](ir::OpId id, ir::BlockId into) {
    const auto cast = found.casts.find(id);
    if (cast == found.casts.end()) return found.gone.contains(id);
    const Made& made = cast->second;
    ir::Op op;
    op.name = "tt.make_tensor_descriptor";
    op.operands.push_back(copier.at(made.base));
    for (const ir::ValueId extent : made.extents) op.operands.push_back(copier.at(extent));
    for (const Stride& stride : made.strides) {
      op.operands.push_back(stride.value ? copier.at(*stride.value)
                                         : constant(stride.constant, id, into));
    }
    op.operands.push_back(constant(1, id, into));
    constexpr std::int64_t kNan = 2, kZero = 1;
    op.attributes.emplace_back("padding", types.integer(made.pads_with_nan ? kNan : kZero));
    const ir::OpId descriptor = copier.add(std::move(op), id, into);
    copier.builder().define_result(descriptor, copier.at(program.op(id).results.front()));
    return true;
  });
}

}  // namespace twill::frontend::ttgir
