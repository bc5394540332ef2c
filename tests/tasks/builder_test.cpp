#include "programs.h"

namespace twill::tasks::cpp {
namespace {

/// gemm.task, written in C++.
Result<TaskText> gemm_in_cpp() {
  Task gemm("gemm", {writes("C", f16, {"M", "N"}), reads("A", f16, {"M", "K"}),
                     reads("B", f16, {"N", "K"})});
  Task gemm_add("gemm_add", {updates("C", f32, {"M", "N"}), reads("A", f16, {"M", "K"}),
                             reads("B", f16, {"N", "K"})});
  Task clear("clear", {writes("C", f32, {"M", "N"})});
  Task store("store", {writes("To", f16, {"M", "N"}), reads("From", f32, {"M", "N"})});

  gemm.inner("host", [&](Inner& t, Tensor C, Tensor A, Tensor B) {
    const Size U = t.tunable("U"), V = t.tunable("V"), K = A.extent(1);
    const Partition Cp = blocks(C, {U, V}), Ap = blocks(A, {U, K}), Bp = blocks(B, {V, K});
    t.prange({cdiv(C.extent(0), U), cdiv(C.extent(1), V)},
             [&](Size i, Size j) { t.launch(gemm, Cp(i, j), Ap(i, 0), Bp(j, 0)); });
  });
  gemm.inner("block", [&](Inner& t, Tensor C, Tensor A, Tensor B) {
    const Size W = t.tunable("W"), M = C.extent(0), N = C.extent(1);
    const Partition Ap = blocks(A, {M, W}), Bp = blocks(B, {N, W});
    const Tensor acc = t.tensor(f32, {M, N}, "acc");
    t.launch(clear, acc);
    t.srange(cdiv(A.extent(1), W), [&](Size k) { t.launch(gemm_add, acc, Ap(0, k), Bp(0, k)); });
    t.launch(store, C, acc);
  });
  gemm_add.leaf("wgmma", [](Leaf&, Slot C, Slot A, Slot B) { C += mma(A, transpose(B)); });
  clear.leaf("zero", [](Leaf&, Slot C) { C = 0; });
  store.leaf("cast", [](Leaf&, Slot To, Slot From) { To = cast(f16, From); });

  TWILL_TRY(Library library, library_of({gemm, gemm_add, clear, store}));
  Map fast("fast", gemm, "h200");
  fast.set("U", 128).set("V", 256).set("W", 64);
  return TaskText{std::move(library), {fast.value()}};
}

// C++ and text are two spellings of one value; only the index of a range has a name of its own.
TEST(Builder, GemmIsTheValueThatItsTextReadsAs) {
  auto made = gemm_in_cpp();
  ASSERT_TRUE(made) << to_string(made.error());
  std::string text = bundled("gemm.task");
  const std::size_t at = text.find("srange k < cdiv(K, W)");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 8, "srange i");
  for (const std::string piece : {"blocks(A, M, W)[0, k]", "blocks(B, N, W)[0, k]"}) {
    const std::size_t found = text.find(piece);
    ASSERT_NE(found, std::string::npos);
    text.replace(found + piece.size() - 2, 1, "i");
  }
  const TaskText read = must_read(text);
  EXPECT_EQ(print_tasks(*made), print_tasks(read));
  EXPECT_EQ(*made, read);
}

// Splits, slices and integers in C++ equal those of the text, and faults of a split are reported.
TEST(Builder, SplitsAndSlices) {
  Task dot("dot",
           {updates("C", i32, {"M", "N"}), reads("A", i8, {"M", "K"}), reads("B", i8, {"N", "K"})});
  dot.split("host", {by("M", "U"), by("N", 32)});
  dot.split("groups", {into("M", "G")});
  dot.inner("upper", [&](Inner& t, Tensor C, Tensor A, Tensor B) {
    t.launch(dot, slice(C, {8, 0}, {64, C.extent(1)}), slice(A, {8, 0}, {64, A.extent(1)}), B);
  });
  dot.leaf("mma", [](Leaf&, Slot C, Slot A, Slot B) { C += mma(A, transpose(B)); });
  const auto library = library_of({dot});
  ASSERT_TRUE(library) << to_string(library.error());
  const TaskText read = must_read(R"(
task dot(updates C: i32[M, N], reads A: i8[M, K], reads B: i8[N, K])
inner dot.host = split M by U, N by 32
inner dot.groups = split M into G
inner dot.upper { dot(slice(C, 64, N from 8, 0), slice(A, 64, K from 8, 0), B) }
leaf dot.mma { C += mma(A, transpose(B)) }
)");
  EXPECT_EQ(*library, read.library);
  Task wrong("wrong", {updates("C", f32, {"M"})});
  wrong.split("host", {by("N", 4)});
  const auto refused = library_of({wrong});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().location.line, __LINE__ - 3);
  EXPECT_NE(refused.error().message.find("T02: there is no size 'N'"), std::string::npos);
}

