#include "twill/emit/description.h"

#include <algorithm>

#include "twill/emit/cuda/pieces.h"
#include "twill/emit/cuda/resources.h"
#include "twill/emit/cuda/text.h"
#include "twill/emit/cuda/view.h"

namespace twill::emit {
namespace cuda {
namespace {

using Kind = Parameter::Kind;

Parameter parameter_of(const View& view, std::size_t number) {
  const ir::ValueId value = ir::function_arguments(view.program(), view.function())[number];
  const ir::Type type = ir::type_of(view.program(), value);
  Parameter made;
  made.name = view.program().value(value).name;
  if (type->kind == ir::TypeKind::tensordesc) {
    constexpr std::int64_t kTmaAlignment = 16;
    const ir::Type block = type->element;
    made.kind = Kind::descriptor;
    made.type = block->element->name;
    made.multiple_of = kTmaAlignment;
    made.block = block->shape;
    const int rank = static_cast<int>(block->shape.size());
    for (int d = 1; d <= rank; ++d) {
      made.sizes.push_back(static_cast<int>(number) + d);
      made.strides.push_back(static_cast<int>(number) + rank + d);
    }
    return made;
  }
  if (type->kind != ir::TypeKind::pointer) {
    made.type = type->name;
    return made;
  }
  made.kind = Kind::pointer;
  made.type = type->element->name;
  const auto said = ir::argument_divisor(view.program(), view.function(), number);
  if (said) made.multiple_of = *said;
  return made;
}

}  // namespace
}  // namespace cuda

Result<Description> cuda_description(const KernelParts& parts) {
  using namespace cuda;
  TWILL_TRY(const View view, View::of(parts));
  const plan::Kernel& kernel = *view.plan().kernel;
  Description made;
  made.name = identifier(kernel.name);
  made.launch = "launch_" + made.name;
  made.input = parts.input;
  const auto arguments = ir::function_arguments(view.program(), view.function());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    made.parameters.push_back(parameter_of(view, i));
  }
  for (const auto& [argument, divisor] :
       ir::divisors_relied_on(view.program(), view.function(), pieces_of(view))) {
    made.parameters[argument].multiple_of = divisor;
  }
  if (view.stamps() != Stamps::none) {
    made.parameters.push_back({"stamps", Parameter::Kind::stamps, "", 16, {}, {}, {}});
    made.parameters.push_back({"stamp_limit", Parameter::Kind::stamp_limit, "i32", 1, {}, {}, {}});
  }
  const SharedMemory shared = shared_memory_of(view.plan());
  made.threads = threads_of(view.plan());
  made.shared_bytes = shared.barriers_at + shared.barrier_bytes;
  made.cluster = kernel.cluster;
  for (const plan::Buffer& buffer : view.plan().buffers) {
    made.deepest_ring = std::max(made.deepest_ring, buffer.depth);
  }
  made.tiles = plan::name_of(kernel.tiles);
  if (kernel.tiles == plan::Tiles::persistent) {
    made.order = plan::name_of(kernel.order);
    made.group = kernel.group;
  }
  made.notes = view.plan().notes;
  if (const std::string apart = view.assumed_apart(); !apart.empty()) made.notes.push_back(apart);
  return made;
}

}  // namespace twill::emit
