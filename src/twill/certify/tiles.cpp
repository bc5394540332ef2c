#include "twill/certify/tiles.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "twill/certify/files.h"
#include "twill/certify/words.h"

namespace twill::certify {
namespace {

constexpr std::size_t kMostTiles = 4096;
constexpr std::size_t kMostValues = 4096;

std::string words_of(const std::vector<std::int64_t>& values) {
  return fmt::format("{}", fmt::join(values, " "));
}

/// Lists the values of a tile: "U = 128, V = 256".
std::string in_words(const TileClaims& claims, const Tile& tile) {
  std::string out;
  for (std::size_t h = 0; h < claims.holes.size(); ++h) {
    out += fmt::format("{}{} = {}", h > 0 ? ", " : "", claims.holes[h].name, tile.values[h]);
  }
  return out.empty() ? "the mapping as it stands" : out;
}

class TilesReader {
 public:
  TilesReader(std::string_view text, const std::string& file) : in_(text, file) {}

  Result<TileClaims> read() {
    TWILL_TRY_VOID(read_heading(in_, "twill-tiles", 1));
    while (in_.next_line()) {
      const std::string_view word = in_.word();
      if (word == "end") {
        TWILL_TRY_VOID(in_.finish());
        return ended();
      }
      TWILL_TRY(const bool known, read_provenance_line(in_, word, out_.from));
      if (!known) {
        TWILL_TRY_VOID(read_line(word));
      }
      TWILL_TRY_VOID(in_.finish());
    }
    return in_.fail("the claims do not end with `end`");
  }

 private:
  Result<std::vector<std::int64_t>> values() {
    std::vector<std::int64_t> all;
    while (!in_.at_end()) {
      TWILL_TRY(const std::int64_t value, in_.number(1, kLargest));
      if (all.size() == kMostValues) return in_.fail("has too many values");
      all.push_back(value);
    }
    return all;
  }

  Result<void> read_line(std::string_view word) {
    if (word == "hole") {
      if (!out_.tiles.empty()) return in_.fail("holes come before tiles");
      TileHole hole{std::string(in_.word()), {}};
      TWILL_TRY(hole.values, values());
      if (hole.values.empty()) return in_.fail("a hole has values");
      out_.holes.push_back(std::move(hole));
      return {};
    }
    if (word == "best") {
      if (out_.thousandths > 0) return in_.fail("there is a line `best` already");
      TWILL_TRY(const std::int64_t number, in_.number(1, std::int64_t{kMostTiles}));
      out_.best = static_cast<std::size_t>(number - 1);
      TWILL_TRY(out_.thousandths, in_.number(1, kLargest));
      return {};
    }
    if (word == "tile") {
      if (out_.tiles.size() == kMostTiles) return in_.fail("has too many tiles");
      Tile tile;
      TWILL_TRY(tile.work, in_.number(0, kLargest));
      TWILL_TRY(tile.values, values());
      if (tile.values.size() != out_.holes.size())
        return in_.fail("a tile has a value for each hole");
      out_.tiles.push_back(std::move(tile));
      return {};
    }
    if (word != "pool" || out_.tiles.empty()) {
      return in_.fail(fmt::format("{} is no claim", quoted(word)));
    }
    Tile& tile = out_.tiles.back();
    TilePool pool;
    pool.folder = folder_of_tile(out_.tiles.size() - 1, tile.pools.size());
    pool.hash = in_.word();
    pool.pool = rest_of(in_);
    tile.pools.push_back(std::move(pool));
    return {};
  }

  Result<TileClaims> ended() {
    if (in_.next_line()) return in_.fail("there is text after `end`");
    if (out_.from.input.empty()) return in_.fail("there is no line `input`");
    if (out_.best >= out_.tiles.size() || out_.thousandths == 0) {
      return in_.fail("there is no line `best` with the number of a tile");
    }
    return std::move(out_);
  }

