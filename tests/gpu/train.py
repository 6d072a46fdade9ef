#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains a small transformer on made-up text: a plain PyTorch script, the hog."""
import argparse
import sys

import loop
import model
import torch
from torch import nn

WORDS, LENGTH, BATCH = 1024, 256, 32


class Sentences(torch.utils.data.IterableDataset):
    """Each word follows from the one before, with some noise: something to learn."""

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        random = torch.Generator().manual_seed(worker.id if worker else 2)
        while True:
            tokens = torch.randint(WORDS, (BATCH, LENGTH), generator=random)
            yield tokens, (tokens * 5 + 7) % WORDS


class Training:
    def __init__(self, workers):
        self.workers = workers

    def reset(self):
        model.repeatable(1)
        self.model = model.Transformer(WORDS, LENGTH, width=512, heads=8, layers=6).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4)
        self.criterion = nn.CrossEntropyLoss()
        self.batches = iter(torch.utils.data.DataLoader(Sentences(), batch_size=None, num_workers=self.workers,
                                                        pin_memory=self.workers > 0))
        self.loss = float("nan")

    def step(self):
        tokens, target = (tensor.cuda(non_blocking=True) for tensor in next(self.batches))
        output = self.model(tokens)
        loss = self.criterion(output.view(-1, WORDS), target.view(-1))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.loss = loss.item()

    def digest(self):
        return {"value": self.loss, "hash": model.digest(self.model.parameters())}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--workers", type=int, default=0)
    own, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    loop.main(__doc__ + " (--workers N: batches come from N processes)", lambda: Training(own.workers))
