#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data-parallel training of a small model by ranks on a GPU each (DDP_RANKS, 2), which add up their gradients
with NCCL: a plain PyTorch script, bound by its launches unless its model is to fill the device."""
import datetime
import os
import tempfile

import leader
import model
import torch
import torch.distributed as dist
from torch import nn

WORDS, LENGTH = 512, 64
RANKS = int(os.environ.get("DDP_RANKS", "2"))
# Of sequences and of the model; one that fills the device where DDP_FILLS is set, which the other ranks inherit.
FILLS = bool(os.environ.get("DDP_FILLS"))
BATCH, WIDTH, LAYERS = (128, 1024, 8) if FILLS else (8, 128, 2)
# What the ranks agree on: to end, to begin anew, or so many steps, which are to be done soon.
END, RESET, TOGETHER = 0, -1, 2 if FILLS else 32


class Replica:
    def __init__(self, rank, store):
        self.rank = rank
        torch.cuda.set_device(rank)
        dist.init_process_group("nccl", init_method=f"file://{store}", rank=rank, world_size=RANKS,
                                timeout=datetime.timedelta(seconds=120), device_id=torch.device("cuda", rank))
        self.orders = dist.new_group(backend="gloo")

    def reset(self):
        model.repeatable(11)
        own = model.Transformer(WORDS, LENGTH, width=WIDTH, heads=4, layers=LAYERS).cuda()
        self.model = nn.parallel.DistributedDataParallel(own, device_ids=[self.rank])
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.random = torch.Generator().manual_seed(self.rank)
        self.loss = float("nan")

    def train(self):
        tokens = torch.randint(WORDS, (BATCH, LENGTH), generator=self.random)
        target = ((tokens * 3 + 1) % WORDS).cuda()
        output = self.model(tokens.cuda())
        loss = nn.functional.cross_entropy(output.view(-1, WORDS), target.view(-1))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.loss = loss.item()


class Leader(Replica):
    """Rank 0, which tells the others what to do."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="ddp-")
        store = os.path.join(self.folder, "store")
        self.left = 0  # steps that all have agreed on, and are still to be done
        self.next = 1
        self.others = [leader.start_other(store, rank) for rank in range(1, RANKS)]
        super().__init__(0, store)

    def tell(self, order):
        dist.broadcast(torch.tensor([order]), 0, group=self.orders)

    def finish(self):
        """The others wait on their GPUs, and keep those busy, for the rest of what all have agreed on."""
        while self.left:
            self.step()

    def reset(self):
        self.finish()
        self.tell(RESET)
        # Whoever takes one step, as all programs do before their first order, leaves nobody waiting.
        self.next = 1
        super().reset()

    def step(self):
        if not self.left:
            self.tell(self.next)
            self.left, self.next = self.next, TOGETHER
        self.train()
        self.left -= 1

    def digest(self):
        self.finish()
        return {"value": self.loss, "hash": model.digest(self.model.parameters())}

    def end(self):
        self.finish()
        self.tell(END)
        for other in self.others:
            other.wait()


def follow(store, rank):
    replica = Replica(rank, store)
    order = torch.tensor([END])
    while True:
        dist.broadcast(order, 0, group=replica.orders)
        if order.item() == END:
            return
        if order.item() == RESET:
            replica.reset()
        for _ in range(order.item()):
            replica.train()


if __name__ == "__main__":
    leader.main(__doc__, Leader, follow)
