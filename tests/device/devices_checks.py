"""The checks of devices.py. Each takes the numbers of the GPUs, and returns complaints and facts."""

import contextlib
import dataclasses
import hashlib
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
from unittest import mock

import torch
import twill_gpu
from twill_gpu.dropin import contest, store

import dropin_kernels as kernels  # noqa: I001 (puts the folders of kernels on the path)
import dropin_rows as rows
from compiled_kernels import user_product

REPEATS = 1000
_numbers = itertools.count()


def attention():
    return rows.attention_case(1024, 32, 128)


def product():
    return rows.gemm_case(2048, 2048, 2048, 128, 256, 8, 3)


def tiles():
    """A product with enough tiles for a kernel that walks them."""
    return rows.gemm_case(4096, 4096, 512, 128, 128, 4, 4)


def pointers():
    return rows.pointer_gemm_case(2048, 2048, 1024)


def scratch():
    """A product whose descriptors are made on the GPU, in memory that Triton gets from PyTorch."""
    return kernels.device_descriptors_case(2048)


def at(device, make):
    """A case whose tensors are on a device, launched while that device is current."""
    with torch.cuda.device(device):
        case = make()

    def launch():
        with torch.cuda.device(device):
            case.launch()
    return dataclasses.replace(case, name=f"{case.name} on GPU {device}", launch=launch)


def left_by(case, device):
    """The results of a launch in memory."""
    with torch.cuda.device(device):
        return rows.first_launch(case)[1]


@contextlib.contextmanager
def apart(**settings):
    """The drop-in, with decisions that are separate from all other parts of this run, in memory and on disk."""
    real, suffix = store.race_path, f".{os.getpid()}_{next(_numbers)}"
    with mock.patch.object(store, "race_path", lambda *parts: real(*parts).with_suffix(suffix)):
        rows.Racer.forget_all()
        with twill_gpu.enabled(**settings):
            yield


@contextlib.contextmanager
def won_by(kernel, **settings):
    """Makes `kernel` take each bucket's launches once it is finished, on any device."""
    with mock.patch.object(contest, "decide", lambda *_: contest.Verdict(True, (1e-6, 1e-6), (1e-6, 1e-6), 0)), apart(**{**rows.FORCED[kernel], **settings}):
        yield


def decided(case, device, kernel="twill"):
    """Launches until there is a decision. Returns complaints about the decision."""
    before = len(twill_gpu.report().races)
    left_by(case, device)
    twill_gpu.wait(rows.LONGEST_WAIT)
    left_by(case, device)
    taken = [race.takes for race in twill_gpu.report().races[before:]]
    return [] if kernel in taken else [f"{case.name}: launches are not those of {kernel}, but {taken or 'undecided'}; {rows.reason_of(list(twill_gpu.report()))}"]


def differing(case, device, expected, what):
    return [] if rows.same_bits(expected, left_by(case, device)) else [f"{case.name}: other bits than plain Triton's: {what}"]


# ---- The checks
def each_device(devices):
    """Runs each kernel on each device: plain Triton's, the result of the race, Twill's, Twill's over tiles."""
    wrong, facts = [], []
    for make, kernel in ((attention, "twill"), (product, "twill"), (pointers, "twill"), (scratch, "twill"), (tiles, "twill"), (tiles, "twill over tiles")):
        for device in devices:
            case, before = at(device, make), len(wrong)
            plain = left_by(case, device)
            with apart():
                wrong += differing(case, device, plain, "before the race")
                twill_gpu.wait(rows.LONGEST_WAIT)
                wrong += differing(case, device, plain, "in the race")
                wrong += differing(case, device, plain, "after the race")
            with won_by(kernel):
                wrong += decided(case, device, kernel)
                wrong += differing(case, device, plain, kernel)
            facts.append(f"{case.name}: {kernel}, {'equal bits' if len(wrong) == before else 'wrong'}")
    return wrong, facts


def own_races(devices):
    """Races on each device, with that device's launches, kernels and clock; then decisions from disk, which belong to a card's name."""
    wrong, facts = [], []
    cases = {device: at(device, product) for device in devices}
    real = store.race_path
    for own in (True, False):
        before = len(twill_gpu.report().races)

        def path(*parts, own=own):
            return real(*parts).with_suffix(f".{os.getpid()}_{torch.cuda.current_device() if own else 'all'}")
        with mock.patch.object(store, "race_path", path):
            rows.Racer.forget_all()
            with twill_gpu.enabled(persistent=False, margin=0.045 if own else 0.044):
                for device, case in cases.items():
                    left_by(case, device)
                twill_gpu.wait(rows.LONGEST_WAIT)
                for device, case in cases.items():
                    left_by(case, device)
        found = twill_gpu.report().races[before:]
        facts += [str(race) for race in found]
        measured = sum(not race.from_cache and not race.why for race in found)
        wanted = len(devices) if own else len({torch.cuda.get_device_name(device) for device in devices})
        if measured != wanted:
            wrong.append(f"{measured} races were measured, {wanted} wanted ({'a race for each device' if own else 'a race for each kind of card'})")
    loaded = {racer._device for racer in rows.Racer.known if racer._one_tile.call is not None}
    if loaded != set(devices):
        wrong.append(f"Twill's kernel was loaded on {sorted(loaded)}, wanted {list(devices)}")
    return wrong, facts


