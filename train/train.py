#!/usr/bin/env python3
"""Trains a reader on train/data.

    .venv/bin/python train/train.py --seed 1 --out train/out/seed1

Writes OUT.safetensors (the weights, float32) and OUT.json (what it was trained with, and the figures on what was held
out). The same seed, data and processor give the same weights: one thread, no other source of chance. An epoch of pairs
takes a quarter of an hour on one core, which is faster than two; on a GPU, which nothing depends on, some seconds.
"""
import argparse
import hashlib
import json
import pathlib
import random
import sys
import time

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

import pairs
import tasks
from backbone import CLS, DIM, SEP
from measure import measure
from model import LOSSES, TAG_LAYERS, Encode, Example, Reader, batches, grouped

RENAMED = 0.6  # of the texts with names, in each epoch
WARM_UP = 0.06  # share of the steps
NEIGHBOURS = 12  # the nearest statements of other records, one of which makes a pair of strangers


@torch.no_grad()
def nearest(backbone, encode, statements):
    """For each statement the nearest ones of other records, by the untrained encoder's vectors."""
    backbone.eval()
    seqs = [Example([CLS, *encode.text(text), SEP]) for _, text, _ in statements]
    place = {id(e): i for i, e in enumerate(seqs)}
    vectors = torch.zeros(len(seqs), DIM, device=backbone.words.device)
    for b in batches(seqs, 256):
        x, mask = backbone([e.ids for e in b])
        vectors[[place[id(e)] for e in b]] = F.normalize((x * mask[..., None]).sum(1), dim=1)
    owner = torch.tensor([hash_of(o) for o, _, _ in statements], device=vectors.device)
    out = []
    for i in range(0, len(seqs), 512):
        cos = vectors[i : i + 512] @ vectors.T
        cos[owner[i : i + 512, None] == owner[None]] = -1
        out += cos.topk(NEIGHBOURS, 1).indices.tolist()
    backbone.train()
    return out


def hash_of(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "little")


