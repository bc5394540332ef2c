// Two kernels from tasks in C++, scheduled and printed in the same program: docs/tasks.md.
#include <cstdio>
#include <string>
#include <twill/driver/emit_cuda.h>
#include <twill/driver/emit_ttgir.h>
#include <twill/report/summary.h>
#include <twill/tasks/tasks.h>
#include <vector>

using namespace twill::tasks::cpp;

namespace {

/// Y = silu(X W + b) for each matrix of a batch.
twill::Result<twill::tasks::TaskText> layers() {
  Task layers("layers", {writes("Y", f16, {"L", "M", "N"}), reads("X", f16, {"L", "M", "K"}),
                         reads("W", f16, {"L", "K", "N"}), reads("b", f16, {"N"})});
  Task layer("layer", {writes("Y", f16, {"M", "N"}), reads("X", f16, {"M", "K"}),
                       reads("W", f16, {"K", "N"}), reads("b", f16, {"N"})});
  Task clear("clear", {writes("acc", f32, {"M", "N"})});
  Task add("add", {updates("acc", f32, {"M", "N"}), reads("X", f16, {"M", "K"}),
                   reads("W", f16, {"K", "N"})});
  Task silu("silu",
            {writes("Y", f16, {"M", "N"}), reads("acc", f32, {"M", "N"}), reads("b", f16, {"N"})});

  layers.inner("host", [&](Inner& t, Tensor Y, Tensor X, Tensor W, Tensor b) {
    const Size BM = t.tunable("BM"), BN = t.tunable("BN"), K = X.extent(2);
    t.prange(
        {cdiv(Y.extent(1), BM), cdiv(Y.extent(2), BN), Y.extent(0)}, [&](Size i, Size j, Size l) {
          t.launch(layer, blocks(pick(Y, l), {BM, BN})(i, j), blocks(pick(X, l), {BM, K})(i, 0),
                   blocks(pick(W, l), {K, BN})(0, j), blocks(b, {BN})(j));
        });
  });
  layer.inner("block", [&](Inner& t, Tensor Y, Tensor X, Tensor W, Tensor b) {
    const Size BK = t.tunable("BK"), M = Y.extent(0), N = Y.extent(1);
    const Tensor acc = t.tensor(f32, {M, N}, "acc");
    t.launch(clear, acc);
    t.srange(cdiv(X.extent(1), BK), [&](Size k) {
      t.launch(add, acc, blocks(X, {M, BK})(0, k), blocks(W, {BK, N})(k, 0));
    });
    t.launch(silu, Y, acc, b);
  });
  clear.leaf("zero", [](Leaf&, Slot acc) { acc = 0; });
  add.leaf("mma", [](Leaf&, Slot acc, Slot X, Slot W) { acc += mma(X, W); });
  silu.leaf("exact", [](Leaf&, Slot Y, Slot acc, Slot b) {
    const Value x = acc + row(cast(f32, b));
    Y = cast(f16, x / (1 + exp(-x)));
  });

  Map fast("fast", layers, "h200");
  fast.set("BM", 128).set("BN", 128).set("BK", 64);
  auto library = library_of({layers, layer, clear, add, silu});
  if (!library) return tl::unexpected(library.error());
  return twill::tasks::TaskText{*library, {fast.value()}};
}

/// Attention whose scores are kept below 30 by a tanh.
twill::Result<twill::tasks::TaskText> attention() {
  Task attention("attention", {writes("O", f16, {"M", "D"}), reads("Q", f16, {"M", "D"}),
                               reads("K", f16, {"N", "D"}), reads("V", f16, {"N", "D"})});
  Task begin("begin",
             {writes("acc", f32, {"M", "D"}), writes("m", f32, {"M"}), writes("l", f32, {"M"})});
  Task scores("scores", {writes("S", f32, {"M", "N"}), reads("Q", f16, {"M", "D"}),
                         reads("K", f16, {"N", "D"})});
  Task cap("cap", {updates("S", f32, {"M", "N"})});
  Task softmax("softmax",
               {writes("P", f16, {"M", "N"}), updates("m", f32, {"M"}), updates("l", f32, {"M"}),
                writes("alpha", f32, {"M"}), reads("S", f32, {"M", "N"})});
  Task weigh("weigh", {updates("acc", f32, {"M", "D"}), reads("alpha", f32, {"M"}),
                       reads("P", f16, {"M", "N"}), reads("V", f16, {"N", "D"})});
  Task finish("finish", {writes("O", f16, {"M", "D"}), reads("acc", f32, {"M", "D"}),
                         reads("l", f32, {"M"})});

  attention.inner("host", [&](Inner& t, Tensor O, Tensor Q, Tensor K, Tensor V) {
    const Size BM = t.tunable("BM"), D = Q.extent(1);
    t.prange({cdiv(Q.extent(0), BM)}, [&](Size i) {
      t.launch(attention, blocks(O, {BM, D})(i, 0), blocks(Q, {BM, D})(i, 0), K, V);
    });
  });
  attention.inner("block", [&](Inner& t, Tensor O, Tensor Q, Tensor K, Tensor V) {
    const Size BN = t.tunable("BN"), M = Q.extent(0), D = Q.extent(1);
    const Partition Kp = blocks(K, {BN, D}, Edge::exact), Vp = blocks(V, {BN, D}, Edge::exact);
    const Tensor acc = t.tensor(f32, {M, D}, "acc"), m = t.tensor(f32, {M}, "m"),
                 l = t.tensor(f32, {M}, "l");
    t.launch(begin, acc, m, l);
    t.srange(K.extent(0) / BN, [&](Size n) {
      const Tensor S = t.tensor(f32, {M, BN}, "S"), P = t.tensor(f16, {M, BN}, "P"),
                   alpha = t.tensor(f32, {M}, "alpha");
      t.launch(scores, S, Q, Kp(n, 0));
      t.launch(cap, S);
      t.launch(softmax, P, m, l, alpha, S);
      t.launch(weigh, acc, alpha, P, Vp(n, 0));
    });
    t.launch(finish, O, acc, l);
  });
  begin.leaf("zero", [](Leaf&, Slot acc, Slot m, Slot l) {
    acc = 0;
    m = -1e30;
    l = 0;
  });
  scores.leaf("mma", [](Leaf&, Slot S, Slot Q, Slot K) { S = mma(Q, transpose(K)); });
  cap.leaf("tanh", [](Leaf&, Slot S) { S = 30 * tanh(S * (0.125 / 30)); });
  softmax.leaf("online", [](Leaf&, Slot P, Slot m, Slot l, Slot alpha, Slot S) {
    const Value scaled = S * 1.4426950408889634, top = max(m, row_max(scaled));
    const Value p = exp2(scaled - column(top)), a = exp2(m - top);
    alpha = a;
    l = l * a + row_sum(p);
    m = top;
    P = cast(f16, p);
  });
  weigh.leaf("mma", [](Leaf&, Slot acc, Slot alpha, Slot P, Slot V) {
    acc = mma(P, V, acc * column(alpha));
  });
  finish.leaf("divide", [](Leaf&, Slot O, Slot acc, Slot l) { O = cast(f16, acc / column(l)); });

  Map fast("fast", attention, "h200");
  fast.set("BM", 128).set("BN", 128).set("D", 128);
  auto library = library_of({attention, begin, scores, cap, softmax, weigh, finish});
  if (!library) return tl::unexpected(library.error());
  return twill::tasks::TaskText{*library, {fast.value()}};
}

int refuse(const twill::Diagnostic& why) {
  std::fputs((twill::to_string(why) + "\n").c_str(), stderr);
  return 1;
}

/// Schedules, and prints for Triton and as CUDA C++.
int show(const twill::Result<twill::tasks::TaskText>& tasks) {
  if (!tasks) return refuse(tasks.error());
  twill::driver::Request request;
  auto input = twill::driver::input_of(*tasks);
  if (!input) return refuse(input.error());
  request.input = *input;
  const auto module = twill::driver::emit_ttgir(request);
  if (!module) return refuse(module.error());
  const auto cuda = twill::driver::emit_cuda(request);
  if (!cuda) return refuse(cuda.error());
  std::fputs(twill::report::summary(module->planned.outcome, {}).c_str(), stdout);
  std::printf("%zu bytes of TTGIR, %zu of CUDA C++\n\n", module->text.size(),
              cuda->files.at("kernel.cu").size());
  return 0;
}

}  // namespace

int main() { return show(layers()) + show(attention()); }
