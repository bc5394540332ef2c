"""A product that a user of PyTorch writes in Triton: a kernel with descriptors, in an operator that torch.compile can inspect."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def product(a_desc, b_desc, c_desc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a_desc.load([row, k]), b_desc.load([k, column]), total)
    c_desc.store([row, column], total.to(tl.float16))


def user_product(a, b):
    """a @ b, of halves, whose sizes are multiples of the tile's."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    descriptors = [TensorDescriptor.from_tensor(tensor, shape) for tensor, shape in ((a, [128, 64]), (b, [64, 256]), (c, [128, 256]))]
    product[(m // 128, n // 256)](*descriptors, m, n, k, BM=128, BN=256, BK=64, num_warps=8, num_stages=3)
    return c
