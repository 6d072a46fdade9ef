#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A compiled chain of matrix products and tanh in JAX, one call after another."""
import hashlib

import jax
import jax.numpy as jnp
import loop
import numpy

SIZE, PRODUCTS = 1024, 8


@jax.jit
def chain(x, weights):
    for _ in range(PRODUCTS):
        x = jnp.tanh(x @ weights)
    return x


class Chain:
    def __init__(self):
        random = numpy.random.default_rng(4)
        self.start = jnp.asarray(random.standard_normal((SIZE, SIZE), dtype=numpy.float32))
        self.weights = jnp.asarray(random.standard_normal((SIZE, SIZE), dtype=numpy.float32) / 32)
        if self.start.devices().pop().platform == "cpu":
            raise SystemExit("jax_loop.py: JAX found no GPU")

    def reset(self):
        self.x = self.start

    def step(self):
        self.x = chain(self.x, self.weights)
        self.x.block_until_ready()

    def digest(self):
        found = numpy.asarray(self.x)
        return {"value": float(numpy.abs(found).sum()),
                "hash": hashlib.sha256(found.tobytes()).hexdigest()[:16]}


if __name__ == "__main__":
    loop.main(__doc__, Chain)