def streams(devices):
    """Launches on three streams of each device at once, of both of Twill's kernels."""
    wrong = []
    cases = {device: at(device, tiles) for device in devices}
    plain = {device: left_by(case, device) for device, case in cases.items()}
    for kernel in ("twill", "twill over tiles"):
        with won_by(kernel):
            for device, case in cases.items():
                wrong += decided(case, device, kernel)
            made = {device: [new_stream(device) for _ in range(3)] for device in devices}
            for device, case in cases.items():
                clean(case, device)
            for _ in range(50):
                for device, case in cases.items():
                    for stream in made[device]:
                        with torch.cuda.stream(stream):
                            case.launch()
            for device, case in cases.items():
                torch.cuda.synchronize(device)
                if not rows.same_bits(plain[device], case.outputs):
                    wrong.append(f"{case.name}: other bits on three streams, {kernel}")
    return wrong, []


def new_stream(device):
    with torch.cuda.device(device):
        return torch.cuda.Stream()


def clean(case, device):
    """Fills the outputs with values that no launch produces."""
    with torch.cuda.device(device):
        for output in case.outputs:
            output.fill_(float("nan"))
    torch.cuda.synchronize(device)


def by_hand(device, current):
    """What a compiled kernel leaves that is launched on a stream of `device` while another device is current; what was raised, if anything was."""
    with torch.cuda.device(device):
        torch.manual_seed(0)
        a, b, c = rows.random(512, 512), rows.random(512, 512), rows.empty(512, 512)
        arguments = (rows.described(a, 128, 64), rows.described(b, 256, 64), rows.described(c, 128, 256), 512)
        constants = {"BM": 128, "BN": 256, "BK": 64, "WS": False}

        def compiled():
            return rows.gemm.gemm_tma[(4, 2)](*arguments, **constants, num_warps=8, num_stages=3)
        compiled()
        twill_gpu.wait(rows.LONGEST_WAIT)
        kernel, stream = compiled(), torch.cuda.current_stream().cuda_stream
        c.fill_(float("nan"))
        torch.cuda.synchronize()
    try:
        with torch.cuda.device(current):
            kernel.run(4, 2, 1, stream, kernel.function, kernel.packed_metadata, None, None, None, *arguments, *constants.values())
        torch.cuda.synchronize(device)
    except Exception as refused:
        return None, f"{type(refused).__name__}: {str(refused)[:120]}"
    return [c.clone()], ""


def other_current(devices):
    """A compiled kernel by a stream of its device while another device is current: as plain Triton's, whatever that does."""
    wrong, facts = [], []
    for device, current in itertools.permutations(devices, 2):
        plain, why = by_hand(device, current)
        facts.append(f"stream of GPU {device}, current GPU {current}: plain Triton {'raises ' + why if why else 'launches'}")
        with won_by("twill"):
            ours, our_why = by_hand(device, current)
        if (plain is None) != (ours is None) or plain is not None and not rows.same_bits(plain, ours):
            wrong.append(f"stream of GPU {device}, current GPU {current}: plain {why or 'launches'}, the drop-in {our_why or 'launches, with other bits'}")
    return wrong, facts