// Parts, positions, conditions and sums in C++ equal those of the text.
TEST(Builder, PartsPositionsAndConditions) {
  Task all("all", {reduces("C", f32, {"L", "M"}), reads("A", f32, {"L", "M"})});
  Task one("one", {reduces("C", f32, {"M"}), reads("A", f32, {"M"})}, {"i"});
  all.inner("host", [&](Inner& t, Tensor C, Tensor A) {
    t.prange({C.extent(0)}, [&](Size i) {
      const Tensor row = pick(A, i);
      t.when(i < 7, [&] {
        t.launch(one, windows(pick(C, i), {C.extent(1)}, {1}, {2})(0),
                 blocks(row, {A.extent(1)})(0), i * 2);
      });
    });
  });
  one.leaf("masked", [](Leaf& t, Slot C, Slot A, Slot i) {
    const Value position = t.iota("M") + i;
    C += select(both(position < 4, opposite(equal(position, 1))), A, 0);
  });
  const auto library = library_of({all, one});
  ASSERT_TRUE(library) << to_string(library.error());
  const TaskText read = must_read(R"(
task all(reduces(+) C: f32[L, M], reads A: f32[L, M])
task one(reduces(+) C: f32[M], reads A: f32[M], position i)
inner all.host {
  prange i < L {
    if i < 7 { one(windows(pick(C, i), M by 1 every 2)[0], blocks(pick(A, i), M)[0], i * 2) }
  }
}
leaf one.masked {
  position = iota(M) + i
  C += select(and(position < 4, not(position == 1)), A, 0)
}
)");
  EXPECT_EQ(print_tasks({*library, {}}), print_tasks(read));
  EXPECT_EQ(*library, read.library);
}

// A range has as many indices as extents, whose names are none of the signature's; conditions
// compare by all functions.
TEST(Builder, IndicesOfRanges) {
  Task all("all", {writes("C", f32, {"A", "B", "i", "D", "E"})});
  Task one("one", {writes("C", f32, {"i"})}, {"k"});
  all.inner("host", [&](Inner& t, Tensor C) {
    const Size j = t.tunable("j");
    t.prange({"A", "B", 4, "D", "E"}, [&](Size a, Size b, Size c, Size d, Size e) {
      t.when(
          equal(a, 3),
          [&] { t.launch(one, blocks(pick(pick(pick(pick(C, a), b), d, 1), e, 1), {j})(c), 0); },
          [&] { t.launch(one, blocks(pick(pick(pick(pick(C, a), b), d, 1), e, 1), {j})(c), c); });
    });
  });
  one.inner("parts", [&](Inner& t, Tensor C) {
    t.prange({2}, [&](Size n) {
      t.when(unequal(n, 5), [&] { t.launch(one, blocks(C, {7})(n), "k"); });
    });
  });
  one.leaf("zero", [](Leaf&, Slot C, Slot) { C = 0; });
  const auto library = library_of({one, all});
  ASSERT_TRUE(library) << to_string(library.error());
  const TaskText read = must_read(R"(
task one(writes C: f32[i], position k)
inner one.parts { prange j < 2 { if j != 5 { one(blocks(C, 7)[j], k) } } }
leaf one.zero { C = 0 }
task all(writes C: f32[A, B, i, D, E])
inner all.host tunable j {
  prange k < A, i1 < B, j1 < 4, k1 < D, i2 < E {
    if k == 3 {
      one(blocks(pick(pick(pick(pick(C, k), i1), k1, 1), i2, 1), j)[j1], 0)
    } else {
      one(blocks(pick(pick(pick(pick(C, k), i1), k1, 1), i2, 1), j)[j1], j1)
    }
  }
}
)");
  EXPECT_EQ(print_tasks({*library, {}}), print_tasks(read));
  EXPECT_EQ(*library, read.library);
}

