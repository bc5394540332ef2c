#include "twill/emit/cuda/host.h"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "twill/emit/cuda/descriptors.h"
#include "twill/emit/cuda/pieces.h"
#include "twill/emit/cuda/shared_tiles.h"

namespace twill::emit::cuda {
namespace {

std::span<const ir::ValueId> arguments_of(const View& view) {
  return ir::function_arguments(view.program(), view.function());
}

ir::Type type_of(const View& view, std::size_t argument) {
  return ir::type_of(view.program(), arguments_of(view)[argument]);
}

bool is_descriptor(ir::Type type) { return type->kind == ir::TypeKind::tensordesc; }

/// Prints the check that rows are contiguous, as TMA descriptors assume. Empty tensors, and rows of
/// one element, may have any stride.
void print_contiguous(Text& text, const Tensor& tensor, const std::string& where) {
  if (tensor.strides.back() == "1ll") return;
  std::string here;
  for (std::size_t d = 0; d + 1 < tensor.sizes.size(); ++d) {
    here += fmt::format("{} > 0 && ", tensor.sizes[d]);
  }
  const char* wrong = "launch: the innermost stride of a descriptor's tensor is not 1";
  text.line(fmt::format("if ({}{} > 1 && {} != 1) return \"{}: {}\";", here, tensor.sizes.back(),
                        tensor.strides.back(), wrong, where));
}

/// Prints the place of a tile in the grid, given the numbers of tiles along x and y.
void print_order(Text& text, const plan::Kernel& kernel, const std::string& x, const std::string& y,
                 std::string_view head, std::string_view tail) {
  text.line(fmt::format("const int in_plane = tile % ({} * {});", x, y));
  text.line(fmt::format("const int z = tile / ({} * {});", x, y));
  if (kernel.order == plan::TileOrder::row_major) {
    text.line(fmt::format("{}{{in_plane % {}, in_plane / {}, z{}}};", head, x, x, tail));
    return;
  }
  const bool pairs = kernel.cluster > 1 && kernel.axis == plan::Axis::x;
  const int group = pairs ? std::max(1, kernel.group / kernel.cluster) : kernel.group;
  text.line(fmt::format("const int band = in_plane / ({} * {});", group, y));
  text.line(fmt::format("const int in_band = in_plane % ({} * {});", group, y));
  text.line(fmt::format("const int width = min({0}, {1} - {0} * band);", group, x));
  text.line(
      fmt::format("{}{{{} * band + in_band % width, in_band / width, z{}}};", head, group, tail));
}

/// Number of tiles, or of groups of them, along an axis of the grid.
std::string along(const plan::Kernel& kernel, plan::Axis axis) {
  const std::string size = fmt::format("grid_{}", plan::name_of(axis));
  const bool groups = kernel.cluster > 1 && kernel.axis == axis;
  return groups ? "Arguments::groups_along(" + size + ")" : size;
}

/// Prints the walk of clusters over groups of tiles that are neighbours along one axis. Each CTA of
/// a cluster has one tile of the group.
void print_cluster_walk(Text& text, const plan::Kernel& kernel) {
  const std::string_view axis = plan::name_of(kernel.axis);
  text.line("int tiles;  // groups of them, one for a cluster");
  text.blank();
  text.open("struct Ids");
  text.line("int x, y, z;");
  text.line(
      "bool own;  // false: the tile is done by the cluster's first CTA, this one repeats it");
  text.close(";");
  text.open("__host__ __device__ static int groups_along(int grid)");
  text.line("return grid / kCluster + (grid % kCluster != 0);");
  text.close();
  text.line("__device__ int first_tile() const { return blockIdx.x / kCluster; }");
  text.line("__device__ int tile_step() const { return gridDim.x / kCluster; }");
  text.line("/// The program ids that this CTA has of a group.");
  text.open("__device__ Ids ids_of(int tile) const");
  print_order(text, kernel, along(kernel, plan::Axis::x), along(kernel, plan::Axis::y),
              "Ids ids = ", ", true");
  text.line(fmt::format("ids.{} *= kCluster;", axis));
  text.line("const int rank = static_cast<int>(twill::cluster_rank());");
  text.line(fmt::format("ids.own = ids.{0} + rank < grid_{0};", axis));
  text.line(fmt::format("if (ids.own) ids.{} += rank;", axis));
  text.line("return ids;");
  text.close();
}

void print_walk(Text& text, const plan::Kernel& kernel) {
  text.line("int grid_x, grid_y, grid_z;  // of the program ids");
  if (kernel.tiles != plan::Tiles::persistent) return;
  if (kernel.cluster > 1) return print_cluster_walk(text, kernel);
  text.line("int tiles;");
  text.blank();
  text.open("struct Ids");
  text.line("int x, y, z;");
  text.close(";");
  text.line("__device__ int first_tile() const { return blockIdx.x; }");
  text.line("__device__ int tile_step() const { return gridDim.x; }");
  text.line("/// The program ids that a tile stands for.");
  text.open("__device__ Ids ids_of(int tile) const");
  print_order(text, kernel, "grid_x", "grid_y", "return ", "");
  text.close();
}

/// Prints the grid of a persistent kernel, which fills the device once.
void print_persistent_grid(Text& text, const plan::Kernel& kernel, const std::string& name) {
  const bool cluster = kernel.cluster > 1;
  text.line(fmt::format("const long long tiles = 1ll * {} * {} * {};", along(kernel, plan::Axis::x),
                        along(kernel, plan::Axis::y), along(kernel, plan::Axis::z)));
  text.line("if (tiles > 0x7fffffff) return \"launch: more than 2^31 tiles\";");
  text.line("args.tiles = static_cast<int>(tiles);");
  if (cluster) text.line("how.cluster = kCluster;");
  text.line("int resident = 0;");
  text.line(fmt::format(
      "if (const char* wrong = twill::resident_ctas(&resident, {}, how)) return wrong;", name));
  if (cluster) {
    text.line(
        "const long long clusters = tiles < resident / kCluster ? tiles : resident / kCluster;");
    text.line("how.grid = dim3(static_cast<unsigned>(kCluster * clusters));");
  } else {
    text.line("how.grid = dim3(static_cast<unsigned>(tiles < resident ? tiles : resident));");
  }
}

/// Prints the checks of the launch. They are the text's promises about pointers, and its promises
/// about integers that the printed code relies on. Also that rows of described tensors are
/// contiguous.
Result<void> print_checks(Text& text, const View& view) {
  for (std::size_t i = 0; i < arguments_of(view).size(); ++i) {
    const ir::Type type = type_of(view, i);
    if (is_descriptor(type)) {
      TWILL_TRY(const Tensor tensor, tensor_of_argument(view, i));
      print_contiguous(text, tensor, fmt::format("argument {}", i));
      continue;
    }
    const auto said = ir::argument_divisor(view.program(), view.function(), i);
    if (type->kind != ir::TypeKind::pointer || !said) continue;
    text.line(
        fmt::format("if (reinterpret_cast<std::uintptr_t>(arg{0}) % {1} != 0) return \"launch: "
                    "argument {0} is not aligned to {1} bytes, as the TTGIR says\";",
                    i, *said));
  }
  const auto relied_on = ir::divisors_relied_on(view.program(), view.function(), pieces_of(view));
  for (const auto& [argument, divisor] : relied_on) {
    text.line(fmt::format(
        "if (arg{0} % {1} != 0) return \"launch: argument {0} is no multiple of {1}, which "
        "copies and stores of several elements at once rely on\";",
        argument, divisor));
  }
  return {};
}

Result<void> print_map(Text& text, const View& view, MadeTensors& made, const Maps::Map& map) {
  const ir::Type descriptor = ir::type_of(view.program(), map.descriptor);
  const auto& block = descriptor->element->shape;
  const auto argument = Maps::argument_of(view, map);
  Tensor tensor;
  if (argument) {
    TWILL_TRY(tensor, tensor_of_argument(view, *argument));
  } else {
    TWILL_TRY(tensor, made.tensor_of(text, map.descriptor));
    print_contiguous(text, tensor, Maps::words_of(view, map));
  }
  const std::size_t rank = block.size();
  std::vector<std::string> sizes, strides, box;
  for (std::size_t i = rank; i-- > 0;) {
    sizes.push_back(fmt::format("static_cast<std::uint64_t>({})", tensor.sizes[i]));
    if (i + 1 < rank) {
      strides.push_back(fmt::format("{} * static_cast<std::uint64_t>({})",
                                    ir::element_bits(descriptor->element) / 8, tensor.strides[i]));
    }
  }
  const std::int64_t swizzle = *written_swizzle_of(descriptor);
  const std::int64_t panel = swizzle * 8 / ir::element_bits(descriptor->element);
  box.push_back(std::to_string(std::min(block.back(), panel)));
  for (std::size_t i = 1; i < rank; ++i) box.push_back(i == 1 ? std::to_string(map.rows) : "1");
  text.open("");
  text.line(fmt::format("const std::uint64_t sizes[] = {{{}}};", fmt::join(sizes, ", ")));
  text.line(fmt::format("const std::uint64_t strides[] = {{{}}};",
                        strides.empty() ? "0" : fmt::format("{}", fmt::join(strides, ", "))));
  text.line(fmt::format("const std::uint32_t box[] = {{{}}};", fmt::join(box, ", ")));
  text.line(
      fmt::format("if (const char* wrong = twill::describe(&args.{}, twill::map_type<{}>(), {}, "
                  "{}, sizes, strides, box, {}, twill::MapUse::{}{})) return wrong;",
                  Maps::name_of(view, map), cpp_type(descriptor->element->element), rank,
                  tensor.base, swizzle, map.use == MapUse::writes ? "writes" : "loads",
                  tensor.nan_outside ? ", CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA" : ""));
  text.close();
  return {};
}

}  // namespace

Result<void> print_arguments(Text& text, const View& view, const Maps& maps) {
  if (const int cluster = view.plan().kernel->cluster; cluster > 1) {
    text.line(fmt::format("constexpr int kCluster = {};  // CTAs", cluster));
    text.blank();
  }
  text.line("/// What the kernel gets; argN is argument N of the TTGIR function.");
  text.open("struct Arguments");
  for (const Maps::Map& map : maps.all()) {
    text.line(fmt::format("CUtensorMap {};  // of {}, boxes of {} rows", Maps::name_of(view, map),
                          Maps::words_of(view, map), map.rows));
  }
  for (std::size_t i = 0; i < arguments_of(view).size(); ++i) {
    const ir::Type type = type_of(view, i);
    if (is_descriptor(type)) continue;
    const std::string cpp = cpp_type(type);
    if (cpp.empty())
      return view.refuse(arguments_of(view)[i], "is an argument of type " + type->text);
    text.line(fmt::format("{} arg{};", cpp, i));
  }
  print_walk(text, *view.plan().kernel);
  if (view.stamps() != Stamps::none) {
    text.line("twill::Stamp* stamps;  // of the roles one after the other");
    text.line("int stamp_limit;        // for each");
  }
  text.close(";");
  text.blank();
  return {};
}

Result<void> print_launch(Text& text, const View& view, const Maps& maps) {
  const std::string name = identifier(view.plan().kernel->name);
  std::vector<std::string> parameters;
  for (std::size_t i = 0; i < arguments_of(view).size(); ++i) {
    const ir::Type type = type_of(view, i);
    if (is_descriptor(type)) {
      parameters.push_back(fmt::format("void* arg{}", i));
    } else {
      parameters.push_back(fmt::format("{} arg{}", cpp_type(type), i));
    }
  }
  if (view.stamps() != Stamps::none) {
    parameters.emplace_back("void* stamps");
    parameters.emplace_back("int stamp_limit");
  }
  const bool persistent = view.plan().kernel->tiles == plan::Tiles::persistent;
  text.line("#ifndef __CUDACC_RTC__");
  text.line("#include \"runtime/host.cuh\"");
  text.blank();
  text.line(
      "/// Launches the kernel for a grid of program ids, as Triton would: nullptr, or what is "
      "wrong.");
  text.line(
      "/// Parameters as those of the TTGIR function; a descriptor by the address of its tensor,");
  text.line("/// followed by its sizes and strides in elements, outermost first.");
  if (view.stamps() != Stamps::none) {
    text.line(fmt::format(
        "/// Then zeroed device memory for {} x stamp_limit stamps of 16 bytes, by role.",
        view.plan().roles.size()));
  }
  text.line(
      fmt::format("extern \"C\" const char* launch_{}(int grid_x, int grid_y, int grid_z, "
                  "cudaStream_t stream,",
                  name));
  text.open(fmt::format("    {})", fmt::join(parameters, ", ")));
  text.line("if (const char* wrong = twill::check_device()) return wrong;");
  text.line("if (grid_x < 0 || grid_y < 0 || grid_z < 0) return \"launch: the grid is negative\";");
  text.line("if (grid_x == 0 || grid_y == 0 || grid_z == 0) return nullptr;");
  text.line("Arguments args = {};");
  TWILL_TRY_VOID(print_checks(text, view));
  MadeTensors made(view);
  for (const Maps::Map& map : maps.all()) {
    TWILL_TRY_VOID(print_map(text, view, made, map));
  }
  for (std::size_t i = 0; i < arguments_of(view).size(); ++i) {
    if (!is_descriptor(type_of(view, i))) text.line(fmt::format("args.arg{0} = arg{0};", i));
  }
  if (view.stamps() != Stamps::none) {
    text.line("args.stamps = static_cast<twill::Stamp*>(stamps);");
    text.line("args.stamp_limit = stamp_limit;");
  }
  for (const char axis : {'x', 'y', 'z'}) text.line(fmt::format("args.grid_{0} = grid_{0};", axis));
  text.line("twill::Launch how;");
  text.line("how.threads = kThreads;");
  text.line("how.shared_bytes = kSharedBytes;");
  text.line("how.stream = stream;");
  if (persistent) {
    print_persistent_grid(text, *view.plan().kernel, name);
  } else {
    text.line(
        "if (grid_y > 65535 || grid_z > 65535) return \"launch: the grid exceeds 65535 along y or "
        "z\";");
    text.line(
        "how.grid = dim3(static_cast<unsigned>(grid_x), static_cast<unsigned>(grid_y), "
        "static_cast<unsigned>(grid_z));");
  }
  text.line(fmt::format("return twill::launch({}, how, args);", name));
  text.close();
  text.line("#endif");
  return {};
}

}  // namespace twill::emit::cuda
