// Tasks in C++, printed as text: docs/tasks.md shows this program.
#include <cstdio>
#include <string>

#include <twill/tasks/tasks.h>

using namespace twill::tasks::cpp;

int main() {
  Task layer("layer", {writes("C", f16, {"M", "N"}), reads("A", f16, {"M", "K"}), reads("B", f16, {"K", "N"})});
  Task add("add", {updates("acc", f32, {"M", "N"}), reads("A", f16, {"M", "K"}), reads("B", f16, {"K", "N"})});
  Task clear("clear", {writes("acc", f32, {"M", "N"})});
  Task silu("silu", {writes("C", f16, {"M", "N"}), reads("acc", f32, {"M", "N"})});

  layer.inner("host", [&](Inner& t, Tensor C, Tensor A, Tensor B) {
    const Size U = t.tunable("U"), V = t.tunable("V"), K = A.extent(1);
    const Partition Cp = blocks(C, {U, V}), Ap = blocks(A, {U, K}), Bp = blocks(B, {K, V});
    t.prange({cdiv(C.extent(0), U), cdiv(C.extent(1), V)}, [&](Size i, Size j) {
      t.launch(layer, Cp(i, j), Ap(i, 0), Bp(0, j));
    });
  });
  layer.inner("block", [&](Inner& t, Tensor C, Tensor A, Tensor B) {
    const Size W = t.tunable("W"), M = C.extent(0), N = C.extent(1);
    const Partition Ap = blocks(A, {M, W}), Bp = blocks(B, {W, N});
    const Tensor acc = t.tensor(f32, {M, N}, "acc");
    t.launch(clear, acc);
    t.srange(cdiv(A.extent(1), W), [&](Size k) { t.launch(add, acc, Ap(0, k), Bp(k, 0)); });
    t.launch(silu, C, acc);
  });
  add.leaf("mma", [](Leaf&, Slot acc, Slot A, Slot B) { acc += mma(A, B); });
  clear.leaf("zero", [](Leaf&, Slot acc) { acc = 0; });
  silu.leaf("exact", [](Leaf&, Slot C, Slot acc) { C = cast(f16, acc / (1 + exp(-acc))); });

  const auto library = library_of({layer, add, clear, silu});
  if (!library) {
    std::fputs((twill::to_string(library.error()) + "\n").c_str(), stderr);
    return 1;
  }
  Map fast("fast", layer, "h200");
  fast.set("U", 128).set("V", 256).set("W", 64);
  std::fputs(twill::tasks::print_tasks({*library, {fast.value()}}).c_str(), stdout);
}