def peer(devices):
    """Tensors of one device, launched on another, which reaches them over the link."""
    wrong, facts = [], []
    for device, current in itertools.permutations(devices, 2):
        if not torch.cuda.can_device_access_peer(current, device):
            facts.append(f"GPU {current} cannot reach the memory of GPU {device}")
            continue
        for one, other in ((current, device), (device, current)):  # lets PyTorch open the way, which has a direction
            torch.zeros(8, device=f"cuda:{one}").copy_(torch.zeros(8, device=f"cuda:{other}"))
        for make in (pointers, product):
            with torch.cuda.device(device):
                case = make()
            case = dataclasses.replace(case, name=f"{case.name} of GPU {device}, launched on GPU {current}")
            try:
                plain = over_the_link(case, device, current)
            except Exception as refused:
                why = f"{type(refused).__name__}: {str(refused).splitlines()[0][:100]}"
                with apart():
                    wrong += not_refused(case, device, current, type(refused))
                facts.append(f"{case.name}: plain Triton raises {why}")
                continue
            with apart():
                over_the_link(case, device, current)
                twill_gpu.wait(rows.LONGEST_WAIT)
                raced = [over_the_link(case, device, current) for _ in range(2)]
            with won_by("twill"):
                wrong += decided(case, current)
                won = over_the_link(case, device, current)
            wrong += [f"{case.name}: other bits than plain Triton's ({what})" for what, left in (("race", raced[0]), ("after the race", raced[1]), ("twill", won))
                      if not rows.same_bits(plain, left)]
            facts.append(f"{case.name}: {'plain Triton wrote NaN' if bool(torch.isnan(plain[0]).any()) else 'launched'}")
    return wrong, facts


def not_refused(case, device, current, kind):
    """What is wrong where plain Triton refuses a launch by an exception of a kind, and the drop-in does not."""
    try:
        over_the_link(case, device, current)
    except kind:
        return []
    return [f"{case.name}: plain Triton raises {kind.__name__}, the drop-in does not"]


def over_the_link(case, device, current):
    clean(case, device)
    with torch.cuda.device(current):
        case.launch()
        torch.cuda.synchronize()
    torch.cuda.synchronize(device)
    return [output.clone() for output in case.outputs]


def graphs(devices):
    """Captures on each device, decided and undecided, all replayed together."""
    wrong = []
    for make, kernel in ((attention, "twill"), (tiles, "twill over tiles")):
        cases = {device: at(device, make) for device in devices}
        plain = {device: left_by(case, device) for device, case in cases.items()}
        with won_by(kernel):
            races = len(twill_gpu.report().races)
            wrong += replayed(cases, plain, f"undecided, {kernel}")  # no kernel was launched under these settings before
            if len(twill_gpu.report().races) != races:
                wrong.append("a capture decided a race")
            for device, case in cases.items():
                wrong += decided(case, device, kernel)
            wrong += replayed(cases, plain, kernel)
    return wrong, []


def replayed(cases, plain, what):
    captured = {}
    for device, case in cases.items():
        with torch.cuda.device(device):
            captured[device] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(captured[device], stream=new_stream(device)):  # PyTorch's own stream for captures belongs to one device
                case.launch()
        clean(case, device)
    for _ in range(3):
        for device, graph in captured.items():
            with torch.cuda.device(device):
                graph.replay()
    wrong = []
    for device, case in cases.items():
        torch.cuda.synchronize(device)
        if not rows.same_bits(plain[device], case.outputs):
            wrong.append(f"{case.name}: other bits from a graph ({what})")
    return wrong


def threads(devices):
    """Two threads for each device, all with first launches at once, under a race and with Twill's kernel forced; then all launches again."""
    wrong, facts = [], []
    cases = {device: at(device, attention) for device in devices}
    plain = {device: left_by(case, device) for device, case in cases.items()}
    for how in ({"decide": "always", "spare_registers": (0, 8)}, {"persistent": False, "spare_registers": (0, 24)}):  # no cache has kernels of these settings
        with apart(**how):
            for device, case in cases.items():
                clean(case, device)
            for turn in ("first launches", "second launches"):
                wrong += [f"{turn} of {how}: {line}" for line in at_once(cases)]
                twill_gpu.wait(rows.LONGEST_WAIT)
            for device, case in cases.items():
                if not rows.same_bits(plain[device], case.outputs):
                    wrong.append(f"{case.name}: other bits by threads, {how}")
    facts += [str(race) for race in twill_gpu.report().races]
    return wrong, facts


def at_once(cases):
    """Launches of all devices in threads, two for each, with streams of their own. Returns a line for each exception."""
    raised = []

    def work(device, case):
        try:
            torch.cuda.synchronize(device)  # a thread that has not used the GPU has no context, and Triton makes no descriptor without one
            with torch.cuda.stream(new_stream(device)):
                for _ in range(5):
                    case.launch()
            torch.cuda.synchronize(device)
        except Exception as wrong:
            raised.append(f"{type(wrong).__name__}: {str(wrong)[:200]}")
    made = [threading.Thread(target=work, args=item) for item in [*cases.items()] * 2]
    for thread in made:
        thread.start()
    for thread in made:
        thread.join()
    return raised


