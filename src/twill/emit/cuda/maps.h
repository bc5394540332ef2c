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

/// The tensor maps a kernel needs: one for each descriptor, an argument or one that the kernel
/// makes, each height of the boxes it is read or written in, and each of the two uses.
class Maps {
 public:
  /// The name of the map, which is an argument of the kernel from now on. `rows`: of a box.
  /// Fails if `descriptor` is neither an argument of the function nor made by it, or its blocks are
  /// not printed.
  Result<std::string> name(const View& view, ir::ValueId descriptor, std::int64_t rows, MapUse use);

  struct Map {
    ir::ValueId descriptor;
    std::int64_t rows = 0;
    MapUse use = MapUse::loads;
    friend auto operator<=>(const Map&, const Map&) = default;
  };
  /// By the descriptors' places in the text: first those that are arguments.
  std::vector<Map> all() const;
  static std::string name_of(const View& view, const Map& map);
  /// Which argument of the function its descriptor is; nothing if the kernel makes it.
  static std::optional<std::size_t> argument_of(const View& view, const Map& map);
  /// "argument 5", "tt.make_tensor_descriptor @ 17:10"
  static std::string words_of(const View& view, const Map& map);

 private:
  std::vector<Map> maps_;
};

}  // namespace twill::emit::cuda
