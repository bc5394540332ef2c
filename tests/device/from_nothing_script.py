"""An attention kernel that its owner launches repeatedly: from_nothing.py runs it, with TWILL=1 and without. It does not mention Twill."""

import json
import time

import torch
from fa_fwd import fa_fwd
from triton.tools.tensor_descriptor import TensorDescriptor

torch.manual_seed(0)
HEADS, TOKENS, D = 32, 4096, 128
q, k, v = (torch.randn(HEADS * TOKENS, D, device="cuda", dtype=torch.float16) for _ in range(3))
o, lse = torch.empty_like(q), torch.empty(HEADS * TOKENS, device="cuda")
tiles = [TensorDescriptor.from_tensor(tensor, [128, D]) for tensor in (q, k, v, o)]


def launch():
    fa_fwd[(TOKENS // 128, HEADS)](*tiles, lse, D**-0.5, TOKENS, BM=128, BN=128, D=D, WS=False, num_warps=8, num_stages=3)


def milliseconds(launches):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(launches):
        launch()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / launches


first = time.monotonic()
while time.monotonic() - first < 8:  # a program at work: the drop-in needs some seconds
    milliseconds(20)
    time.sleep(0.05)
print(json.dumps({"ms": sorted(milliseconds(10) for _ in range(9))[4], "sum": float(o.double().sum())}))
