"""Kernels of kinds that no bundled kernel is: those in kinds/, which Triton 3.6 or 3.9 made, and edits of a bundled product's text for what
users write around and in the main loop. Used by tests of printed TTGIR.
"""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
GEMM = "kernels/gemm/sm_90/tma_128x128x64.pre.ttgir"
PRODUCT = "      %12 = ttng.warp_group_dot %8, %11, %arg17"
TYPES = ("{inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared1, #smem> -> "
         "tensor<128x128xf32, #mma>")
YIELD = "      scf.yield %12 : tensor<128x128xf32, #mma>\n"
STORE = "    tt.descriptor_store %arg10"
LOOP = "    %4 = scf.for"
ADDRESS = "    %slot = tt.addptr %log, %0 : !tt.ptr<i32>, i32\n"


def text():
    return (ROOT / GEMM).read_text()


def once(old, new, given):
    if given.count(old) != 1:
        raise ValueError(f"{old!r} stands {given.count(old)} times in {GEMM}")
    return given.replace(old, new)


def with_log(given):
    """A kernel with one more argument, an array of integers."""
    return once("%arg15: i32 {tt.divisibility = 16 : i32})", "%arg15: i32 {tt.divisibility = 16 : i32}, %log: !tt.ptr<i32>)", given)


def printed():
    """A kernel that prints in the loop."""
    return once(YIELD, '      tt.print "k: " {hex = false, isSigned = array<i32: 1>} : %arg16 : i32\n' + YIELD, text())


def guarded():
    """A kernel whose work is in a branch."""
    given = with_log(text())
    begin, end = given.index(LOOP), given.index("    tt.return")
    condition = ADDRESS + "    %flag = tt.load %slot : !tt.ptr<i32>\n    %goes = arith.cmpi sgt, %flag, %c0_i32 : i32\n    scf.if %goes {\n"
    return given[:begin] + condition + given[begin:end] + "    }\n" + given[end:]


def leaves_early():
    """A kernel of which some CTAs store another value and end."""
    condition = ADDRESS + """    %flag = tt.load %slot : !tt.ptr<i32>
    %none = arith.cmpi slt, %flag, %c0_i32 : i32
    cf.cond_br %none, ^bb1, ^bb2
  ^bb1:
    %behind = tt.addptr %slot, %c128_i32 : !tt.ptr<i32>, i32
    tt.store %behind, %c64_i32 : !tt.ptr<i32>
    tt.return
  ^bb2:
"""
    return with_log(once(LOOP, condition + LOOP, text()))


def skipped():
    """A kernel with the product in a branch whose condition is loaded."""
    branch = """      %at = arith.divsi %arg16, %c64_i32 : i32
      %place = tt.addptr %log, %at : !tt.ptr<i32>, i32
      %flag = tt.load %place : !tt.ptr<i32>
      %used = arith.cmpi sgt, %flag, %c0_i32 : i32
      %sum = scf.if %used -> (tensor<128x128xf32, #mma>) {
"""
    otherwise = """        scf.yield %12 : tensor<128x128xf32, #mma>
      } else {
        scf.yield %arg17 : tensor<128x128xf32, #mma>
      }
"""
    given = once(PRODUCT, branch + "  " + PRODUCT, with_log(text()))
    return once(YIELD, otherwise + YIELD.replace("%12", "%sum"), given)


def corrected():
    """A kernel with a product after the loop, of tiles that are loaded there."""
    behind = """    %x = tt.descriptor_load %arg0[%1, %c0_i32] : !tt.tensordesc<tensor<128x64xf16, #shared>> -> tensor<128x64xf16, #blocked>
    %xs = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %y = tt.descriptor_load %arg5[%3, %c64_i32] : !tt.tensordesc<tensor<128x64xf16, #shared>> -> tensor<128x64xf16, #blocked>
    %ys = ttg.local_alloc %y : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %yt = ttg.memdesc_trans %ys {order = array<i32: 1, 0>} : !ttg.memdesc<128x64xf16, #shared, #smem> -> !ttg.memdesc<64x128xf16, #shared1, #smem>
    %more = ttng.warp_group_dot %xs, %yt, %4 TYPES
    %5 = arith.truncf %more""".replace("TYPES", TYPES)
    return once("    %5 = arith.truncf %4", behind, text())


def boxes(how, column="%3"):
    """A kernel that stores or adds a box of each iteration by TMA, in an array of its own; two groups have the box's rows."""
    array = ", %sums: !tt.tensordesc<tensor<128x128xf16, #shared>>, %s1: i32, %s2: i32, %s3: i64, %s4: i64)"
    argument = "%arg15: i32 {tt.divisibility = 16 : i32}"
    body = f"""      %two = arith.constant 2 : i32
      %apart = arith.muli %arg16, %two : i32
      %half = arith.truncf %12 : tensor<128x128xf32, #mma> to tensor<128x128xf16, #mma>
      %rows = ttg.convert_layout %half : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #blocked1>
      tt.descriptor_{how}[%1, {column}], %rows : !tt.tensordesc<tensor<128x128xf16, #shared>>, tensor<128x128xf16, #blocked1>
"""
    return once(YIELD, body + YIELD, once(argument + ")", argument + array, text()))


def stored():
    """A kernel that stores the running sum by TMA in each iteration, to a box of its own."""
    return boxes("store %sums", "%apart")


def stored_again():
    """The same, to one box: each store comes after the end of the store before, for which TTGIR has no op."""
    return boxes("store %sums")


def ones_beyond():
    """A product through pointers, with ones where the mask of the left operand is false: no copy by threads has them."""
    given = (ROOT / "kernels/gemm/sm_90/ptr_128x128x64.pre.ttgir").read_text()
    left = " : tensor<128x64xf16, #blocked>"
    return once("dense<0.000000e+00>" + left, "dense<1.000000e+00>" + left, given)


def added():
    """A kernel that adds the running sum by TMA."""
    return boxes("reduce add, %sums")


KINDS = {kind.__name__: kind for kind in (printed, guarded, leaves_early, skipped, corrected, stored, stored_again, added, ones_beyond)}


# Kinds that are not printed, with a part of the hint.
REFUSED = {"sixteen_rows": "give it 64 rows or more", "two_warps": "run it with num_warps = 4 or 8"}


def write(folder):
    """The path of each kind's kernel, by name, in a folder."""
    paths = {path.stem: pathlib.Path(folder) / path.name for path in sorted((pathlib.Path(__file__).parent / "kinds").glob("*.ttgir"))}
    for path in paths.values():
        path.write_text((pathlib.Path(__file__).parent / "kinds" / path.name).read_text())
    for name, kind in KINDS.items():
        paths[name] = pathlib.Path(folder) / f"{name}.pre.ttgir"
        paths[name].write_text(kind())
    return paths