def in_turns(devices):
    """Launches that alternate between the devices: each has the bits of the first."""
    wrong = []
    cases = {device: at(device, product) for device in devices}
    plain = {device: left_by(case, device) for device, case in cases.items()}
    with won_by("twill"):
        for device, case in cases.items():
            wrong += decided(case, device)
        differ = {device: torch.zeros((), dtype=torch.int64, device=f"cuda:{device}") for device in devices}
        for _ in range(REPEATS):
            for device, case in cases.items():
                case.launch()
                with torch.cuda.device(device):
                    differ[device] += (plain[device][0].view(torch.int16) != case.outputs[0].view(torch.int16)).any()
    wrong += [f"{cases[device].name}: {int(count)} of {REPEATS} launches have other bits" for device, count in differ.items() if int(count)]
    return wrong, []


def autotuned(devices):
    """A kernel under triton.autotune on each device."""
    wrong, facts = [], []
    for device in devices:
        case = at(device, lambda: rows.tuned_case(2048))
        case.on("plain")
        plain = left_by(case, device)
        case.on("dropin")
        with apart():
            left_by(case, device)
            twill_gpu.wait(rows.LONGEST_WAIT)
            for _ in range(2):
                left = left_by(case, device)
                if not rows.same_bits(plain, left) and not rows.apart(plain, left) < 1e-3:  # tiles may differ, and so may the order of sums
                    wrong.append(f"{case.name}: {rows.apart(plain, left):.1e} from plain Triton's result")
    facts += [str(race) for race in twill_gpu.report().races]
    return wrong, facts


def compiled(devices):
    """A user's kernel under torch.compile, with tensors of each device, while the first is current."""
    wrong, facts = [], []
    for device in devices:
        with torch.cuda.device(device):
            a, b = rows.random(1024, 1024), rows.random(1024, 1024)
        case = kernels.compiled_case(f"user's product on GPU {device}", user_product, (a, b), 1.0, None)
        torch.cuda.set_device(devices[0])
        case.on("plain")
        plain = left_by(case, devices[0])
        case.on("dropin")
        with won_by("twill", inductor=True):
            wrong += decided(case, devices[0])
            left = left_by(case, devices[0])
            if left[0].device.index != device or not rows.same_bits(plain, left):
                wrong.append(f"{case.name}: other bits than plain Triton's, or another device ({left[0].device})")
    facts += [str(race) for race in twill_gpu.report().races]
    return wrong, facts


def processes(devices):
    """A process for each device, as launchers start them, all at once and with one empty cache folder."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TRITON_CACHE_DIR": folder}
        script = f"import sys; sys.path[:0] = {sys.path!r}; import devices_checks; devices_checks.rank()"
        ranks = [subprocess.Popen([sys.executable, "-c", script], env={**environment, "CUDA_VISIBLE_DEVICES": str(device)}, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) for device in devices]
        said = [rank_.communicate(timeout=120) for rank_ in ranks]
        answers = len(list(pathlib.Path(folder).glob("twill/answer/*.json")))
    facts = [f"{answers} answers on disk for {len(devices)} processes, of one kernel"]
    results = [json.loads(out.splitlines()[-1]) if out.strip() else None for out, _ in said]
    wrong = [f"a process failed: {error[-600:]}" for (_, error), result in zip(said, results) if result is None]
    facts += [f"GPU {device}: {result['races']}" for device, result in zip(devices, results) if result]
    wrong += [f"GPU {device}: other bits than plain Triton's" for device, result in zip(devices, results) if result and not result["same"]]
    if len({result["sum"] for result in results if result}) > 1:
        wrong.append("the processes have other results")
    return wrong, facts


def rank():
    """One of the processes of `processes`."""
    torch.manual_seed(0)
    case = product()
    plain = left_by(case, 0)
    with twill_gpu.enabled(persistent=False):
        same = rows.same_bits(plain, left_by(case, 0))
        twill_gpu.wait(rows.LONGEST_WAIT)
        same = same and rows.same_bits(plain, left_by(case, 0)) and rows.same_bits(plain, left_by(case, 0))
    print(json.dumps({"same": same, "sum": hashlib.sha256(case.outputs[0].cpu().numpy().tobytes()).hexdigest(), "races": [str(race) for race in twill_gpu.report().races]}))


CHECKS = {"each kernel on each device": each_device, "a race for each device": own_races, "streams": streams, "another device is current": other_current,
          "memory of another device": peer, "graphs": graphs, "threads": threads, "launches in turns": in_turns, "triton.autotune": autotuned,
          "torch.compile": compiled, "processes": processes}


def run(name):
    """Result of one check on all GPUs of this host, at most four."""
    torch.manual_seed(0)
    wrong, facts = CHECKS[name](list(range(min(4, torch.cuda.device_count()))))
    return {"wrong": wrong, "facts": facts}
