# Shared code of the kernel sources: compilation (SPECS), and checks on a GPU.
# A kernel file defines SPECS, a list of dicts:
#   variant  name of the variant
#   fn       the @triton.jit function
#   sig      {argument: Triton type string}; arguments not named here are constexpr
#   const    {constexpr argument: value}
#   opts     {target: dict(num_warps=..., num_stages=..., maxnreg=...)}; a missing target is skipped
# and check(torch) -> {case: relative error}, run on the device with the JIT (sm_90).


def desc(dtype, shape):
    return f"tensordesc<{dtype}[{', '.join(map(str, shape))}]>"


def both(w90, s90, w100=None, s100=None, **kw):
    return {90: dict(num_warps=w90, num_stages=s90, **kw), 100: dict(num_warps=w100 or w90, num_stages=s100 or s90, **kw)}


def rel(out, ref):
    out, ref = out.double(), ref.double()
    return float((out - ref).norm() / ref.norm())
