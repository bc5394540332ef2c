#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "twill/emit/cuda/view.h"

namespace twill::emit::cuda {

/// The tensor maps a kernel needs: one for each descriptor argument and each height of the boxes it
/// is read or written in.
class Maps {
 public:
  /// The name of the map, which is an argument of the kernel from now on. `rows`: of a box.
  /// Fails if `descriptor` is no argument of the function, or its blocks are not printed.
  Result<std::string> name(const View& view, ir::ValueId descriptor, std::int64_t rows);

  struct Map {
    std::size_t argument = 0;
    std::int64_t rows = 0;
  };
  /// In the order of the names, which is that of the arguments.
  std::vector<Map> all() const;
  static std::string name_of(const Map& map);

 private:
  std::vector<std::pair<std::size_t, std::int64_t>> maps_;
};

}  // namespace twill::emit::cuda
