#include <string>

#include <fmt/format.h>

#include "twill/frontend/tasks/lowering.h"

/// Atomics: tiles that are combined with the contents of global memory.
namespace twill::frontend::from_tasks {

using tasks::Where;

namespace {

/// Bytes of the largest tile that TMA adds: it is staged in shared memory, which loads also need.
constexpr std::int64_t kMostStaged = 64 * 1024;

std::int64_t bytes_of_tile(const TileType& type) {
  std::int64_t bytes = bytes_of(type.scalar);
  for (const std::int64_t extent : type.shape) bytes *= extent;
  return bytes;
}

}  // namespace

Result<void> Lowering::reduce(tasks::Function by, const Place& place, const std::string& tile,
                              const Where& where) {
  TWILL_TRY(const TileType type, type_of(place, where));
  const auto box = written_box(place, type);
  // A row that is no multiple of panels has columns in two panels, which would be added twice.
  const bool fills = box && box->shape.back() * bytes_of(box->scalar) % kPanel == 0;
  if (fills && by == tasks::Function::add && bytes_of_tile(*box) <= kMostStaged) {
    write_box("tt.descriptor_reduce add,", place, type, *box, tile, where);
    return {};
  }
  const std::size_t scope = state_.text.innermost();
  const Pointers to = pointers(place, type, scope, where);
  const std::string condition = tensor_text(type, "i1");
  const auto put = [&](const std::string& name, const std::string& text) {
    return state_.text.put(scope, name, text, where);
  };
  const auto update = [&](const char* how, const std::string& addresses, const std::string& value,
                          const std::string& mask, const std::string& pointer,
                          const std::string& types) {
    put("a", fmt::format("tt.atomic_rmw {}, relaxed, gpu, {}, {}, {} : ({}, {}, {}) -> {}", how,
                         addresses, value, mask, pointer, types, condition, types));
  };
  if (by == tasks::Function::add) {
    update(is_whole(type.scalar) ? "add" : "fadd", to.addresses, tile, to.mask, to.type,
           tensor_text(type));
    return {};
  }
  // Compares floating-point numbers as integers. Numbers from 0 on keep their order. Negative
  // numbers have the opposite order, and are above all others as unsigned integers.
  const std::string whole = tensor_text(type, "i32"), pointer = tensor_text(type, "!tt.ptr<i32>");
  const std::string bits =
      put("b", fmt::format("tt.bitcast {} : {} -> {}", tile, tensor_text(type), whole));
  const std::string addresses =
      put("p", fmt::format("tt.bitcast {} : {} -> {}", to.addresses, to.type, pointer));
  const std::string zero =
      state_.text.once(0, "v", fmt::format("arith.constant dense<0> : {}", whole), where);
  const bool greatest = by == tasks::Function::max;
  for (const bool positive : {true, false}) {
    const std::string side = put("in", fmt::format("arith.cmpi {}, {}, {} : {}",
                                                   positive ? "sge" : "slt", bits, zero, whole));
    const std::string mask =
        put("in", fmt::format("arith.andi {}, {} : {}", to.mask, side, condition));
    const char* how = positive ? (greatest ? "max" : "min") : (greatest ? "umin" : "umax");
    update(how, addresses, bits, mask, pointer, whole);
  }
  return {};
}

}  // namespace twill::frontend::from_tasks
