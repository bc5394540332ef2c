#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace twill::tasks {

/// Random kernels in text: a grid of blocks, each with a loop over products and random leaves
/// around the products. Sizes leave ragged ends.
class RandomKernel {
 public:
  explicit RandomKernel(std::uint64_t seed) : random_(seed) { make(); }

  const std::string& text() const { return text_; }
  const std::map<std::string, std::int64_t>& sizes() const { return sizes_; }
  const std::array<std::int64_t, 3>& grid() const { return grid_; }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }
  bool maybe() { return below(2) == 0; }
  template <std::size_t count>
  const char* one_of(const std::array<const char*, count>& all) {
    return all[below(count)];
  }

  /// An f32 tile computed from the sums `S` and the operands of an epilogue.
  std::string finished() {
    static constexpr std::array<const char*, 9> kAll = {
        "S",
        "S * 0.5 + row(bias)",
        "max(S + row(bias), 0)",
        "S * column(scale)",
        "S + cast(f32, D)",
        "select(column(iota(M)) + i >= row(iota(N)) + j, S, 0)",
        "select(S < 0, S * 0.125, S) * column(scale) + row(bias)",
        "S / (1 + exp(0 - S))",
        "(S - column(row_sum(S)) * 0.0625) * 0.5"};
    const std::string made = one_of(kAll);
    return halves_ && made == kAll.back() ? "S" : made;  // needs all columns at once
  }

  /// Chooses the cut of A's rows, and the number of rows as a size.
  void cut_rows() {
    switch (below(4)) {
      case 0:
        rows_ = "R";
        of_rows_ = "windows({0}, U, K by U, K)[i - 1, 0]";
        break;
      case 1:
        rows_ = "R";
        of_rows_ = "windows({0}, U, K by U * 2, K every 2, 1)[i, 0]";
        break;
      default:
        rows_ = "M";
        of_rows_ = "blocks({0}, U, K)[i, 0]";
    }
  }

  std::string product() {
    static constexpr std::array<const char*, 4> kLeft = {"A", "A", "cast(f16, cast(f32, A) * 0.5)",
                                                         "cast(f16, cast(f32, A) + cast(f32, A))"};
    const std::string mma = fmt::format("mma({}, transpose(B)", one_of(kLeft));
    return maybe() ? fmt::format("S = {}, S * 0.5)", mma) : fmt::format("S += {})", mma);
  }

  /// Tasks of a loop that adds one product in an iteration.
  std::string one_product() {
    std::string tasks = fmt::format(
        "task add(updates S: f32[M, N], updates s: f32[M], reads A: f16[M, K], reads B: f16[N, "
        "K])\n"
        "leaf add.l {{ {}  s = s + {} }}\n",
        product(), maybe() ? "row_sum(cast(f32, A))" : "0.25");
    const std::string launch = "add(S, s, blocks(A, M, W)[0, k], blocks(B, N, W)[0, k])";
    switch (below(5)) {
      case 0:
        tasks += fmt::format(
            "task more(updates S: f32[M, N], updates s: f32[M], reads A: f16[M, K], reads B: "
            "f16[N, "
            "K])\nleaf more.l {{ {} }}\n",
            product());
        loop_ = fmt::format("srange k < cdiv(K, W) {{ if k < 1 {{ {0} }} else {{ more{1} }} }}",
                            launch, launch.substr(3));
        break;
      case 1:
        loop_ = fmt::format("srange r < 2, k < cdiv(K, W) {{ {} }}", launch);
        break;
      case 2:
        loop_ = fmt::format(
            "srange k < cdiv(K, W) {{ prange g < M / 64 {{ add(blocks(S, 64, N)[g, 0], blocks(s, "
            "64)[g], blocks(blocks(A, M, W)[0, k], 64, W)[g, 0], blocks(B, N, W)[0, k]) }} }}");
        break;
      case 3:
        halves_ = true;
        tasks += fmt::format(
            "task half(updates S: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])\n"
            "leaf half.l {{ {} }}\n",
            product());
        loop_ = fmt::format(
            "srange k < cdiv(K, W) {{ {}  prange h < 2 {{ half(blocks(S, M, N / 2)[0, h], "
            "blocks(A, "
            "M, W)[0, k], blocks(blocks(B, N, W)[0, k], N / 2, W)[h, 0]) }} }}",
            launch);
        break;
      default:
        loop_ = fmt::format("srange k < cdiv(K, W) {{ {} }}", launch);
    }
    return tasks;
  }

  /// Tasks of a loop whose second product reads the result of the first.
  std::string two_products() {
    static constexpr std::array<const char*, 4> kBetween = {
        "T * 0.25", "max(T, 0)", "exp2(T * 0.0625 - 2)", "select(T < 0, 0, T)"};
    loop_ =
        "srange k < cdiv(Q, W) {\n    T = tensor f32[M, W]\n    P = tensor f16[M, W]\n"
        "    first(T, A, blocks(G, W, K)[k, 0])\n    between(P, s, T)\n"
        "    second(S, P, blocks(B, N, W)[0, k])\n  }";
    return fmt::format(
        "task first(writes T: f32[M, N], reads A: f16[M, K], reads G: f16[N, K])\n"
        "task between(writes P: f16[M, N], updates s: f32[M], reads T: f32[M, N])\n"
        "task second(updates S: f32[M, N], reads P: f16[M, K], reads B: f16[N, K])\n"
        "leaf first.l {{ T = mma(A, transpose(G)) }}\n"
        "leaf between.l {{ p = {}  s = s + row_sum(T)  P = cast(f16, p) }}\n"
        "leaf second.l {{ S += mma(P, transpose(B)) }}\n",
        one_of(kBetween));
  }

  void make() {
    const bool chained = below(3) == 0, batched = below(3) == 0;
    const std::string type = one_of(std::array{"f16", "bf16", "f32"});
    const std::size_t use = below(type == "f32" ? 5 : 2);
    static constexpr std::array kPrivileges = {"writes", "updates", "reduces(+)", "reduces(max)",
                                               "reduces(min)"};
    static constexpr std::array kAssignments = {"=", "=", "+=", "max=", "min="};
    const std::string privilege = kPrivileges[use];
    cut_rows();
    const std::string tasks = chained ? two_products() : one_product();
    const std::string depth = chained ? "Q" : "K";
    const std::string batch = batched ? "L, " : "";
    const auto of = [&](const char* name) {
      return batched ? fmt::format("pick({}, l)", name) : std::string(name);
    };
    text_ = fmt::format("task t({0} C: {1}[{2}M, N], reads A: f16[{2}{3}, K], reads B: f16[N, {4}]",
                        privilege, type, batch, rows_, depth);
    if (chained) text_ += ", reads G: f16[Q, K]";
    text_ += ", reads D: f16[M, N], reads bias: f32[N], reads scale: f32[M])\n";
    text_ += fmt::format("task part({} C: {}[M, N], reads A: f16[M, K], reads B: f16[N, {}]",
                         privilege, type, depth);
    if (chained) text_ += ", reads G: f16[Q, K]";
    text_ +=
        ", reads D: f16[M, N], reads bias: f32[N], reads scale: f32[M], position i, position j)\n";
    text_ += "task begin(writes S: f32[M, N], writes s: f32[M], reads bias: f32[N])\n" + tasks +
             fmt::format(
                 "task end({} C: {}[M, N], reads S: f32[M, N], reads s: f32[M], reads D: f16[M, "
                 "N], reads bias: f32[N], reads scale: f32[M], position i, position j)\n",
                 privilege, type);
    text_ += fmt::format(
        "inner t.host tunable U, V {{\n  prange i < cdiv(M, U), j < cdiv(N, V){0} {{\n    "
        "part(blocks"
        "({1}, U, V)[i, j], {2}, blocks(B, V, {3})[j, 0]{4}, blocks(D, U, V)[i, j], blocks(bias, "
        "V)[j], blocks(scale, U)[i], i * U, j * V)\n  }}\n}}\n",
        batched ? ", l < L" : "", of("C"), fmt::format(fmt::runtime(of_rows_), of("A")), depth,
        chained ? ", G" : "");
    text_ += fmt::format(
        "inner part.block tunable W {{\n  S = tensor f32[M, N]\n  s = tensor f32[M]\n"
        "  begin(S, s, bias)\n  {}\n  end(C, S, s, D, bias, scale, i, j)\n}}\n",
        loop_);
    text_ += fmt::format("leaf begin.l {{ S = {}  s = 0 }}\n", maybe() ? "0" : "row(bias)");
    const std::string made =
        fmt::format("cast({}, {}{})", type, finished(), maybe() ? " + column(s)" : "");
    text_ += fmt::format("leaf end.l {{ C {} {}{} }}\n", kAssignments[use],
                         use == 1 ? "C * 0.5 + " : "", made);
    choose_sizes(chained, batched);
  }

  void choose_sizes(bool chained, bool batched) {
    const std::int64_t u = 64 * static_cast<std::int64_t>(1 + below(2));
    const std::int64_t v = std::array{16, 32, 64, 80}[below(4)];
    const std::int64_t w = std::array{16, 32, 64}[below(3)];
    const auto size = [&] { return static_cast<std::int64_t>(1 + below(150)); };
    sizes_ = {{"M", size()}, {"N", size()}, {"K", size()}, {"Q", size()}, {"R", size()}};
    if (chained) sizes_["K"] = w;
    sizes_["L"] = batched ? 2 : 1;
    const auto parts = [](std::int64_t of, std::int64_t by) { return (of + by - 1) / by; };
    grid_ = {parts(sizes_["M"], u), parts(sizes_["N"], v), sizes_["L"]};
    text_ += fmt::format("map m for t on h200 {{ U = {} V = {} W = {}", u, v, w);
    if (chained) text_ += fmt::format(" K = {}", w);
    text_ += " }\n";
  }

  std::mt19937_64 random_;
  std::string text_, loop_, rows_, of_rows_;
  bool halves_ = false;  ///< columns of the sums are cut
  std::map<std::string, std::int64_t> sizes_;
  std::array<std::int64_t, 3> grid_{1, 1, 1};
};

}  // namespace twill::tasks
