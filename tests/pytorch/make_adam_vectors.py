#!/usr/bin/env python3
"""Makes adam_vectors.txt: what PyTorch's Adam and AdamW do to known numbers.

The tests read the file and need no PyTorch; only making it anew does. In an
environment that has PyTorch and NumPy:

    python3 tests/pytorch/make_adam_vectors.py > tests/pytorch/adam_vectors.txt

Hyper-parameters are as Apex chooses them, so that every term shows in the
result: betas (0.1, 0.2), eps 0.25, weight decay 0.1 for group 0 and 0 for group
1, and learning rates 0.05 and 0.02. Parameters have odd sizes. Each is updated
10 times on the CPU by the unfused, single-tensor path.

Initial values and gradients are not in the file: both sides compute them.
Number k of a sequence with key `s` is

    x = s * 2^32 + k
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9    modulo 2^64
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb    modulo 2^64
    x =  x ^ (x >> 31)
    value = ((x >> 40) - 2^23) / 2^23 * 2^-(x & 7)

which is exact in float and in [-1, 1). The key of the initial values of
parameter i is 1000 * i, that of its gradients at step t is 1000 * i + t.

A line of the file is one of

    # remark
    optimizer NAME
    parameter INDEX group GROUP lr LR decay DECAY count COUNT
    step STEP ARRAY          ARRAY is p, m or v; then 8 floats to a line,
    3f800000 ...             each as the 8 hexadecimal digits of its bits
"""

import numpy
import torch

MASK = 2**64 - 1
BETAS = (0.1, 0.2)
EPSILON = 0.25
# (elements, group)
PARAMETERS = ((1, 0), (7, 1), (333, 0), (1025, 1), (64, 0))
LEARNING_RATES = (0.05, 0.02)
DECAYS = (0.1, 0.0)
STEPS = 10
# Arrays that are written after a step.
WRITTEN = {1: "pmv", 2: "p", 10: "pmv"}


def number(key, index):
    x = (key * 2**32 + index) & MASK
    x = ((x ^ (x >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    x = ((x ^ (x >> 27)) * 0x94d049bb133111eb) & MASK
    x ^= x >> 31
    return ((x >> 40) - 2**23) / 2**23 * 2.0**-(x & 7)


def sequence(key, count):
    return torch.tensor([number(key, k) for k in range(count)],
                        dtype=torch.float32)


def write_array(values):
    bits = values.detach().numpy().astype(numpy.float32).view(numpy.uint32)
    for at in range(0, len(bits), 8):
        print(" ".join("%08x" % word for word in bits[at:at + 8]))


def run(name, kind):
    print("optimizer", name)
    for index, (count, group) in enumerate(PARAMETERS):
        print("parameter %d group %d lr %r decay %r count %d" %
              (index, group, LEARNING_RATES[group], DECAYS[group], count))
        p = torch.nn.Parameter(sequence(1000 * index, count))
        optimizer = kind([p], lr=LEARNING_RATES[group], betas=BETAS,
                         eps=EPSILON, weight_decay=DECAYS[group],
                         foreach=False, fused=False)
        for step in range(1, STEPS + 1):
            p.grad = sequence(1000 * index + step, count)
            optimizer.step()
            state = optimizer.state[p]
            arrays = {"p": p, "m": state["exp_avg"], "v": state["exp_avg_sq"]}
            for array in WRITTEN.get(step, ""):
                print("step", step, array)
                write_array(arrays[array])


def main():
    torch.set_num_threads(1)
    print("# Made by make_adam_vectors.py with PyTorch " + torch.__version__)
    run("adamw", torch.optim.AdamW)
    run("adam", torch.optim.Adam)


if __name__ == "__main__":
    main()
