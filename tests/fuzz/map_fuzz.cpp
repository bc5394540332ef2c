// Any bytes read as a `.map` text: refused with a reason, or mappings that print back to
// themselves. For a product, each mapping makes a tree whose completed mapping makes the same tree,
// or is refused.

#include "fuzz.h"
#include "twill/frontend/tasks/lower.h"

namespace {

constexpr const char* kProduct = R"(
task gemm(writes C: f16[M, N], reads A: f16[M, K], reads B: f16[N, K])
task add(updates C: f32[M, N], reads A: f16[M, K], reads B: f16[N, K])
task clear(writes C: f32[M, N])
task store(writes To: f16[M, N], reads From: f32[M, N])
inner gemm.host tunable U, V {
  prange i < cdiv(M, U), j < cdiv(N, V) {
    gemm(blocks(C, U, V)[i, j], blocks(A, U, K)[i, 0], blocks(B, V, K)[j, 0])
  }
}
inner gemm.block tunable W {
  acc = tensor f32[M, N]
  clear(acc)
  srange k < cdiv(K, W) { add(acc, blocks(A, M, W)[0, k], blocks(B, N, W)[0, k]) }
  store(C, acc)
}
leaf add.wgmma { C += mma(A, transpose(B)) }
leaf clear.zero { C = 0 }
leaf store.cast { To = cast(f16, From) }
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace twill;
  const std::string text(fuzz::text_of(data, size));
  const auto read = tasks::read_mappings(text, "fuzz.map");
  if (!read) return fuzz::expect_readable(read.error()), 0;

  const std::string printed = tasks::print_mappings(*read);
  const auto again = tasks::read_mappings(printed, "printed.map");
  fuzz::expect(again.has_value(), "what print_mappings prints, read_mappings reads");
  fuzz::expect(*again == *read, "printed mappings read back equal");
  fuzz::expect(tasks::print_mappings(*again) == printed, "printed text prints to the same bytes");

  const frontend::TaskSource source{"product.task", kProduct, {}, "fuzz.map", text};
  const auto mapped = frontend::read_mapped(source);
  if (!mapped) return fuzz::expect_readable(mapped.error()), 0;
  const auto tree = frontend::tree_of(source, *mapped);
  if (!tree) return fuzz::expect_readable(tree.error()), 0;
  const tasks::Mapping whole = tasks::completed(*tree);
  const auto same = tasks::instantiate(mapped->text.library, whole);
  fuzz::expect(same.has_value(), "a completed mapping makes a tree");
  fuzz::expect(tasks::completed(*same) == whole, "and the same one");
  const auto kernel = frontend::lower_tasks(*tree, source.file);
  if (!kernel) fuzz::expect_readable(kernel.error());
  return 0;
}
