"""The table of dropin.py: a row for each kernel and size, plain Triton and the drop-in in turns."""

import contextlib
import dataclasses
import pathlib
import re
import statistics
import sys
import tempfile
import time
import weakref

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import twill_gpu
from twill_gpu.dropin import contest, race, store

KERNELS = pathlib.Path(__file__).resolve().parent.parent.parent / "kernels"
sys.path[:0] = [str(KERNELS), *(str(folder) for folder in KERNELS.iterdir() if folder.is_dir())]

import dropin_stages  # noqa: E402
import dual_gemm  # noqa: E402
import fa_fwd  # noqa: E402
import fa_fwd_causal  # noqa: E402
import gemm  # noqa: E402
import gemm_persistent  # noqa: E402

PAIRS = 16  # pairs of turns, one turn a side
MOST_PAIRS = 64  # for a ratio that stays near a bar
TURN_SECONDS = 0.010
NEAR = 0.04  # a ratio this close below or above a bar is measured longer
SLOWEST = 0.98  # share of plain Triton's speed; a slower case fails
LONGEST_WAIT = 60.0  # seconds for kernels in preparation: an autotuner begins dozens, of which few are launched again
GRAPHS_BELOW = 100e-6  # seconds of a launch: shorter launches are also measured without the host, in CUDA graphs


@triton.autotune([triton.Config({"BM": m, "BN": n, "BK": 64}, num_warps=w, num_stages=s) for m, n, w, s in
                  ((128, 128, 4, 4), (128, 256, 8, 3), (64, 256, 4, 4))], key=["M", "N", "K"])
@triton.jit
def tuned_gemm(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for first in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + (first + k)[None, :])
        b = tl.load(b_ptr + (first + k)[:, None] * N + n[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.float16))


@triton.jit
def warm(a_ptr, c_ptr):
    at = tl.arange(0, 64)
    a = tl.load(a_ptr + at[:, None] * 64 + at[None, :])
    tl.store(c_ptr + at[:, None] * 64 + at[None, :], tl.dot(a, a).to(tl.float16))


@dataclasses.dataclass
class Case:
    """A kernel with its inputs: launch() fills `outputs`; flop of a launch; reference() in float64, or None if too large.

    bar: the required ratio, beyond not being slower. An autotuner has choices of its own on each side. settings: of the drop-in.
    alike: whether both sides compile and choose the same. If not, as with PyTorch's autotuner, results are compared by their errors,
    and first launches have no bar.
    refused: a pattern for the reason why Twill has no kernel, and no_walk why none walks tiles. Any other reason is a failure.
    """

    name: str
    launch: object
    outputs: list
    flop: float
    reference: object = None
    bar: float = 0.0
    on: object = lambda side: None  # called with the next side, "plain" or "dropin"
    settings: dict = dataclasses.field(default_factory=dict)
    alike: bool = True
    refused: str = ""
    no_walk: str = ""


def described(tensor, *block):
    return TensorDescriptor.from_tensor(tensor, list(block))


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def empty(*shape):
    return torch.full(shape, float("nan"), device="cuda", dtype=torch.float16)


def gemm_case(m, n, k, bm, bn, warps, stages, bar=0.0):
    a, b, c = random(m, k), random(n, k), empty(m, n)
    grid = (triton.cdiv(m, bm), triton.cdiv(n, bn))

    def launch():
        gemm.gemm_tma[grid](described(a, bm, 64), described(b, bn, 64), described(c, bm, bn), k, BM=bm, BN=bn, BK=64, WS=False,
                            num_warps=warps, num_stages=stages)
    check = (lambda: [a.double() @ b.double().T]) if m * n * k <= 2**33 else None
    return Case(f"gemm tma {bm}x{bn} {m}x{n}x{k}", launch, [c], 2.0 * m * n * k, check, bar)


def persistent_case(m, n, k, bm=128, bn=128, warps=4):
    a, b, c = random(m, k), random(n, k), empty(m, n)

    def launch():
        gemm_persistent.gemm_persistent[(132, )](described(a, bm, 64), described(b, bn, 64), described(c, bm, bn), m, n, k, BM=bm, BN=bn,
                                                 BK=64, GROUP=8, NSM=132, FLAT=False, WS=False, num_warps=warps, num_stages=3)
    return Case(f"gemm persistent {bm}x{bn} {m}x{n}x{k}", launch, [c], 2.0 * m * n * k)


