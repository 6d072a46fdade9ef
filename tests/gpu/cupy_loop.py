#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A matrix product, an elementwise kernel and a reduction in CuPy, one after another."""
import hashlib

import cupy
import loop
import numpy

SIZE = 1024

blend = cupy.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = 0.5f * x + 0.5f * y / (1.0f + fabsf(y))",
                               "blend")


class Mixture:
    def __init__(self):
        random = numpy.random.default_rng(5)
        self.start = cupy.asarray(random.standard_normal((SIZE, SIZE), dtype=numpy.float32))
        self.weights = cupy.asarray(random.standard_normal((SIZE, SIZE), dtype=numpy.float32) / 32)

    def reset(self):
        self.x = self.start.copy()

    def step(self):
        self.x = blend(self.x, self.x @ self.weights)
        self.x -= self.x.mean()
        cupy.cuda.get_current_stream().synchronize()

    def digest(self):
        found = cupy.asnumpy(self.x)
        return {"value": float(numpy.abs(found).sum()),
                "hash": hashlib.sha256(found.tobytes()).hexdigest()[:16]}


if __name__ == "__main__":
    loop.main(__doc__, Mixture)
