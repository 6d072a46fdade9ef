#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Answers requests with a small transformer: a plain PyTorch script, the important program."""
import argparse
import hashlib
import sys

import loop
import model
import torch

WORDS, LENGTH, BATCH = 4096, 128, 4


class Inference:
    """A request: tokens to the GPU, the model, the logits of the last word back."""

    def __init__(self, use_graph, compiled):
        model.repeatable(3)
        self.model = model.Transformer(WORDS, LENGTH, width=512, heads=8, layers=4).cuda().eval()
        if compiled:
            self.model = torch.compile(self.model)
        self.requests = [torch.randint(WORDS, (BATCH, LENGTH)).pin_memory() for _ in range(16)]
        self.answer = torch.empty((BATCH, WORDS), pin_memory=True)
        self.tokens = self.requests[0].cuda()
        self.graph = self.captured() if use_graph else None

    @torch.inference_mode()
    def compute(self):
        self.logits = self.model(self.tokens)[:, -1]

    def captured(self):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.compute()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.compute()
        return graph

    def reset(self):
        self.number = 0
        self.hash = hashlib.sha256()

    @torch.inference_mode()
    def step(self):
        self.tokens.copy_(self.requests[self.number % len(self.requests)], non_blocking=True)
        if self.graph:
            self.graph.replay()
        else:
            self.compute()
        self.answer.copy_(self.logits, non_blocking=True)
        torch.cuda.current_stream().synchronize()
        # Enough to compare; all of them would make the hash the program's main work.
        if self.number < 64:
            self.hash.update(self.answer.numpy().tobytes())
        self.number += 1

    def digest(self):
        return {"value": float(self.answer.sum()), "hash": self.hash.hexdigest()[:16]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--compile", action="store_true")
    own, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    loop.main(__doc__ + " (--graph: as a captured CUDA graph; --compile: by torch.compile)",
              lambda: Inference(own.graph, own.compile))
