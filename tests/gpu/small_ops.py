#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many small PyTorch operations, one after another: what the CPU does for each is what counts."""
import hashlib

import loop
import torch

OPERATIONS = 1000


class Small:
    def reset(self):
        self.x = torch.zeros(1024, device="cuda")

    def step(self):
        for _ in range(OPERATIONS):
            self.x.add_(1)
        torch.cuda.synchronize()

    def digest(self):
        found = self.x.cpu().numpy()
        return {"value": float(found[0]), "hash": hashlib.sha256(found.tobytes()).hexdigest()[:16]}


if __name__ == "__main__":
    loop.main(__doc__, Small)
