#pragma once

#include <cstdint>
#include <vector>

#include "twill/emit/cuda/view.h"
#include "twill/ir/runs.h"

/// Internal to the CUDA printer: neighbours in memory that threads access in one piece, where the
/// text proves that they lie together.
namespace twill::emit::cuda {

/// Columns in four groups of 8, of which each lane of a quad stores one.
inline constexpr std::int64_t kColumnsOfQuad = 32;

/// Bytes of the longest chunks in which a load can be copied along a dimension: 16, 8 or 4, of
/// 16-bit elements. 0: the load cannot be copied in chunks.
std::int64_t bytes_of_chunk(const View& view, ir::OpId load, std::size_t dimension);

/// Neighbours of a row of `shape` that a thread stores at once. Two as the thread holds them, or
/// eight of 16 bits; for eight, the four lanes of a row exchange their elements.
int stored_at_once(const View& view, ir::OpId store, const Shape& shape);

/// Vectorised accesses of the kernel. Precondition: the kernel can be printed.
std::vector<ir::Piece> pieces_of(const View& view);

}  // namespace twill::emit::cuda
