#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Game-of-life steps and a reduction in numba-cuda."""
import hashlib

import loop
import numpy

# Some numba asks numpy 2.5 for what that has no more.
if not hasattr(numpy, "row_stack"):
    numpy.row_stack = numpy.vstack
from numba import cuda  # noqa: E402

SIZE, GENERATIONS = 2048, 20


@cuda.jit
def generation(before, after):
    x, y = cuda.grid(2)
    n = before.shape[0]
    if x >= n or y >= n:
        return
    alive = 0
    for dx in range(-1, 2):
        for dy in range(-1, 2):
            if dx != 0 or dy != 0:
                alive += before[(x + dx) % n, (y + dy) % n]
    after[x, y] = 1 if alive == 3 or (alive == 2 and before[x, y] == 1) else 0


@cuda.jit
def population(cells, total):
    x, y = cuda.grid(2)
    if x < cells.shape[0] and y < cells.shape[1]:
        cuda.atomic.add(total, 0, cells[x, y])


class Life:
    def __init__(self):
        self.start = numpy.random.default_rng(4).integers(0, 2, (SIZE, SIZE)).astype(numpy.int32)
        self.total = cuda.to_device(numpy.zeros(1, dtype=numpy.int32))

    def reset(self):
        self.cells = cuda.to_device(self.start)
        self.other = cuda.device_array_like(self.cells)
        self.counts = []

    def step(self):
        blocks = (SIZE // 16, SIZE // 16)
        for _ in range(GENERATIONS):
            generation[blocks, (16, 16)](self.cells, self.other)
            self.cells, self.other = self.other, self.cells
        population[blocks, (16, 16)](self.cells, self.total)
        self.counts.append(int(self.total.copy_to_host()[0]))

    def digest(self):
        found = hashlib.sha256(self.cells.copy_to_host().tobytes()).hexdigest()[:16]
        return {"value": float(self.counts[-1] - self.counts[0]), "hash": found}


if __name__ == "__main__":
    loop.main(__doc__, Life)
