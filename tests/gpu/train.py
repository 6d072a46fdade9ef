#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains a small transformer on made-up text: a plain PyTorch script, the hog."""
import loop
import model
import torch
from torch import nn

WORDS, LENGTH, BATCH = 1024, 256, 32


class Training:
    def reset(self):
        model.repeatable(1)
        self.model = model.Transformer(WORDS, LENGTH, width=512, heads=8, layers=6).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4)
        self.criterion = nn.CrossEntropyLoss()
        self.random = torch.Generator().manual_seed(2)
        self.loss = float("nan")

    def step(self):
        # Each word follows from the one before, with some noise: something to learn.
        tokens = torch.randint(WORDS, (BATCH, LENGTH), generator=self.random)
        target = (tokens * 5 + 7) % WORDS
        tokens, target = tokens.cuda(), target.cuda()
        output = self.model(tokens)
        loss = self.criterion(output.view(-1, WORDS), target.view(-1))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.loss = loss.item()

    def digest(self):
        return {"value": self.loss, "hash": model.digest(self.model.parameters())}


if __name__ == "__main__":
    loop.main(__doc__, Training)
