#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "twill/certify/certificate.h"
#include "twill/certify/provenance.h"

/// Claims about the choices of values for the holes of a mapping. Claim: no main loop takes fewer
/// cycles for its products than the loop of the best choice.
namespace twill::certify {

/// Problem of a choice for a pool of warp groups, with every op at its fastest.
struct TilePool {
  std::string folder;  ///< folder of its certificate
  std::string hash;    ///< schedule::problem_hash
  std::string pool;    ///< name of the pool
};

/// Choice of values, and facts about its kernel.
struct Tile {
  std::vector<std::int64_t> values;  ///< by hole
  std::int64_t work = 0;             ///< multiplications and additions of an iteration's products
  std::vector<TilePool> pools;       ///< empty if the choice makes no kernel
};

struct TileHole {
  std::string name;
  std::vector<std::int64_t> values;
};

/// Claims over all tiles, one of which is the best. Its simulated loop takes at most this many
/// thousandths of a cycle for an iteration.
struct TileClaims {
  Provenance from;  ///< for the `.task` text with the mapping that has the holes; `posed` is empty
  std::vector<TileHole> holes;
  std::vector<Tile> tiles;  ///< each choice once, the last hole fastest
  std::size_t best = 0;
  std::int64_t thousandths = 0;
};

inline constexpr std::string_view kTilesFile = "tiles";

/// Folder of a pool's certificate.
std::string folder_of_tile(std::size_t tile, std::size_t pool);

std::string print_tiles(const TileClaims& claims);
Result<TileClaims> parse_tiles(std::string_view text, const std::string& file);

/// Checks that all choices are there, the certificate of each bound, and that no bound is below the
/// cycles of the best tile. `anew` are the claims that the input at hand leads to, which must be
/// equal. If `anew` is null, the lines report it. Fails if a file is missing or cannot be read.
Result<Checked> check_tiles(const Files& files, const TileClaims* anew = nullptr);

}  // namespace twill::certify
