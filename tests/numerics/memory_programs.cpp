#include "numerics/memory_programs.h"

#include <algorithm>
#include <regex>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace twill::tests {
namespace {

constexpr const char* kHead = R"(
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#rows = #ttg.slice<{dim = 1, parent = #blocked}>
#columns = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %s: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %t: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %sums: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %bits: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %u: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %d0: i32, %d1: i32, %d2: i64, %d3: i64, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %mine = arith.constant 1048576 : i32
    %tile = arith.constant 4096 : i32
    %half = arith.constant 2048 : i32
    %width = arith.constant 64 : i32
    %wide = arith.constant dense<64> : tensor<64x1xi32, #blocked>
    %all = arith.constant dense<true> : tensor<64x64xi1, #blocked>
    %small = arith.constant dense<1.562500e-02> : tensor<64x64xf32, #mma>
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %thousands = arith.constant dense<4.096000e+03> : tensor<64x64xf32, #blocked>
    %nothing = arith.constant dense<0.000000e+00> : tensor<64x64xf16, #blocked>
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %mine : i32
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #rows>
    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #rows> -> tensor<64x1xi32, #blocked>
    %r2 = arith.muli %r1, %wide : tensor<64x1xi32, #blocked>
    %r3 = tt.broadcast %r2 : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #columns>
    %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32, #columns> -> tensor<1x64xi32, #blocked>
    %k2 = tt.broadcast %k1 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %within = arith.addi %r3, %k2 : tensor<64x64xi32, #blocked>
    %edge = arith.constant dense<2000> : tensor<64x64xi32, #blocked>
    %some = arith.cmpi slt, %within, %edge : tensor<64x64xi32, #blocked>
)";

constexpr const char* kLoop = R"(
    %r_sum, %r_last = scf.for %i = %c0 to %n step %c1 iter_args(%sum_0 = %zero, %last_0 = %nothing) -> (tensor<64x64xf32, #mma>, tensor<64x64xf16, #blocked>)  : i32 {
)";

constexpr const char* kBehind = R"(
    }
)";

constexpr const char* kTail = R"(    %out = tt.addptr %o, %first : !tt.ptr<f32>, i32
    %out1 = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #blocked>
    %out2 = tt.addptr %out1, %within : tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xi32, #blocked>
    %result = ttg.convert_layout %r_sum : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    tt.store %out2, %result : tensor<64x64x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
)";

class Writer {
 public:
  explicit Writer(std::mt19937& random) : random_(random), more_(random) { more_.discard(999); }

  std::string write() {
    const int products = pick(1, 2);
    const int others = pick(1, 4);
    std::vector<bool> is_product(static_cast<std::size_t>(products + others), false);
    for (int i = 0; i < products; ++i) is_product[static_cast<std::size_t>(i)] = true;
    std::shuffle(is_product.begin(), is_product.end(), random_);
    for (const bool is : is_product) is ? product() : other();
    text_ +=
        fmt::format("      scf.yield {}, {} : tensor<64x64xf32, #mma>, tensor<64x64xf16, #blocked>",
                    sum_, last_);
    const std::string loop = std::exchange(text_, "");
    around("%nothing");
    const std::string before = std::exchange(text_, "");
    around("%r_last");
    return kHead + before + kLoop + loop + kBehind + text_ + kTail;
  }

