#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "twill/emit/cuda/registers.h"
#include "twill/emit/cuda/scalars.h"

namespace twill::emit::cuda {

/// Place of a tile that an earlier step has computed, as the reading step sees it.
struct Found {
  const Variable* variable = nullptr;
  std::string name;  ///< name of the array to read
};

/// Prints arithmetic on register tiles: a loop over a thread's elements, with a statement for each
/// operation of the TTGIR. Loads through pointers are done element by element at their use. `find`
/// ensures that global memory was not written since the load.
class Tiles {
 public:
  /// `find` returns the place of a value that exists already. Empty: the value is computed here
  /// from its operands.
  using Find = std::function<std::optional<Found>(ir::ValueId)>;

  Tiles(const View& view, Scalars& scalars, int part, std::string iteration, Find find)
      : view_(view),
        scalars_(scalars),
        part_(part),
        iteration_(std::move(iteration)),
        find_(std::move(find)) {}

  struct Assignment {
    const Variable* array = nullptr;
    ir::ValueId value;
  };
  /// Assigns to each `array` its `value`, element by element, all of one shape. Every value is
  /// computed before an array is written. Older copies of the arrays move up first.
  Result<void> assign(Text& text, const std::vector<Assignment>& assignments);
  /// Reduces the columns of a matrix into a row vector. With `in_parts`, each thread reduces only
  /// the columns that it has.
  Result<void> reduce(Text& text, const Variable& array, ir::OpId reduction, bool in_parts);
  /// Stores through pointers, and atomics: each element by one thread that holds it. Neighbours are
  /// stored in one piece where the text proves that they lie together.
  Result<void> store(Text& text, ir::OpId store);

  /// One element of a matrix that is no fragment: its row and column, and its index in the arrays
  /// of vectors that `find` returns. Names or numbers.
  struct Place {
    std::string row, column;
    std::string row_slot, column_slot;
  };
  /// Expressions for the elements of `values` at one place, all matrices or vectors of one such
  /// matrix; their sources are printed first.
  Result<std::vector<std::string>> at(Text& text, const std::vector<ir::ValueId>& values,
                                      const Place& place);

 private:
  enum class Axis { rows, columns, one };
  using Axes = std::vector<Axis>;

  struct Frame {
    Shape shape;
    std::string index;                                          ///< index of the thread's element
    std::map<std::pair<ir::ValueId, bool>, std::string> known;  ///< by value, transposed
    Text* text = nullptr;
    std::string suffix;            ///< suffix of the names of values that are computed here
    const Place* place = nullptr;  ///< place of the element; null: the element is part of a
                                   ///< fragment
  };

  // stores.cpp
  Result<std::string> writes_by(ir::OpId store) const;
  Result<void> store_together(Text& text, ir::OpId store, const Shape& shape, int together);

  Result<std::string> packed_pair(Frame& frame, const Assignment& assignment);
  Axes axes_of(ir::ValueId value) const;
  Axes axes_at(ir::ValueId value) const;
  Result<std::string> element(Frame& frame, ir::ValueId value, const Axes& axes);
  Result<std::string> computed(Frame& frame, const ir::Op& op, ir::ValueId value, const Axes& axes);
  Result<std::string> half(Frame& frame, ir::ValueId value, const Axes& axes);
  Result<std::string> loaded(Frame& frame, ir::OpId load, const Axes& axes);
  std::string named(Frame& frame, ir::ValueId value, const Axes& axes,
                    const std::string& text) const;
  Result<std::string> stored(Frame& frame, const Found& found, ir::ValueId value, const Axes& axes);
  std::string row_slot(const Frame& frame) const;
  std::string column_slot(const Frame& frame) const;
  std::string row_number(const Frame& frame) const;
  std::string column_number(const Frame& frame) const;

  const View& view_;
  Scalars& scalars_;
  int part_;
  std::string iteration_;
  Find find_;
};

}  // namespace twill::emit::cuda
