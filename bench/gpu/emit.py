"""Emits the kernels that are checked and measured: `emit.py --program twill FOLDER [--strategies LIST] [--bf16] [--only REGEX]
[--one-tile REGEX] [--ping-pong REGEX] [--cluster N] [--alternatives K]`.

Each goes to FOLDER/NAME.STRATEGY. With --bf16, each also goes to NAME.STRATEGY.bf16, from the same TTGIR with bf16 in place of
f16: Triton prints this text for bf16 inputs, since these kernels do not depend on the type. Kernels that match --one-tile are
also emitted with one tile per CTA, as NAME.STRATEGY-one; those of strategy triton that match --ping-pong with turns, as
NAME.triton-turns. Kernels that cannot be emitted are listed with the reason.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRATEGIES = ["twill", "modulo", "triton", "cypress", "sequential"]
SOURCES = {
    "gemm_128x128x64": "gemm/sm_90/tma_128x128x64",
    "gemm_128x256x64": "gemm/sm_90/tma_128x256x64",
    "gemm_ptr": "gemm/sm_90/ptr_128x128x64",
    "conv2d": "conv2d/sm_90/3x3_128x128x64",
    "gemm_persistent": "gemm_persistent/sm_90/128x128x64_nested",
    "gemm_persistent_flat": "gemm_persistent/sm_90/128x256x64_flat",
    "gemm_batched": "gemm_batched/sm_90/128x128x64",
    "dual_gemm": "dual_gemm/sm_90/128x128x64",
    "gemm_rowsum": "gemm_rowsum/sm_90/128x128x64",
    "gemm_rowsum_128x256x64": "gemm_rowsum/sm_90/128x256x64",
    "gemm_bias_nn": "gemm_bias/sm_90/nn_128x128x64",
    "gemm_bias_tt": "gemm_bias/sm_90/tt_256x128x32",
    "fa_bwd_dq": "fa_bwd_dq/sm_90/m128n64d128",
    "fa_fwd_d64": "fa_fwd/sm_90/d64",
    "fa_fwd_d128": "fa_fwd/sm_90/d128",
    "fa_fwd_made_d64": "fa_fwd/sm_90/dev_d64_ws",
    "fa_fwd_made_d128": "fa_fwd/sm_90/dev_d128_ws",
    "fa_fwd_subtiled_d64": "fa_fwd_subtiled/sm_90/2x64n128d64",
    "fa_fwd_subtiled_d128": "fa_fwd_subtiled/sm_90/2x64n128d128",
}
BF16_ONLY = {"gemm_bias_nn", "gemm_bias_tt", "fa_bwd_dq"}  # kernels whose sources are written for bf16


def emit(program, name, strategy, folder, bf16=False, extra=()):
    """The finished process of `twill emit cuda`, which leaves the compiler out unless `extra` has --compile."""
    source = ROOT / "kernels" / f"{SOURCES[name]}.pre.ttgir"
    extra = extra if "--compile" in extra else ["--no-compile", *extra]
    command = [str(program), "emit", "cuda", "--strategy", strategy, "--machine", "h200", "-o", str(folder), *extra]
    if not bf16:
        return subprocess.run([*command, str(source)], capture_output=True, text=True)
    with tempfile.TemporaryDirectory() as scratch:
        changed = pathlib.Path(scratch) / f"{name}_bf16.ttgir"
        changed.write_text(re.sub(r"\bf16\b|(?<=x)f16\b", "bf16", source.read_text()))
        return subprocess.run([*command, str(changed)], capture_output=True, text=True)


def model(program, name, strategy):
    """Cycles of an iteration by the bracket, the co-run model and the simulator."""
    def ask(*words):
        command = [str(program), *words, "--machine", "h200", "--strategy", strategy, "--json", str(ROOT / "kernels" / f"{SOURCES[name]}.pre.ttgir")]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    row, bracket = ask("compare")["rows"][0], ask("schedule").get("bracket") or {}
    return dict(fastest=bracket.get("fastest"), slowest=bracket.get("slowest"), expected=row["expected"], simulated=row["simulated"])


def variants(options, kernel):
    """The suffix behind the strategy in a name, and the options that it stands for."""
    found = [(f"-c{options.cluster}", ["--cluster", str(options.cluster)]) if options.cluster else ("", [])]
    if options.one_tile and re.search(options.one_tile, kernel):
        found.append(("-one", ["--tiles", "one"]))
    if options.ping_pong and kernel.endswith(".triton") and re.search(options.ping_pong, kernel):
        found.append(("-turns", ["--ping-pong"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--instrument", choices=["sections", "steps"], help="with clock stamps; what the model says goes to model.json")
    parser.add_argument("--one-tile", default="", metavar="REGEX", help="of which kernels to emit those with one tile per CTA, too")
    parser.add_argument("--ping-pong", default="", metavar="REGEX", help="of which kernels of strategy triton to emit those that take turns, too")
    parser.add_argument("--cluster", type=int, choices=[1, 2], help="as `twill emit cuda` has it; stands behind the strategy in the name")
    parser.add_argument("--alternatives", type=int, default=0, help="also the first so many, as strategies alt1, alt2, ...")
    options = parser.parse_args()
    if options.alternatives and options.instrument:
        parser.error("what the model says of alternatives is not asked for: --alternatives or --instrument")
    options.folder.mkdir(parents=True, exist_ok=True)
    numbered = {f"alt{n}": ["--alternative", str(n)] for n in range(1, options.alternatives + 1)}
    for strategy in [*options.strategies.split(","), *numbered]:
        for name in SOURCES:
            for variant, words in variants(options, f"{name}.{strategy}"):
                label = f"{name}.{strategy}{variant}" + (".bf16" if options.bf16 else "")
                if not re.search(options.only, label) or (name in BF16_ONLY and not options.bf16):
                    continue
                stamps = ["--instrument", options.instrument] if options.instrument else []
                base = "twill" if strategy in numbered else strategy
                done = emit(options.program, name, base, options.folder / label, options.bf16, [*words, *stamps, *numbered.get(strategy, [])])
                if done.returncode != 0:
                    print(f"{label}: not emitted: {done.stderr.strip().splitlines()[0]}", file=sys.stderr)
                elif stamps:
                    (options.folder / label / "model.json").write_text(json.dumps(model(options.program, name, base), indent=1))


if __name__ == "__main__":
    main()
