"""The checks of dropin.py beside its table: repeated launches, graphs, threads, the host's share."""

import contextlib
import gc
import statistics
import threading
import time

import torch
from dropin_rows import attention_case, described, first_launch, forced, gemm, gemm_case, random, same_bits

import twill_gpu

LAUNCHES = 10_000
HOST_ROUNDS = 24


def repeats(case, deadline, on=lambda case: twill_gpu.enabled(decide="always")):
    """Number of LAUNCHES launches of Twill's kernel, compared in tens, with other bits than the first. None: out of time."""
    differ = 0
    with on(case):
        _, first = first_launch(case)
        wrong = torch.zeros((), dtype=torch.int64, device="cuda")
        for number in range(LAUNCHES // 10):
            for _ in range(10):
                case.launch()
            for before, now in zip(first, case.outputs):  # compared on the GPU: the host asks only sometimes
                wrong += (before.view(torch.int16) != now.view(torch.int16)).any()
            if number % 100 == 99:
                differ = int(wrong)
                if time.monotonic() > deadline:
                    return None
    return differ


def graph(case, on=lambda case: twill_gpu.enabled()):
    """Whether a captured launch, replayed, has the result of an eager launch."""
    with on(case):
        _, eager = first_launch(case)
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            case.launch()
        for output in case.outputs:
            output.fill_(float("nan"))
        captured.replay()
        torch.cuda.synchronize()
        return same_bits(eager, case.outputs)


def undecided_graph(case):
    """Captures during an undecided race: the launch must be Triton's, right, and leave the race undecided."""
    _, plain = first_launch(case)
    with twill_gpu.enabled(cache=False, spare_registers=(0, 24)):
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):  # no kernel was launched under these settings before
            case.launch()
        twill_gpu.wait()
        races = len(twill_gpu.report().races)
        for output in case.outputs:
            output.fill_(float("nan"))
        captured.replay()
        torch.cuda.synchronize()
        return len(twill_gpu.report().races) == races and same_bits(plain, case.outputs)


def streams_and_threads(case):
    """Whether four threads, each on its stream, all with first launches, have the bits of one launch."""
    _, expected = first_launch(case)

    def work():
        with torch.cuda.stream(torch.cuda.Stream()):
            case.launch()
        torch.cuda.synchronize()
    with twill_gpu.enabled(decide="always", spare_registers=(0, 8)):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    torch.cuda.synchronize()
    return same_bits(expected, case.outputs)


def walks_in_streams(case):
    """Whether simultaneous launches over tiles on several streams, each of which needs all SMs, have the bits of one launch."""
    with forced(case) as expected:
        streams = [torch.cuda.Stream() for _ in range(3)]
        for _ in range(20):
            for stream in streams:
                stream.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(stream):
                    case.launch()
        torch.cuda.synchronize()
        return same_bits(expected, case.outputs)


def host_seconds(launch, launches=300):
    """Seconds that the host takes for a launch, while the GPU is kept busy."""
    torch.cuda.synchronize()
    torch.cuda._sleep(60_000_000)
    at = time.perf_counter()
    for _ in range(launches):
        launch()
    took = (time.perf_counter() - at) / launches
    torch.cuda.synchronize()
    return took


def call_alone(decide):
    """The last step of a launch alone, the only step that the drop-in changes: Triton's compiled kernel gets its arguments."""
    a, b, c = random(256, 128), random(256, 128), random(256, 256)
    arguments = (described(a, 128, 64), described(b, 128, 64), described(c, 128, 128), 128)
    with switched(decide):
        kernel = gemm.gemm_tma[(2, 2)](*arguments, BM=128, BN=128, BK=64, WS=False, num_warps=4, num_stages=4)
    stream = torch.cuda.current_stream().cuda_stream
    facts = kernel.function, kernel.packed_metadata
    return lambda: kernel.run(2, 2, 1, stream, *facts, None, None, None, *arguments, 128, 128, 64, False)


def switched(decide):
    return contextlib.nullcontext() if decide == "plain" else twill_gpu.enabled(decide=decide)


def host_in_turns(launch):
    """Microseconds of the host for a launch, and for its last step: medians, and medians of the excess over plain Triton's in a round.

    The speed of the host changes while a process runs, so sides are compared within rounds, and their order changes from round to round.
    """
    sides = ["plain", "race", "always"]
    for decide in sides:
        with switched(decide):
            launch()
            twill_gpu.wait()
            launch()
    alone = {decide: call_alone(decide) for decide in sides}
    whole, last = ({decide: [] for decide in sides} for _ in range(2))
    gc.collect()
    gc.disable()
    for number in range(HOST_ROUNDS):
        for decide in sides[number % 3:] + sides[:number % 3]:
            with switched(decide):
                whole[decide].append(1e6 * host_seconds(launch))
                last[decide].append(1e6 * host_seconds(alone[decide]))
    gc.enable()
    found = {f"{decide}_us": statistics.median(whole[decide]) for decide in sides}
    for name, took in (("", whole), ("_last_step", last)):
        for decide in sides[1:]:
            found[f"{decide}{name}_more_us"] = statistics.median(ours - plain for ours, plain in zip(took[decide], took["plain"]))
    return {**found, "plain_last_step_us": statistics.median(last["plain"]), "rounds": whole}


def small_attention():
    return attention_case(1024, 64, 128)


def small_product():
    return gemm_case(2048, 2048, 2048, 128, 256, 8, 3)


def many_tiles():
    return gemm_case(4096, 4096, 512, 128, 128, 4, 4)


def checks():
    """By name, the checks with a deadline: False is wrong, None was omitted for lack of time, numbers are failures."""
    return {
        "host": lambda _: host_in_turns(gemm_case(256, 256, 128, 128, 128, 4, 4).launch),
        f"differing_of_{LAUNCHES}_attention": lambda deadline: repeats(small_attention(), deadline),
        f"differing_of_{LAUNCHES}_gemm": lambda deadline: repeats(small_product(), deadline),
        f"differing_of_{LAUNCHES}_over_tiles": lambda deadline: repeats(many_tiles(), deadline, forced),
        "graph": lambda _: graph(small_attention()), "graph_over_tiles": lambda _: graph(many_tiles(), forced),
        "streams_over_tiles": lambda _: walks_in_streams(many_tiles()), "threads": lambda _: streams_and_threads(small_attention()),
        "undecided_graph": lambda _: undecided_graph(small_attention()),
    }
