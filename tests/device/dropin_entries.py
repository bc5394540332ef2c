"""The entries of dropin.py, the most important first: rows of its table, and checks."""

import dataclasses
import functools
import time

import compiled
import dropin_checks
import dropin_kernels as kernels
import dropin_rows as rows

SECONDS = 9  # seconds of an entry; several configurations, or PyTorch's compiler, take longer


@dataclasses.dataclass(frozen=True)
class Entry:
    """A row, if `work` makes a Case, or a check, which gets a deadline. seconds: approximate time with 16 cores.

    failures: complaints of a check with its own bars. extra: no bar needs it, so it may be omitted.
    """

    name: str
    work: object
    seconds: float = SECONDS
    is_check: bool = False
    failures: object = None
    extra: bool = False


def row(make, *arguments, seconds=SECONDS, extra=False, **more):
    words = [make.__name__.removesuffix("_case"), *arguments]
    return Entry(" ".join(map(str, words)), functools.partial(make, *arguments, **more), seconds, extra=extra)


def check(name, seconds=SECONDS):
    return Entry(f"check {name}", dropin_checks.checks()[name], seconds, True)


def model():
    """A model under torch.compile, in processes of its own."""
    return Entry("check torch.compile of a model", lambda deadline: compiled.compare("brief", deadline - time.monotonic()), 50, True, compiled.missed)


def entries():
    """Entries in the order in which time is spent: bars of 1.15, the tutorials, tiles, small launches, checks, the longest entries, and all others."""
    launches = dropin_checks.LAUNCHES
    return [
        row(rows.attention_case, 4096, 32, 128, seconds=18), row(rows.gemm_case, 4096, 4096, 4096, 128, 256, 8, 3, bar=1.15),
        row(rows.causal_case, 4096, 32, seconds=21), row(kernels.persistent_pointers_case, 4096), row(rows.persistent_case, 4096, 4096, 4096),
        row(kernels.device_descriptors_case, 4096), row(kernels.grouped_case), row(rows.gemm_case, 4096, 4096, 4096, 128, 128, 4, 4),
        row(kernels.batched_case, 16, 1024), row(rows.dual_case, 4096, 4096, 4096), row(rows.gemm_case, 1024, 1024, 512, 128, 128, 4, 4),
        row(rows.gemm_case, 3000, 2000, 1000, 128, 256, 8, 3), row(rows.attention_case, 1024, 64, 128), check("host"),
        check(f"differing_of_{launches}_attention"), check(f"differing_of_{launches}_gemm"), check(f"differing_of_{launches}_over_tiles"),
        check("graph"), check("graph_over_tiles"), check("streams_over_tiles"), check("threads"), check("undecided_graph"), model(),
        row(kernels.measured_case, "fa_bwd_dq.m128n64d128", 16, 4096, bar=1.15, seconds=12), row(kernels.tuned_attention_case, 4096, 32),
        row(kernels.backward_case, 2048, 32), row(kernels.bias_attention_case, 2048, 32), row(rows.attention_case, 4096, 32, 64),
        row(kernels.measured_case, "gemm_fp8.128x256x128", 4096, 4096, 4096), row(kernels.measured_case, "conv2d.3x3_128x128x64", 16, 64, 256, 256),
        row(rows.pointer_gemm_case, 4096, 4096, 4096), row(kernels.rowsum_case, 4096), row(kernels.bias_gemm_case, 4096),
        row(rows.gemm_case, 8192, 8192, 8192, 128, 256, 8, 3, bar=1.15, extra=True), row(rows.tuned_case, 4096, extra=True),
        row(kernels.flex_case, 64, 4096, seconds=17, extra=True), row(rows.attention_case, 16384, 8, 128, extra=True),
    ]


def chosen(words):
    """Entries whose names have one of some words, in their order; all without words."""
    return [entry for entry in entries() if not words or any(word in entry.name for word in words)]