// Greatest and least elements, and both arms of a condition.
TEST(Builder, ReductionsAndArms) {
  Task all("all", {reduces_max("y", f32, {"M"}), reduces_min("z", f32, {"M"}),
                   reads("A", f32, {"M", "N"})});
  Task fold("fold", {reduces_max("y", f32, {"M"}), reduces_min("z", f32, {"M"}),
                     reads("A", f32, {"M", "N"})});
  all.inner("parts", [&](Inner& t, Tensor y, Tensor z, Tensor A) {
    t.prange({4}, [&](Size i) {
      t.when(
          i < 2, [&] { t.launch(fold, y, z, A); },
          [&] {
            t.launch(fold, blocks(y, {8})(i), blocks(z, {8})(i), blocks(A, {8, "N"})(i, 0));
          });
    });
  });
  fold.leaf("rows", [](Leaf&, Slot y, Slot z, Slot A) {
    raise(y, row_max(A));
    lower(z, -row_max(-A));
  });
  const auto library = library_of({all, fold});
  ASSERT_TRUE(library) << to_string(library.error());
  const TaskText read = must_read(R"(
task all(reduces(max) y: f32[M], reduces(min) z: f32[M], reads A: f32[M, N])
task fold(reduces(max) y: f32[M], reduces(min) z: f32[M], reads A: f32[M, N])
inner all.parts {
  prange i < 4 {
    if i < 2 { fold(y, z, A) } else { fold(blocks(y, 8)[i], blocks(z, 8)[i], blocks(A, 8, N)[i, 0]) }
  }
}
leaf fold.rows { y max= row_max(A)  z min= -row_max(-A) }
)");
  EXPECT_EQ(print_tasks({*library, {}}), print_tasks(read));
  EXPECT_EQ(*library, read.library);
}

// A user's function in C++ equals the function in text. A function without a meaning is refused at
// its place.
TEST(Builder, FunctionsOfOnesOwn) {
  Task relu("relu", {writes("Y", f32, {"M"}), reads("X", f32, {"M"})});
  relu.leaf("exact", [](Leaf&, Slot Y, Slot X) { Y = max(X, 0); });
  relu.external("fast", "exact", "mine::relu", "code");
  const auto library = library_of({relu});
  ASSERT_TRUE(library) << to_string(library.error());
  const TaskText read = must_read(
      "task relu(writes Y: f32[M], reads X: f32[M])\nleaf relu.exact { Y = max(X, 0) }\n"
      "external relu.fast means exact calls mine::relu \"\"\"code\"\"\"");
  EXPECT_EQ(*library, read.library);
  relu.external("other", "exakt", "mine::relu", "code");
  const auto wrong = library_of({relu});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().location.file, "builder_test.cpp");
  EXPECT_EQ(wrong.error().message.substr(0, 35), "T15: 'relu' has no leaf 'exakt' bef");
  Task other("relu", {writes("Y", f32, {"M"}), reads("X", f32, {"M"})});
  other.leaf("exact", [](Leaf&, Slot Y, Slot X) { Y = max(X, 0); });
  other.external("fast", "exact", "mine::relu", "puts(\"\"\"\");");
  const auto unprintable = library_of({other});
  ASSERT_FALSE(unprintable);
  EXPECT_EQ(unprintable.error().message.substr(0, 31), "T15: the code of 'mine::relu' h");
}