 private:
  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }

  /// Draws one of `many` from a generator of its own, so that other draws stay the same.
  bool seldom(unsigned many) { return more_() % many == 0; }

  /// Moves a tile before or after the loop, from an array of the loop or to an array; seldom.
  void around(const char* tile) {
    last_ = tile;
    if (!seldom(3)) return;
    step_ = seldom(2) ? "%c1" : "%n";
    if (!seldom(3)) last_ = load(array());
    if (seldom(2)) {
      store();
    } else {
      text_ += fmt::format("    tt.store {}, {} : tensor<64x64x!tt.ptr<f16>, #blocked>\n",
                           places("%u", "f16"), last_);
    }
  }

  std::string fresh(const char* stem) { return fmt::format("%{}{}", stem, ++names_); }

  /// Draws the offset of a tile: constant, the next tile in each iteration, or half a tile further.
  std::string offset() {
    const std::string at = fresh("at"), by = fresh("by");
    switch (pick(0, 3)) {
      case 0:
        text_ += fmt::format("      {} = arith.muli {}, %tile : i32\n", by, step_);
        break;
      case 1:
        text_ += fmt::format("      {} = arith.muli {}, %half : i32\n", by, step_);
        break;
      case 2:
        text_ += fmt::format("      {} = arith.addi %half, %c0 : i32\n", by);
        break;
      default:
        text_ += fmt::format("      {} = arith.addi %c0, %c0 : i32\n", by);
        break;
    }
    text_ += fmt::format("      {} = arith.addi %first, {} : i32\n", at, by);
    return at;
  }

  /// Draws a row of the described array, for CTAs that are 256 tiles apart.
  std::string row() {
    const std::string row = fresh("row");
    text_ += fmt::format("      {} = arith.divsi {}, %width : i32\n", row, offset());
    return row;
  }

  /// Makes pointers to a tile of the array.
  std::string places(const std::string& array, const std::string& type) {
    const std::string at = offset();
    const std::string to = fresh("to"), all = fresh("all"), tile = fresh("p");
    text_ += fmt::format("      {} = tt.addptr {}, {} : !tt.ptr<{}>, i32\n", to, array, at, type);
    text_ +=
        fmt::format("      {} = tt.splat {} : !tt.ptr<{}> -> tensor<64x64x!tt.ptr<{}>, #blocked>\n",
                    all, to, type, type);
    text_ += fmt::format(
        "      {} = tt.addptr {}, %within : tensor<64x64x!tt.ptr<{}>, #blocked>, "
        "tensor<64x64xi32, #blocked>\n",
        tile, all, type);
    return tile;
  }

  std::string array() { return pick(0, 2) == 0 ? "%t" : "%s"; }

  std::string load(const std::string& from) {
    const bool described = from != "%b" && seldom(8);
    const std::string where = described ? row() : places(from, "f16"), value = fresh("l");
    if (described) {
      text_ += fmt::format(
          "      {} = tt.descriptor_load %d[{}, %c0] : !tt.tensordesc<tensor<64x64xf16, #shared>> "
          "-> tensor<64x64xf16, #blocked>\n",
          value, where);
      return value;
    }
    text_ += fmt::format("      {} = tt.load {}{} : tensor<64x64x!tt.ptr<f16>, #blocked>\n", value,
                         where, pick(0, 3) == 0 ? ", %some, %nothing" : "");
    return value;
  }

  /// Adds a store, now and then of a part of the tile, or in every second iteration.
  void store() {
    if (seldom(8)) {
      text_ += fmt::format(
          "      tt.descriptor_store %d[{}, %c0], {} : !tt.tensordesc<tensor<64x64xf16, #shared>>, "
          "tensor<64x64xf16, #blocked>\n",
          row(), last_);
      return;
    }
    const std::string where = places(array(), "f16");
    const bool branches = pick(0, 7) == 0;
    if (branches) {
      const std::string low = fresh("low"), even = fresh("even");
      text_ += fmt::format("      {} = arith.andi {}, %c1 : i32\n", low, step_);
      text_ += fmt::format("      {} = arith.cmpi eq, {}, %c0 : i32\n", even, low);
      text_ += fmt::format("      scf.if {} {{\n", even);
    }
    text_ += fmt::format("      tt.store {}, {}{} : tensor<64x64x!tt.ptr<f16>, #blocked>\n", where,
                         last_, pick(0, 3) == 0 ? ", %some" : "");
    if (branches) text_ += "      }\n";
  }

  std::string in_shared(const std::string& value) {
    const std::string buffer = fresh("m");
    text_ += fmt::format(
        "      {} = ttg.local_alloc {} : (tensor<64x64xf16, #blocked>) -> "
        "!ttg.memdesc<64x64xf16, #shared, #smem>\n",
        buffer, value);
    return buffer;
  }

  /// Adds the product of two loaded tiles to the sum, or begins a new sum.
  void product() {
    const std::string a = in_shared(load(pick(0, 2) == 0 ? array() : "%a"));
    const std::string b = in_shared(load("%b"));
    const std::string scaled = fresh("x"), made = fresh("d");
    text_ +=
        fmt::format("      {} = arith.mulf {}, %small : tensor<64x64xf32, #mma>\n", scaled, sum_);
    text_ += fmt::format(
        "      {} = ttng.warp_group_dot {}, {}, {} {{inputPrecision = 0 : i32}} : "
        "!ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> "
        "tensor<64x64xf32, #mma>\n",
        made, a, b, pick(0, 2) == 0 ? "%zero" : scaled);
    sum_ = made;
    const std::string half = fresh("h"), moved = fresh("v");
    text_ += fmt::format(
        "      {} = arith.truncf {} : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>\n", half,
        sum_);
    text_ += fmt::format(
        "      {} = ttg.convert_layout {} : tensor<64x64xf16, #mma> -> tensor<64x64xf16, "
        "#blocked>\n",
        moved, half);
    if (pick(0, 3) > 0) last_ = moved;
  }

  void other() {
    const int which = pick(0, 28);
    if (which == 0) {
      text_ += "      gpu.barrier\n";
    } else if (which < 11) {
      store();
    } else if (which < 19) {
      last_ = load(array());
    } else if (which < 23) {
      change_bits();
    } else if (!adds_) {
      add();
    }
  }

  /// Adds an atomic addition, once at most: sums of several are rounded in the order of the
  /// additions.
  void add() {
    adds_ = true;
    const std::string where = places("%sums", "f32"), what = fresh("w"), old = fresh("u");
    text_ += fmt::format(
        "      {} = ttg.convert_layout {} : tensor<64x64xf32, #mma> -> tensor<64x64xf32, "
        "#blocked>\n",
        what, sum_);
    text_ += fmt::format(
        "      {} = tt.atomic_rmw fadd, {}, gpu, {}, {}, %all : "
        "(tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xf32, #blocked>, tensor<64x64xi1, "
        "#blocked>) -> tensor<64x64xf32, #blocked>\n",
        old, pick(0, 3) == 0 ? "acq_rel" : "relaxed", where, what);
  }

  /// Adds atomic operations on integers: operations of one kind commute, others are ordered.
  void change_bits() {
    static constexpr const char* kHow[] = {"or", "and", "xor", "max", "umin"};
    const std::string where = places("%bits", "i32"), moved = fresh("w"), large = fresh("g"),
                      whole = fresh("z"), old = fresh("u");
    text_ += fmt::format(
        "      {} = ttg.convert_layout {} : tensor<64x64xf32, #mma> -> tensor<64x64xf32, "
        "#blocked>\n",
        moved, sum_);
    const char* const drawn = kHow[pick(0, 4)];
    const char* const how = seldom(5) ? "exch" : drawn;
    text_ += fmt::format("      {} = arith.mulf {}, %thousands : tensor<64x64xf32, #blocked>\n",
                         large, moved);
    text_ += fmt::format(
        "      {} = arith.fptosi {} : tensor<64x64xf32, #blocked> to tensor<64x64xi32, "
        "#blocked>\n",
        whole, large);
    text_ += fmt::format(
        "      {} = tt.atomic_rmw {}, relaxed, gpu, {}, {}, %all : "
        "(tensor<64x64x!tt.ptr<i32>, #blocked>, tensor<64x64xi32, #blocked>, tensor<64x64xi1, "
        "#blocked>) -> tensor<64x64xi32, #blocked>\n",
        old, how, where, whole);
  }

  std::mt19937& random_;
  std::mt19937 more_;
  std::string text_;
  std::string sum_ = "%sum_0";
  std::string last_ = "%last_0";
  const char* step_ = "%i";
  int names_ = 0;
  bool adds_ = false;
};

}  // namespace

std::string random_memory_program(std::mt19937& random) { return Writer(random).write(); }

void Refusals::add(const std::optional<Diagnostic>& why) {
  std::string reason = why ? why->message : "no schedule within the limit of work";
  reason = std::regex_replace(reason, std::regex("%[0-9A-Za-z_]+"), "%");
  ++counts_[std::regex_replace(reason, std::regex("[0-9]+"), "N")];
}

int Refusals::count() const {
  int all = 0;
  for (const auto& [reason, times] : counts_) all += times;
  return all;
}

std::string Refusals::to_text() const {
  std::vector<std::pair<int, std::string>> lines;
  for (const auto& [reason, times] : counts_) lines.emplace_back(-times, reason);
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const auto& [times, reason] : lines) text += fmt::format("refused {}: {}\n", -times, reason);
  return text;
}

}  // namespace twill::tests
