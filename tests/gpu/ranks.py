#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data-parallel training by two ranks on one GPU, which add up their gradients with gloo."""
import os
import tempfile

import leader
import model
import torch
import torch.distributed as dist
from torch import nn

WORDS, LENGTH, BATCH, RANKS = 512, 128, 16, 2
RESET, STEP, END = range(3)


class Replica:
    def __init__(self, rank, store):
        self.rank = rank
        dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)

    def reset(self):
        model.repeatable(7)
        self.model = model.Transformer(WORDS, LENGTH, width=256, heads=8, layers=3).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.random = torch.Generator().manual_seed(self.rank)
        self.loss = float("nan")

    def step(self):
        tokens = torch.randint(WORDS, (BATCH, LENGTH), generator=self.random)
        target = ((tokens * 3 + 1) % WORDS).cuda()
        output = self.model(tokens.cuda())
        loss = nn.functional.cross_entropy(output.view(-1, WORDS), target.view(-1))
        self.optimizer.zero_grad()
        loss.backward()
        for parameter in self.model.parameters():
            gradient = parameter.grad.cpu()
            dist.all_reduce(gradient)
            parameter.grad.copy_(gradient / RANKS)
        self.optimizer.step()
        self.loss = loss.item()


class Leader(Replica):
    """Rank 0, which tells the other what to do."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="ranks-")
        store = os.path.join(self.folder, "store")
        self.other = leader.start_other(store)
        super().__init__(0, store)

    def tell(self, order):
        dist.broadcast(torch.tensor([order]), 0)

    def reset(self):
        self.tell(RESET)
        super().reset()

    def step(self):
        self.tell(STEP)
        super().step()

    def digest(self):
        return {"value": self.loss, "hash": model.digest(self.model.parameters())}

    def end(self):
        self.tell(END)
        self.other.wait()


def follow(store, rank):
    replica = Replica(rank, store)
    order = torch.tensor([END])
    while True:
        dist.broadcast(order, 0)
        if order.item() == END:
            return
        replica.step() if order.item() == STEP else replica.reset()


if __name__ == "__main__":
    leader.main(__doc__, Leader, follow)