// Parts of a fragment in C++ equal those of the text.
TEST(Builder, PartsByMma) {
  Task add("add", {updates("C", f32, {"M", "N"}), reads("B", f16, {"N", "K"})});
  add.inner("threads", [&](Inner& t, Tensor C, Tensor B) {
    const Size N = C.extent(1);
    const Partition Cp = mma(C, Fragment::c, Level::thread, {64, N, 16});
    const Partition Bp = mma(B, Fragment::b_transposed, Level::thread, {64, N, 16});
    EXPECT_EQ(Cp(0).shape(), (std::vector<Size>{C.extent(0) / 8, N / 4}));
    EXPECT_EQ(Bp(0).shape(), (std::vector<Size>{N / 4, B.extent(1)}));
    t.prange({32}, [&](Size i) { t.launch(add, Cp(i), Bp(i)); });
  });
  add.leaf("none", [](Leaf&, Slot C, Slot) { C = C + 1; });
  const auto library = library_of({add});
  ASSERT_TRUE(library) << to_string(library.error());
  const TaskText read = must_read(R"(
task add(updates C: f32[M, N], reads B: f16[N, K])
inner add.threads {
  prange i < 32 { add(mma(C, c, thread, 64, N, 16)[i], mma(B, bt, thread, 64, N, 16)[i]) }
}
leaf add.none { C = C + 1 }
)");
  EXPECT_EQ(print_tasks({*library, {}}), print_tasks(read));
  EXPECT_EQ(*library, read.library);
}

TEST(Builder, LeafGivesTheGraphOfItsText) {
  Task softmax("softmax",
               {writes("P", f16, {"M", "N"}), updates("m", f32, {"M"}), updates("l", f32, {"M"}),
                writes("alpha", f32, {"M"}), reads("S", f32, {"M", "N"})});
  softmax.leaf("online", [](Leaf&, Slot P, Slot m, Slot l, Slot alpha, Slot S) {
    const Value top = max(m, row_max(S) * 0.125);
    const Value p = exp2(S * 0.125 - column(top));
    alpha = exp2(m - top);
    l = l * alpha + row_sum(p);
    m = top;
    P = cast(f16, p);
  });
  const auto made = library_of({softmax});
  ASSERT_TRUE(made) << to_string(made.error());
  const TaskText read = must_read(R"(
task softmax(writes P: f16[M, N], updates m: f32[M], updates l: f32[M], writes alpha: f32[M], reads S: f32[M, N])
leaf softmax.online {
  top = max(m, row_max(S) * 0.125)
  p = exp2(S * 0.125 - column(top))
  alpha = exp2(m - top)
  l = l * alpha + row_sum(p)
  m = top
  P = cast(f16, p)
}
)");
  EXPECT_EQ(*made, read.library);
}

/// Number of the first line of this file that contains `what`.
int line_with(const std::string& what) {
  std::ifstream file(std::string(TWILL_SOURCE_DIR) + "/tests/tasks/builder_test.cpp");
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.find(what) != std::string::npos) return number;
  }
  return 0;
}

// Faults are reported at their place in the user's source.
TEST(Builder, ErrorsNameTheUsersLineAndColumn) {
  Task copy("copy", {writes("To", f16, {"M"}), reads("From", f16, {"M"})});
  copy.leaf("same", [](Leaf&, Slot To, Slot From) { To = From; });
  Task bad("bad", {updates("C", f16, {"M"}), reads("A", f16, {"M"})});
  bad.inner("twice", [&](Inner& t, Tensor C, Tensor A) {
    t.launch(copy, A, C);  // planted
  });
  const auto made = library_of({copy, bad});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().location.file, "builder_test.cpp");
  EXPECT_EQ(made.error().location.line, line_with("A, C);  // planted"));
  EXPECT_GT(made.error().location.column, 0);
  EXPECT_EQ(made.error().message, "T05: 'copy' writes 'To', but 'bad' only reads 'A'");
}

TEST(Builder, OperandsOfALeafKnowTheirLine) {
  Task bad("bad",
           {writes("C", f32, {"M", "N"}), reads("x", f32, {"M"}), reads("A", f32, {"M", "N"})});
  bad.leaf("sum", [](Leaf&, Slot C, Slot x, Slot A) {
    C = A + x;  // without column
  });
  const auto made = library_of({bad});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().location.line, line_with("C = A + x;  // without"));
  EXPECT_EQ(made.error().message, "T03: '+' of shapes [M, N] and [M]");
}

