#pragma once

#include <string>

#include "twill/emit/cuda/shared_tiles.h"
#include "twill/emit/cuda/text.h"
#include "twill/emit/cuda/tiles.h"

namespace twill::emit::cuda {

/// Places of a product's operands at its issue.
struct ProductPlaces {
  const Variable* result = nullptr;
  const Variable* a_registers = nullptr;  ///< null: A lies in shared memory
  std::string a_array;                    ///< name of the array of a_registers
  std::string a_address;                  ///< address of the tile in shared memory
  std::string b_address;
  bool accumulates = false;  ///< whether the product adds to the contents of the result
};

/// Number of wgmma instructions of a product. Fails if its result has no place in registers.
Result<int> instructions_of(const View& view, ir::OpId product, int part);

/// Prints the wgmma instructions of one product and its commit. Fails for shapes and types that
/// wgmma does not have.
Result<void> print_product(Text& text, const View& view, ir::OpId product, int part,
                           const ProductPlaces& places);

}  // namespace twill::emit::cuda
