#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/ir/type.h"
#include "twill/support/diagnostic.h"

/// Contents of arrays in global memory before a kernel runs, and the bytes of their numbers.
namespace twill::execute {

/// Bytes of an element of a type that `Memory` takes: 1, 2, 4 or 8. An i1 takes a byte.
std::size_t bytes_of(ir::Type element);

/// Converts `value`, rounded to the type, to the low bytes of a number, and back.
std::uint64_t bits_of(ir::Type element, double value);
double value_of(ir::Type element, std::uint64_t bits);

/// Elements of an array until they are written.
struct Values {
  enum class Kind {
    by_position,  ///< evenly spread: numbers in [-1, 1), integers in [0, 64)
    constant,     ///< `first`
    counted,      ///< `first` + `second` * index
    growing,      ///< `first` * (0, 1, 1, 3, 6, 10, ...): neighbours differ by 1, 0, 2, 3
    integers,     ///< evenly spread whole numbers in [`first`, `second`)
    uniform,      ///< evenly spread numbers in [`first`, `second`)
    elements,     ///< elements of a file; reads beyond them fail
  };
  Kind kind = Kind::by_position;
  double first = 0;
  double second = 1;
  std::string file;                                     ///< elements: the file's name, for messages
  std::shared_ptr<const std::vector<double>> elements;  ///< elements: in row-major order
  Shape shape;                               ///< elements: shape in the file; empty: not known
  std::shared_ptr<const std::string> bytes;  ///< elements of unknown type, as in the file
  std::size_t element_bytes = 0;  ///< size of an element of `bytes`; 0: the file does not say
  bool floating = false;          ///< elements of known type are floating-point numbers
};

/// Reads "arange", "arange(FIRST,STEP)", "FIRST..END", "uniform(FIRST,END)", or a number, which
/// means that constant. Fails for other texts.
Result<Values> read_values(std::string_view text);

/// Reads the array in an .npy file: little-endian, row-major, of numbers, or of 1, 2 or 4 opaque
/// bytes (the form of saved bf16 and fp8). Fails, naming the file, for other bytes.
Result<Values> values_of_npy(std::string bytes, const std::string& file);

/// Values of a raw file: little-endian elements of the array's own type.
Values values_of_bytes(std::string bytes, const std::string& file);

/// `values` with `elements` of the array's type in place of `bytes`. Fails for elements of another
/// kind, such as integers for numbers. Fails for another size if the file gives only a size.
Result<Values> of_type(Values values, ir::Type element);

}  // namespace twill::execute