def epoch_examples(train, other, encode, rng, near, statements, arg):
    """One epoch's batches, drawn anew: a list of (head, examples)."""
    todo, learn = [], arg.tasks.split(",")
    if "pair" in learn:
        drawn = [encode.pair(a, b, label) for a, b, label in
                 pairs.epoch(train, rng, near, statements, arg.strangers, arg.notes)]
        todo += [("pair", b) for b in batches(drawn, arg.batch, rng)]
    if "ask" in learn:
        records = {}
        some = other["ask"] + list(tasks.memories(other["framed"], rng))
        some = [rng.random() < tasks.JOINED and tasks.joined(r, rng) or r for r in some]
        for q, p, s, n in tasks.questions(some, rng):
            e = encode.ask(q, p, s)
            e.group = n
            records.setdefault(n, []).append(e)
        groups = [some_of(g, arg.passages, rng) for g in records.values()]
        groups += opened(other["ask"], encode, rng, arg)
        todo += [("ask", b) for b in grouped(groups, arg.batch // 2, rng)]
    if "tag" in learn:
        pool = tasks.names_of(other["spans"])
        drawn = [encode.tag(tasks.renamed(r, pool, rng) if rng.random() < RENAMED else r)
                 for r in other["spans"] + other["times"]]
        todo += [("tag", b) for b in batches(drawn, arg.tag_batch, rng)]
    if "sentence" in learn:
        drawn = [e for e in map(encode.sentences, other["spans"]) if e.sentences]
        todo += [("sentence", b) for b in batches(drawn, arg.tag_batch, rng)]
    rng.shuffle(todo)
    return todo


def opened(some, encode, rng, arg):
    """Groups of questions whose answers have been taken out."""
    out = []
    for n, r in enumerate(some):
        r = tasks.left_open(r, rng) if r["answer"] and rng.random() < arg.opened else None
        if r:
            group = [encode.ask(q, p, s) for q, p, s, _ in tasks.questions([r], rng)]
            out.append(group[:1] + rng.sample(group[1:], min(arg.passages, len(group)) - 1))
            for e in out[-1]:
                e.group = ~n
    return out


def some_of(group, most, rng):
    """Some of the passages of a question, among them what answers it."""
    rng.shuffle(group)
    return sorted(group, key=lambda e: e.label)[:most]


def build_parser():
    arg = argparse.ArgumentParser()
    arg.add_argument("--seed", type=int, default=1)
    arg.add_argument("--tasks", default="pair", help="of pair, ask, tag, sentence, by comma")
    arg.add_argument("--epochs", type=int, default=7)
    arg.add_argument("--passages", type=int, default=5, help="of a question, in an epoch")
    arg.add_argument("--opened", type=float, default=0.5, help="of the answered questions, asked without the answer")
    arg.add_argument("--frozen", type=int, default=0, help="layers that are not trained")
    arg.add_argument("--strangers", type=float, default=0.25, help="pairs of strangers, to one other pair")
    arg.add_argument("--notes", type=float, default=0.3, help="share of the frames' pairs that stand in notes")
    arg.add_argument("--tag-layers", type=int, default=TAG_LAYERS, help="that a text goes through to be tagged")
    arg.add_argument("--rate", type=float, default=1.5e-4)
    arg.add_argument("--batch", type=int, default=256)
    arg.add_argument("--tag-batch", type=int, default=16)
    arg.add_argument("--device", default="cpu")
    arg.add_argument("--resume", help="what an earlier training wrote, to go on from")
    arg.add_argument("--start", help="published weights, in place of the package's")
    arg.add_argument("--keep", help="layers of them, by comma")
    arg.add_argument("--words", help="weights whose word vectors take the place of their own; package: the package's")
    arg.add_argument("--out")
    return arg


class Training:
    """A training, by epochs. taught(rng, encode, batch) gives what teachers have read, for an epoch, as batches."""

    def __init__(self, arg, taught=None):
        torch.set_num_threads(1)
        torch.manual_seed(arg.seed)
        self.arg, self.taught, self.rng, self.start = arg, taught, random.Random(arg.seed), time.time()
        self.train, held = pairs.load()
        self.held_pairs = pairs.held_out(held, arg.notes > 0) if "pair" in arg.tasks else []
        self.other, self.held_other = tasks.load() if arg.tasks != "pair" else ({}, {})
        self.encode = Encode()
        keep = [int(k) for k in arg.keep.split(",")] if arg.keep else None
        self.model = Reader(arg.frozen, arg.start, keep, arg.tag_layers)
        if arg.words:
            self.model.encoder.take_words(None if arg.words == "package" else arg.words)
        if arg.resume:
            earlier = load_file(arg.resume)
            known = self.model.state_dict()
            same = {k: v for k, v in earlier.items() if k in known and known[k].shape == v.shape}
            self.model.load_state_dict(same, strict=False)
        self.model.to(arg.device)
        asked = [r for r, out in tasks.batches_of("*qa-*.xz") if not out] if "pair" in arg.tasks else []
        self.train["said"] = pairs.said(asked)
        self.statements = pairs.statements(self.train) + self.train["said"]
        self.near = nearest(self.model.encoder, self.encode, self.statements) if "pair" in arg.tasks else None
        self.log = []

    def examples(self):
        todo = epoch_examples(self.train, self.other, self.encode, self.rng, self.near, self.statements, self.arg)
        if self.taught:
            todo += self.taught(self.rng, self.encode, self.arg.batch)
            self.rng.shuffle(todo)
        return todo

    def run(self):
        """Trains, and returns the model."""
        arg, model = self.arg, self.model
        body = [p for p in model.encoder.parameters() if p.requires_grad]
        head = [p for n, p in model.named_parameters() if not n.startswith("encoder.")]
        optimizer = torch.optim.AdamW(
            [{"params": body, "lr": arg.rate}, {"params": head, "lr": 5 * arg.rate}], weight_decay=0.01,
            fused=arg.device != "cpu")
        todo = self.examples()
        steps = len(todo) * arg.epochs
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda s: min((s + 1) / (WARM_UP * steps), max(0.0, (steps - s) / ((1 - WARM_UP) * steps))))
        model.train()
        for n in range(arg.epochs):
            if n > 0:
                todo = self.examples()
            total = skipped = 0
            for kind, batch in todo:
                loss = LOSSES[kind](getattr(model, kind)(batch), batch)
                loss.backward()
                if torch.isfinite(nn.utils.clip_grad_norm_(body, 1.0)):
                    optimizer.step()
                    total += loss.item()
                else:  # a device's arithmetic has failed once
                    skipped += 1
                schedule.step()
                optimizer.zero_grad()
            self.log.append({
                "epoch": n, "loss": round(total / len(todo), 4), "skipped": skipped,
                "seconds": round(time.time() - self.start),
                "held out": measure(model, self.encode, self.held_pairs, self.held_other)})
            print(json.dumps(self.log[-1]), flush=True)
        return model

    def save(self):
        """Writes the weights of the heads that were trained, and what they were made with."""
        out = pathlib.Path(self.arg.out)
        out.parent.mkdir(parents=True, exist_ok=True)
        heads = [h for t in self.arg.tasks.split(",") for h in HEADS[t]]
        kept = {k: v.contiguous().cpu() for k, v in self.model.state_dict().items()
                if k.startswith("encoder.") or k.split(".")[0] in heads}
        if "tag_out" in heads:
            kept["tag_layers"] = torch.tensor([float(self.model.tag_layers)])
        save_file(kept, f"{out}.safetensors")
        data = hashlib.sha256()
        for path in sorted(pairs.DATA.glob("*.xz")):
            data.update(path.read_bytes())
        made = {**vars(self.arg), "data": data.hexdigest(), "torch": torch.__version__,
                "python": sys.version.split()[0]}
        pathlib.Path(f"{out}.json").write_text(json.dumps({"made": made, "log": self.log}, indent=1) + "\n")


HEADS = {"pair": ["hidden", "out"], "ask": ["ask_hidden", "ask_out", "ask_span"],
         "tag": ["tag_out", "tense_out", "spelling"], "sentence": ["class_look", "class_hidden", "class_out"]}


def main():
    training = Training(build_parser().parse_args())
    training.run()
    training.save()


if __name__ == "__main__":
    main()
