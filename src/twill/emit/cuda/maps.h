#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twill/emit/cuda/view.h"

namespace twill::emit::cuda {

/// Use of a map (runtime/host.cuh has the same names).
enum class MapUse { loads, writes };

/// The tensor maps that a kernel needs: one for each descriptor, height of its boxes, and use. A
/// descriptor is an argument, or made by the kernel.
class Maps {
 public:
  /// The name of the map, which becomes an argument of the kernel. `rows`: height of a box. Fails
  /// if `descriptor` is neither an argument of the function nor made by it, or its blocks are not
  /// printed.
  Result<std::string> name(const View& view, ir::ValueId descriptor, std::int64_t rows, MapUse use);

  struct Map {
    ir::ValueId descriptor;
    std::int64_t rows = 0;
    MapUse use = MapUse::loads;
    friend auto operator<=>(const Map&, const Map&) = default;
  };
  /// All maps, in the order of the descriptors' places in the text: arguments first.
  std::vector<Map> all() const;
  static std::string name_of(const View& view, const Map& map);
  /// Number of the function's argument that is the map's descriptor; empty if the kernel makes the
  /// descriptor.
  static std::optional<std::size_t> argument_of(const View& view, const Map& map);
  /// The descriptor in words: "argument 5", "tt.make_tensor_descriptor @ 17:10".
  static std::string words_of(const View& view, const Map& map);

 private:
  std::vector<Map> maps_;
};

}  // namespace twill::emit::cuda