  WordReader in_;
  TileClaims out_;
};

/// Objection if a choice is missing or superfluous.
std::string objection_to_choices(const TileClaims& claims) {
  std::size_t count = 1;
  for (const TileHole& hole : claims.holes)
    count = std::min(kMostTiles + 1, count * hole.values.size());
  if (count != claims.tiles.size()) {
    return fmt::format("choices: the holes have {} choices of values, and there are {} tiles",
                       count, claims.tiles.size());
  }
  for (std::size_t t = 0; t < count; ++t) {
    std::size_t rest = t;
    for (std::size_t h = claims.holes.size(); h-- > 0;) {
      const auto& values = claims.holes[h].values;
      if (claims.tiles[t].values[h] != values[rest % values.size()]) {
        return fmt::format("choices: tile {} is {}, which is not the next choice", t + 1,
                           in_words(claims, claims.tiles[t]));
      }
      rest /= values.size();
    }
  }
  return {};
}

/// Objection if the input leads to other claims.
std::string objection_to_input(const TileClaims& claims, const TileClaims& anew) {
  if (auto objection = objection_to_provenance(claims.from, anew.from); !objection.empty()) {
    return objection;
  }
  const auto same_hole = [](const TileHole& a, const TileHole& b) {
    return a.name == b.name && a.values == b.values;
  };
  if (!std::equal(claims.holes.begin(), claims.holes.end(), anew.holes.begin(), anew.holes.end(),
                  same_hole)) {
    return "anew: the mapping has other holes";
  }
  if (claims.thousandths < anew.thousandths) {
    return fmt::format("anew: the best is simulated to take {} thousandths of a cycle, not {}",
                       anew.thousandths, claims.thousandths);
  }
  const auto same_pool = [](const TilePool& a, const TilePool& b) {
    return a.hash == b.hash && a.pool == b.pool;
  };
  for (std::size_t t = 0; t < claims.tiles.size(); ++t) {
    const Tile& a = claims.tiles[t];
    const Tile& b = anew.tiles[t];
    if (a.work == b.work &&
        std::equal(a.pools.begin(), a.pools.end(), b.pools.begin(), b.pools.end(), same_pool)) {
      continue;
    }
    return fmt::format("anew: {} makes another kernel than the certificate has",
                       in_words(claims, a));
  }
  return {};
}

/// Wide integer: numbers up to 2^100 are multiplied exactly.
__extension__ typedef unsigned __int128 Wide;  // NOLINT: `using` takes no extension

/// Whether `cycles` for `work` are at least the cycles of the best tile for its own work, in
/// proportion.
bool is_no_better(Cycles cycles, const Tile& tile, const TileClaims& claims) {
  constexpr unsigned kThousand = 1000;
  const auto wide = [](std::int64_t number) { return static_cast<Wide>(number); };
  return wide(cycles) * kThousand * wide(claims.tiles[claims.best].work) >=
         wide(claims.thousandths) * wide(tile.work);
}

Checked rejected(std::string file, std::string objection) {
  Checked out;
  out.rejection = Rejection{std::move(file), 0, std::move(objection)};
  return out;
}

/// Least interval of all pools of a tile; empty if no pool has a schedule.
struct Bounded {
  std::optional<Cycles> bound;
  std::optional<Checked> rejection;
};
Result<Bounded> bound_of(const Files& files, const Tile& tile) {
  Bounded out;
  for (const TilePool& pool : tile.pools) {
    TWILL_TRY(Checked checked, check_folder(files, pool.folder + "/"));
    if (checked.rejection) {
      out.rejection = std::move(checked);
      return out;
    }
    if (checked.hash != pool.hash) {
      out.rejection = rejected(pool.folder + "/" + std::string(kClaimsFile),
                               "hash: is about another problem than the tile has");
      return out;
    }
    if (checked.verdict == schedule::Verdict::infeasible) continue;
    out.bound =
        std::min(out.bound.value_or(std::numeric_limits<Cycles>::max()), checked.interval_bound);
  }
  return out;
}

}  // namespace

std::string folder_of_tile(std::size_t tile, std::size_t pool) {
  return fmt::format("tile-{}-pool-{}", tile + 1, pool + 1);
}

std::string print_tiles(const TileClaims& claims) {
  std::string out = "twill-tiles 1\n" + print_provenance(claims.from);
  for (const TileHole& hole : claims.holes) {
    out += fmt::format("hole {} {}\n", hole.name, words_of(hole.values));
  }
  out += fmt::format("best {} {}\n", claims.best + 1, claims.thousandths);
  for (const Tile& tile : claims.tiles) {
    out += fmt::format("tile {}{}{}\n", tile.work, tile.values.empty() ? "" : " ",
                       words_of(tile.values));
    for (const TilePool& pool : tile.pools)
      out += fmt::format("pool {} {}\n", pool.hash, pool.pool);
  }
  return out + "end\n";
}

Result<TileClaims> parse_tiles(std::string_view text, const std::string& file) {
  return TilesReader(text, file).read();
}

Result<Checked> check_tiles(const Files& files, const TileClaims* anew) {
  const std::string file(kTilesFile);
  const auto found = files.find(file);
  if (found == files.end()) return fail({file}, "is missing");
  TWILL_TRY(const TileClaims claims, parse_tiles(found->second, file));
  std::string objection = objection_to_choices(claims);
  if (objection.empty() && anew != nullptr) objection = objection_to_input(claims, *anew);
  if (!objection.empty()) return rejected(file, std::move(objection));
  if (claims.tiles[claims.best].pools.empty()) return rejected(file, "best: it is no kernel");
  std::size_t kernels = 0, never = 0;
  for (std::size_t t = 0; t < claims.tiles.size(); ++t) {
    const Tile& tile = claims.tiles[t];
    if (tile.pools.empty()) continue;
    ++kernels;
    if (tile.work == 0) return rejected(file, "work: " + in_words(claims, tile) + " has none");
    TWILL_TRY(Bounded bounded, bound_of(files, tile));
    if (bounded.rejection) return *std::move(bounded.rejection);
    if (!bounded.bound) ++never;
    if (t == claims.best || !bounded.bound || is_no_better(*bounded.bound, tile, claims)) continue;
    return rejected(
        file, fmt::format("bound: {} may take only {} cycles for {} operations, and the "
                          "best takes {} thousandths for {}",
                          in_words(claims, tile), *bounded.bound, tile.work, claims.thousandths,
                          claims.tiles[claims.best].work));
  }
  Checked out;
  const char* believed = anew == nullptr ? " (not checked)" : ", posed anew from the input";
  out.lines = {
      fmt::format("choices    {}: {} kernels, {} without a schedule, {} no kernel{}",
                  claims.tiles.size(), kernels, never, claims.tiles.size() - kernels, believed),
      fmt::format("best       {}: {}.{:03} cycles an iteration, simulated{}",
                  in_words(claims, claims.tiles[claims.best]), claims.thousandths / 1000,
                  claims.thousandths % 1000, anew == nullptr ? " (not checked)" : " anew"),
      "together   no choice has a main loop that takes fewer cycles for its products"};
  return out;
}

}  // namespace twill::certify