TEST(Builder, RangeOfOtherIndices) {
  Task zero("zero", {writes("C", f16, {"M"})});
  zero.leaf("all", [](Leaf&, Slot C) { C = 0; });
  Task bad("bad", {writes("C", f16, {"M"})});
  bad.inner("v", [&](Inner& t, Tensor C) {
    t.prange({4, 8}, [&](Size i) { t.launch(zero, blocks(C, {2})(i)); });  // one index
  });
  const auto made = library_of({zero, bad});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().location.line, line_with("// one index"));
  EXPECT_EQ(made.error().message, "T01: the lambda of a range with 2 extents takes 1 index");
}

// A function of numbers alone is refused, as in text.
TEST(Builder, FunctionsOfNumbersAlone) {
  const auto leaf = [](auto body) {
    Task scale("scale", {writes("C", f32, {"M"}), reads("A", f32, {"M"})});
    scale.leaf("v", body);
    const auto made = library_of({scale});
    return made ? "" : made.error().message;
  };
  EXPECT_EQ(leaf([](Leaf&, Slot C, Slot A) { C = A * rsqrt(64); }),
            "T04: 'rsqrt' of numbers alone");
  EXPECT_EQ(leaf([](Leaf&, Slot C, Slot) { C = cast(f32, 0.5); }), "T04: 'cast' of a number");
  EXPECT_EQ(leaf([](Leaf&, Slot C, Slot A) { C = A + max(rsqrt(2), 1); }),
            "T04: 'rsqrt' of numbers alone");
}

TEST(Builder, VariantOfOtherArguments) {
  Task bad("bad", {updates("C", f16, {"M"}), reads("A", f16, {"M"})});
  bad.inner("v", [&](Inner&, Tensor) {});
  const auto made = library_of({bad});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "T02: variant 'v' of 'bad' takes 1 tensors, its task 2");
}

// Mappings in C++ equal those of the text.
TEST(Builder, MappingIsThatOfTheText) {
  Task t("t", {writes("x", f32, {"M"})});
  Map made("m", t, "h200");
  made.set("A", 3).set("B", {8, 16, 24}).depth({2, 3}).specialize().limit_shared(160 * 1024);
  made.entry("top", t, "v").at(Processor::host).set("D", 4).memory("x", Memory::global);
  made.depth(3).specialize(false).calls({"below"});
  made.instance("below", t, "w").memory("x", Memory::shared).swizzle(64);
  EXPECT_EQ(print_mapping(made.value()), R"(map m for t on h200 {
  A = 3
  B = 8..24 by 8
  depth = {2, 3}
  specialize
  limit shared = 160 KiB
  entry top: t.v at host  D = 4  x: global  depth = 3  specialize = no  calls below
  below: t.w  x: shared swizzle 64
}
)");
  const auto read = read_mappings(print_mapping(made.value()), "m.map");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->at(0), made.value());
}

// Statements about an instance are not dropped where there is none.
TEST(Builder, StatementsOfNoInstance) {
  Task t("t", {writes("x", f32, {"M"})});
  t.leaf("zero", [](Leaf&, Slot x) { x = 0; });
  const auto library = library_of({t});
  ASSERT_TRUE(library) << to_string(library.error());
  const auto refusal = [&](const Map& map) {
    const auto tree = instantiate(*library, map.value());
    return tree ? "" : tree.error().message;
  };
  EXPECT_EQ(refusal(Map("m", t, "h200").at(Processor::block)),
            "M01: 'at()' states something of no instance");
  EXPECT_EQ(refusal(Map("m", t, "h200").memory("x", Memory::shared).instance("i", t, "zero")),
            "M01: 'memory()' states something of no instance");
  EXPECT_EQ(refusal(Map("m", t, "h200").calls({"i"})),
            "M01: 'calls()' states something of no instance");
  EXPECT_EQ(refusal(Map("m", t, "h200").entry("i", t, "zero").swizzle(64)),
            "M01: 'swizzle()' states something of no instance");
  EXPECT_EQ(refusal(Map("m", t, "h200").entry("i", t, "zero")), "");
}

}  // namespace
}  // namespace twill::tasks::cpp
