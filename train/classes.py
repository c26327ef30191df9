#!/usr/bin/env python3
"""Trains the classes of sentences, and nothing else, behind a reader that tags.

    .venv/bin/python train/classes.py --seed 1 train/out/answers1.safetensors --out train/out/answers1c

Writes OUT.safetensors (what it was given, bit for bit, and the head) and OUT.json (figures on what was held out). The
texts go through the layers once, as they do when the service takes them in; the head learns from the states that they
leave, in about a minute on one core beside three of reading.
"""
import argparse
import json
import pathlib

import numpy as np
import torch
from safetensors.torch import load_file, save_file

import tasks
from measure import measure_classes
from model import Encode, Reader, apart, batches, sentence_loss
from train import HEADS, WARM_UP


@torch.no_grad()
def states(model, examples):
    """Each sentence's example, and the states of its tokens in its text."""
    out = []
    for b in batches(examples, 32):
        x = model.tag_states(b)
        out += [(x[i, s:t].half(), c) for i, e in enumerate(b) for s, t, c in e.sentences]
    return out


class Labelled:
    """What sentence_loss asks of an example."""

    def __init__(self, label):
        self.sentences = [(0, 0, label)]


def main():
    arg = argparse.ArgumentParser()
    arg.add_argument("trained", help="weights of a reader that tags")
    arg.add_argument("--seed", type=int, default=1)
    arg.add_argument("--epochs", type=int, default=10)
    arg.add_argument("--rate", type=float, default=2e-3)
    arg.add_argument("--batch", type=int, default=128)
    arg.add_argument("--out", required=True)
    arg = arg.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(arg.seed)
    rng, encode, model, given = np.random.RandomState(arg.seed), Encode(), Reader(), load_file(arg.trained)
    model.load_state_dict(given, strict=False)
    model.eval()
    train, held = tasks.load()
    some = states(model, [e for e in map(encode.sentences, train["spans"]) if e.sentences])
    head = {n: p for n, p in model.named_parameters() if n.split(".")[0] in HEADS["sentence"]}
    optimizer = torch.optim.AdamW(head.values(), lr=arg.rate, weight_decay=0.02)
    log, step, steps = [], 0, arg.epochs * -(-len(some) // arg.batch)
    for epoch in range(arg.epochs):
        model.train()
        order, total = rng.permutation(len(some)), 0.0
        for at in range(0, len(some), arg.batch):
            batch = [some[i] for i in order[at : at + arg.batch]]
            for group in optimizer.param_groups:
                group["lr"] = arg.rate * min((step + 1) / (WARM_UP * steps), 1 - step / steps)
            step += 1
            loss = sentence_loss(model.classes(*apart([x.float() for x, _ in batch])), [Labelled(c) for _, c in batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        log.append({"epoch": epoch, "loss": round(total / len(some), 4)})
    log[-1]["held out"] = measure_classes(model, encode, held["spans"])
    print(json.dumps(log[-1]))
    out = pathlib.Path(arg.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    save_file({**given, **{n: p.detach().contiguous() for n, p in head.items()}}, f"{out}.safetensors")
    pathlib.Path(f"{out}.json").write_text(json.dumps({"made": vars(arg), "log": log}, indent=1) + "\n")


if __name__ == "__main__":
    main()