def dual_case(m, n, k):
    a, b1, b2, c = random(m, k), random(n, k), random(n, k), empty(m, n)

    def launch():
        dual_gemm.dual_gemm[(m // 128, n // 128)](described(a, 128, 64), described(b1, 128, 64), described(b2, 128, 64),
                                                  described(c, 128, 128), k, BM=128, BN=128, BK=64, WS=False, num_warps=8, num_stages=3)
    return Case(f"dual gemm {m}x{n}x{k}", launch, [c], 4.0 * m * n * k)


def pointer_gemm_case(m, n, k):
    a, b, c = random(m, k), random(k, n), empty(m, n)
    grid = (triton.cdiv(m, 128) * triton.cdiv(n, 128), )

    def launch():
        gemm.gemm_ptr[grid](a, b, c, m, n, k, k, n, n, BM=128, BN=128, BK=64, GROUP=8, num_warps=8, num_stages=3)
    return Case(f"gemm pointers {m}x{n}x{k}", launch, [c], 2.0 * m * n * k)


def tuned_case(size):
    a, b, c = random(size, size), random(size, size), empty(size, size)

    def launch():
        tuned_gemm[lambda meta: (size // meta["BM"], size // meta["BN"])](a, b, c, size, size, size)
    choices = {"plain": {}, "dropin": {}}

    def on(side):
        tuned_gemm.cache = choices[side]
    return Case(f"gemm autotuned {size}", launch, [c], 2.0 * size**3, on=on)


def attention_case(tokens, heads, d, bm=128, warps=8, bar=1.15):
    q, k, v = (random(heads * tokens, d) for _ in range(3))
    o, lse = empty(heads * tokens, d), torch.full((heads * tokens, ), float("nan"), device="cuda")

    def launch():
        fa_fwd.fa_fwd[(tokens // bm, heads)](described(q, bm, d), described(k, 128, d), described(v, 128, d), described(o, bm, d), lse,
                                             d**-0.5, tokens, BM=bm, BN=128, D=d, WS=False, num_warps=warps, num_stages=3)

    def reference():  # of the first heads
        qf, kf, vf = (t.view(heads, tokens, d)[:2].double() for t in (q, k, v))
        return [(torch.softmax(qf @ kf.transpose(-1, -2) * d**-0.5, -1) @ vf).reshape(-1, d)]
    return Case(f"attention d{d} {heads}x{tokens}", launch, [o, lse], 4.0 * heads * tokens**2 * d, reference if tokens <= 4096 else None, bar)


def causal_case(tokens, heads, d=128):
    q, k, v = (random(heads * tokens, d) for _ in range(3))
    o = empty(heads * tokens, d)

    def launch():
        fa_fwd_causal.fa_fwd_causal[(tokens // 128, heads)](described(q, 128, d), described(k, 128, d), described(v, 128, d),
                                                            described(o, 128, d), d**-0.5, tokens, BM=128, BN=128, D=d, num_warps=8, num_stages=3)
    return Case(f"causal attention d{d} {heads}x{tokens}", launch, [o], 2.0 * heads * tokens**2 * d, lambda: causal_reference(q, k, v, tokens), 1.15)


def causal_reference(q, k, v, tokens):
    """Causal attention in float64, of the first head."""
    scores = q[:tokens].double() @ k[:tokens].double().T * q.shape[1]**-0.5
    later = torch.ones(tokens, tokens, device="cuda", dtype=torch.bool).triu(1)
    return [torch.softmax(scores.masked_fill(later, float("-inf")), -1) @ v[:tokens].double()]


def warm_up():
    """Makes Triton build the parts that it builds once, so that they do not count in a row's first launch."""
    a, c = random(64, 64), empty(64, 64)
    warm[(1, )](a, c)
    with twill_gpu.enabled(decide="never"):
        warm[(1, )](a, c)
    torch.cuda.synchronize()


def first_launch(case):
    """Seconds of a launch with compilation, and its results in memory."""
    for output in case.outputs:
        output.fill_(float("nan"))
    torch.cuda.synchronize()
    at = time.perf_counter()
    case.launch()
    torch.cuda.synchronize()
    return time.perf_counter() - at, [output.clone() for output in case.outputs]


# A cache folder for each side: kernels and launchers of the other side are never found.
_caches = {side: tempfile.mkdtemp(prefix=f"twill-{side}-") for side in ("plain", "dropin")}


def first_launches(case):
    """Seconds of first launches, plain Triton's and the drop-in's, of the rest until its race is over, and the results of each.

    A kernel of an earlier case is compiled already, on both sides. The folder of the drop-in stays: kernels over tiles come later.
    """
    case.on("plain")
    triton.knobs.cache.dir = _caches["plain"]
    plain_first, plain = first_launch(case)
    case.on("dropin")
    triton.knobs.cache.dir = _caches["dropin"]
    with twill_gpu.enabled(**case.settings):
        twill_first, ours = first_launch(case)
        at = time.perf_counter()
        twill_gpu.wait(LONGEST_WAIT)
        _, raced = first_launch(case)
        waited = time.perf_counter() - at
    return plain_first, twill_first, waited, plain, ours, raced


# Settings with minimal differences have separate kernels in memory, but the same answers: their decisions are forced.
FORCED = {"twill": {"persistent": False, "margin": 0.049}, "twill over tiles": {"margin": 0.048}}


class Racer(race.Racer):
    """The drop-in's settings, cached: a kernel of Inductor's has one for all settings."""

    known = weakref.WeakSet()

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.known.add(self)

    @classmethod
    def forget_all(cls):
        """Makes each decision be read from disk again, or taken again."""
        for racer in list(cls.known):
            racer._buckets.clear()
            racer._decide_again()


race.Racer = Racer


def forced_on(case, kernel):
    """The settings under which `kernel` takes the case's launches, from forced() until decisions are forgotten."""
    return twill_gpu.enabled(**{**case.settings, **FORCED[kernel]})


@contextlib.contextmanager
def forced(case, kernel="twill over tiles"):
    """Makes `kernel` take the case's launches, even if it is slower. Returns the results of its first launch. Decisions are kept apart."""
    real = contest.decide, store.race_path
    contest.decide = lambda *_: contest.Verdict(True, (1e-6, 1e-6), (1e-6, 1e-6), 0)
    store.race_path = lambda *parts: real[1](*parts).with_suffix("." + re.sub(r"\W+", "_", f"{case.name} {kernel}"))
    races = len(twill_gpu.report().races)
    Racer.forget_all()
    try:
        with forced_on(case, kernel):
            case.on("dropin")
            case.launch()
            twill_gpu.wait()
            _, left = first_launch(case)
            contest.decide, store.race_path = real
            if all(row.takes != kernel for row in twill_gpu.report().races[races:]):
                raise RuntimeError(f"no kernel is {kernel}")
            yield left
    finally:
        contest.decide, store.race_path = real


def over_tiles(case):
    """The ratio of turns of plain Triton and of the kernel that walks tiles, and that kernel's results."""
    with forced(case) as walked:
        pass

    def plain(count):
        with forced_on(case, "twill over tiles"):
            pass
        case.on("plain")
        return turn(case.launch, count)

    def ours(count):
        case.on("dropin")
        with forced_on(case, "twill over tiles"):
            return turn(case.launch, count)
    ratio = turns(plain, ours, max(1, int(TURN_SECONDS / plain(3))), ()).ratio
    Racer.forget_all()
    return ratio, walked


def turn(launch, launches):
    """Seconds of a launch, by events."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(launches):
        launch()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / launches


@dataclasses.dataclass(frozen=True)
class Turns:
    """Seconds of a launch by turns of both sides, taken in pairs."""

    plain: list
    dropin: list

    @property
    def ratio(self):
        """Plain Triton's time over the drop-in's: the median over pairs, since clocks and power drift from pair to pair."""
        return statistics.median(p / d for p, d in zip(self.plain, self.dropin))

    @property
    def quartiles(self):
        return statistics.quantiles((p / d for p, d in zip(self.plain, self.dropin)), n=4)[::2]

    def seconds(self, side):
        return statistics.median(getattr(self, side))


def turns(plain, dropin, launches, bars):
    """Turns of both sides in pairs, whose order alternates. A ratio near a bar is measured longer."""
    took = {"plain": [], "dropin": []}
    sides = {"plain": plain, "dropin": dropin}
    for side in sides.values():
        side(launches)  # the first turn has the clocks and caches of the work before it
    pairs = PAIRS
    while True:
        while len(took["plain"]) < pairs:
            order = ("plain", "dropin") if len(took["plain"]) % 2 else ("dropin", "plain")
            for side in order:
                took[side].append(sides[side](launches))
        found = Turns(**took)
        if pairs >= MOST_PAIRS or all(abs(found.ratio / bar - 1) > NEAR for bar in bars):
            return found
        pairs *= 2


def captured(case, launches=20):
    """A CUDA graph of some launches."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            case.launch()
    return lambda replays: turn(graph.replay, max(1, replays // launches)) / launches


def measured(case, **changes):
    """Turns as a program launches, and without the host if launches are short. changes: of the case's settings.

    Both sides switch the drop-in on and off before a turn, so that the GPU is idle equally long before each.
    """
    def plain(count):
        with twill_gpu.enabled():
            pass
        case.on("plain")
        return turn(case.launch, count)

    def ours(count):
        case.on("dropin")
        with twill_gpu.enabled(**settings):
            return turn(case.launch, count)
    settings = {**case.settings, **changes}
    bars = (SLOWEST, case.bar) if case.bar else (SLOWEST, )
    launches = max(1, int(TURN_SECONDS / plain(3)))
    eager = turns(plain, ours, launches, bars)
    if eager.seconds("plain") > GRAPHS_BELOW:
        return eager, None
    case.on("plain")
    plain_graph = captured(case)
    case.on("dropin")
    with twill_gpu.enabled(**settings):
        dropin_graph = captured(case)
    return eager, turns(plain_graph, dropin_graph, launches, (SLOWEST, ))


def same_bits(left, right):
    return all(torch.equal(a.view(torch.uint8), b.view(torch.uint8)) for a, b in zip(left, right))


def apart(plain, ours):
    """Distance of the outputs from plain Triton's, over all elements: the norm of the difference over that of Triton's."""
    return max(float((a.double() - b.double()).norm() / a.double().norm()) for a, b in zip(plain, ours))


def error_of(expected, outputs):
    if expected is None:
        return None
    return float((outputs[0][:len(expected[0])].double() - expected[0]).norm() / expected[0].norm())


def beside_plain(which, case, expected, plain, left):
    """For the results of a kernel of Twill's: whether they have plain Triton's bits, their distance, and their error."""
    if left is None:
        return {f"bits_{which}": None, f"apart_{which}": None, f"error_{which}": None}
    same = same_bits(plain, left)
    return {f"bits_{which}": same, f"apart_{which}": 0.0 if same else apart(plain, left) if case.alike else None, f"error_{which}": error_of(expected, left)}


class Nothing(Exception):
    """A row compares Triton with itself: there is no kernel of Twill's, for an unexpected reason."""


def reason_of(kernels):
    """The reason why there was no kernel of Twill's, from the last of these rows of a report."""
    return next((row.why for row in reversed(kernels) if row.why), "no kernel with a product was compiled")


def run_case(case):
    """One row of the table. Raises Nothing."""
    began, known = time.monotonic(), twill_gpu.report()
    with dropin_stages.watched() as stages:
        plain_first, twill_first, waited, plain, ours, raced = first_launches(case)
    compiled, decided = (rows[len(before):] for rows, before in ((twill_gpu.report().compilations, known.compilations),
                                                                 (twill_gpu.report().races, known.races)))
    expected = case.reference() if case.reference else None
    if case.alike:
        right = same_bits(plain, ours) and (same_bits(plain, raced) or expected is not None)
    else:
        right = max(error_of(expected, ours), error_of(expected, raced)) <= 1.1 * error_of(expected, plain)
    row = {"case": case.name, "bar": case.bar, "alike": case.alike, "bits": right, "error_plain": error_of(expected, plain), "refused": None}
    if any(not race.why for race in decided):
        takes, changes = decided[-1].takes, {}
        forced_left = forced_bits(case) if case.alike else None
    else:  # without a race, Twill's kernel has to be forced
        takes, changes = "triton, no race", {"decide": "always"}
        with twill_gpu.enabled(**case.settings, **changes):
            _, forced_left = first_launch(case)
        reasons = [*compiled, *decided, *(more for more in twill_gpu.report().compilations[len(known.compilations) + len(compiled):])]
        if not reasons or getattr(reasons[-1], "runs", "") != "twill":
            reason = reason_of(reasons)
            if not case.refused or not re.search(case.refused, reason):
                raise Nothing(f"nothing to compare: {reason}")
            return {**row, "refused": reason, "seconds": time.monotonic() - began}
    tiles = [race for race in decided if race.new == "twill over tiles"]
    ratio_walked, walked = over_tiles(case) if any(not race.why for race in tiles) else (None, None)
    eager, gpu = measured(case, **changes)
    return {**row, "plain_tflops": case.flop / eager.seconds("plain") * 1e-12,
            "dropin_tflops": case.flop / eager.seconds("dropin") * 1e-12, "ratio": eager.ratio, "quartiles": eager.quartiles,
            "pairs": len(eager.plain), "ratio_gpu": gpu.ratio if gpu else None,
            "gpu_us": {side: 1e6 * gpu.seconds(side) for side in ("plain", "dropin")} if gpu else None,
            "takes": takes, "always": bool(changes), "ratio_over_tiles": ratio_walked,
            "no_walk": reason_of(tiles) if tiles and walked is None else None, "no_walk_expected": case.no_walk,
            **beside_plain("over_tiles", case, expected, plain, walked), **beside_plain("forced", case, expected, plain, forced_left),
            "first_plain_s": plain_first, "first_dropin_s": twill_first, "waited_s": waited,
            "stages": stages, "seconds": time.monotonic() - began}


def forced_bits(case):
    """Results of a launch of Twill's kernel with one tile for each CTA."""
    with forced(case, "twill") as left:
        return left
