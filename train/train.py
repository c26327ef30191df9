#!/usr/bin/env python3
"""Trains the reader that tells whether two statements contradict each other.

    python3 -m venv .venv && .venv/bin/pip install -r train/requirements.txt
    .venv/bin/python train/train.py --seed 1 --out train/out/seed1

Writes OUT.safetensors (the weights, float32) and OUT.json (what it was trained with, and the figures on what was held
out). The same seed, data and processor give the same weights: one thread, no other source of chance. It takes about an
hour on one core; two threads are slower than one.
"""
import argparse
import hashlib
import json
import pathlib
import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

import pairs
from backbone import CLS, DIM, SEP, Backbone, tokenizer

LONGEST = 120  # tokens of a statement
BATCH = 32
WARM_UP = 0.06  # share of the steps
SMOOTHING = 0.05
NEIGHBOURS = 12  # the nearest statements of other records, one of which makes a pair of strangers


class Reader(nn.Module):
    """The encoder, and a head on [CLS] and the mean of the states."""

    def __init__(self, frozen):
        super().__init__()
        self.encoder = Backbone(frozen)
        self.hidden, self.out = nn.Linear(2 * DIM, DIM), nn.Linear(DIM, len(pairs.LABELS))

    def forward(self, sequences):
        x, mask = self.encoder(sequences)
        mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        h = torch.tanh(self.hidden(torch.cat([x[:, 0], mean], 1)))
        return self.out(F.dropout(h, 0.1, self.training))


class Encode:
    """Turns pairs into token ids, remembering statements."""

    def __init__(self):
        self.tokenizer, self.known = tokenizer(), {}

    def statement(self, text):
        if text not in self.known:
            self.known[text] = self.tokenizer.encode(text, add_special_tokens=False).ids[:LONGEST]
        return self.known[text]

    def pair(self, a, b):
        return [CLS, *self.statement(a), SEP, *self.statement(b), SEP]


def loss_of(logits, labels):
    """Cross-entropy; of a pair that is only known not to contradict, that of its two other labels together."""
    log = F.log_softmax(logits, 1)
    either = torch.logsumexp(log[:, 1:], 1)
    known = log.gather(1, labels.clamp(max=2)[:, None])[:, 0]
    right = torch.where(labels == pairs.NO_CONTRADICTION, either, known)
    return -((1 - SMOOTHING) * right + SMOOTHING * log.mean(1)).mean()


def batches(sequences, size, shuffle=None):
    """Index lists of like length. With shuffle, like only within some thousand drawn at random."""
    order = list(range(len(sequences)))
    if shuffle:
        shuffle.shuffle(order)
        big = [sorted(order[i : i + 1024], key=lambda j: len(sequences[j])) for i in range(0, len(order), 1024)]
        out = [b[i : i + size] for b in big for i in range(0, len(b), size)]
        shuffle.shuffle(out)
        return out
    order.sort(key=lambda j: len(sequences[j]))
    return [order[i : i + size] for i in range(0, len(order), size)]


@torch.no_grad()
def predict(model, sequences):
    """Probabilities [n, labels]."""
    model.eval()
    out = np.zeros((len(sequences), len(pairs.LABELS)))
    for b in batches(sequences, 64):
        out[b] = F.softmax(model([sequences[j] for j in b]), 1).numpy()
    model.train()
    return out


@torch.no_grad()
def nearest(backbone, encode, statements):
    """For each statement the nearest ones of other records, by the untrained encoder's vectors."""
    backbone.eval()
    seqs = [[CLS, *encode.statement(text), SEP] for _, text in statements]
    vectors = np.zeros((len(seqs), DIM), np.float32)
    for b in batches(seqs, 64):
        x, mask = backbone([seqs[j] for j in b])
        vectors[b] = F.normalize((x * mask[..., None]).sum(1), dim=1).numpy()
    owner = np.array([hash_of(o) for o, _ in statements])
    out = []
    for i in range(0, len(seqs), 512):
        cos = vectors[i : i + 512] @ vectors.T
        cos[owner[i : i + 512, None] == owner[None]] = -1
        out += np.argpartition(-cos, NEIGHBOURS, 1)[:, :NEIGHBOURS].tolist()
    backbone.train()
    return out


def hash_of(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "little")


def figures(score, truth):
    """Average precision; the best recall at a precision of .9 and of .95; both at a score of .5 and .9."""
    order = np.argsort(-score, kind="stable")
    hits = truth[order]
    precision, recall = np.cumsum(hits) / np.arange(1, len(hits) + 1), np.cumsum(hits) / max(1, hits.sum())
    out = {"n": len(truth), "ap": float((precision * hits).sum() / max(1, hits.sum()))}
    for p in (0.9, 0.95):
        out[f"recall@{p}"] = float(recall[precision >= p].max(initial=0))
    for at in (0.5, 0.9):
        said = score > at
        out[f"p,r>{at}"] = [float(truth[said].mean()) if said.any() else 0.0, float(truth[said].sum() / truth.sum())]
    return {k: v if k == "n" else np.round(v, 3).tolist() for k, v in out.items()}


def measure(model, encode, held):
    """Figures of contradiction on what is held out: all, English, other languages, each batch's average precision."""
    p = predict(model, [encode.pair(a, b) for a, b, *_ in held])
    score, truth = p[:, 0], np.array([h[2] == pairs.CONTRADICT for h in held])
    english = np.array([h[4] == "en" for h in held])
    out = {"all": figures(score, truth), "english": figures(score[english], truth[english])}
    if not english.all():
        out["other languages"] = figures(score[~english], truth[~english])
    known = [i for i, h in enumerate(held) if h[2] != pairs.NO_CONTRADICTION]
    out["right of three"] = round(float(np.mean([p[i].argmax() == held[i][2] for i in known])), 3)
    out["ap by batch"] = {}
    for name in sorted({h[3] for h in held}):
        here = np.array([h[3] == name for h in held])
        out["ap by batch"][name] = figures(score[here], truth[here])["ap"]
    return out


def main():
    arg = argparse.ArgumentParser()
    arg.add_argument("--seed", type=int, default=1)
    arg.add_argument("--epochs", type=int, default=5)
    arg.add_argument("--frozen", type=int, default=0, help="layers that are not trained")
    arg.add_argument("--strangers", type=float, default=0.25, help="pairs of strangers, to one other pair")
    arg.add_argument("--rate", type=float, default=1e-4)
    arg.add_argument("--out", required=True)
    arg = arg.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(arg.seed)
    rng = random.Random(arg.seed)
    start = time.process_time()

    train, held = pairs.load()
    held = pairs.held_out(held)
    encode, model = Encode(), Reader(arg.frozen)
    statements = pairs.statements(train)
    near = nearest(model.encoder, encode, statements)
    body = [p for p in model.encoder.parameters() if p.requires_grad]
    head = [*model.hidden.parameters(), *model.out.parameters()]
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": arg.rate}, {"params": head, "lr": 5 * arg.rate}], weight_decay=0.01)
    epochs = [pairs.epoch(train, rng, near, statements, arg.strangers) for _ in range(arg.epochs)]
    steps = sum(-(-len(e) // BATCH) for e in epochs)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min((s + 1) / (WARM_UP * steps), max(0.0, (steps - s) / ((1 - WARM_UP) * steps))))
    print(f"{len(statements)} statements, {len(epochs[0])} pairs an epoch, {len(held)} held out, {steps} steps", flush=True)

    log = []
    for n, examples in enumerate(epochs):
        sequences = [encode.pair(a, b) for a, b, _ in examples]
        labels, total = torch.tensor([label for *_, label in examples]), 0.0
        todo = batches(sequences, BATCH, rng)
        for b in todo:
            loss = loss_of(model([sequences[j] for j in b]), labels[b])
            loss.backward()
            nn.utils.clip_grad_norm_(body, 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            total += loss.item()
        log.append({"epoch": n, "loss": round(total / len(todo), 4), "cpu": round(time.process_time() - start),
                    "held out": measure(model, encode, held)})
        print(json.dumps(log[-1]), flush=True)

    out = pathlib.Path(arg.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    weights = {k: v.contiguous() for k, v in model.state_dict().items()}
    save_file(weights, f"{out}.safetensors")
    data = hashlib.sha256()
    for path in sorted(pairs.DATA.glob("*pairs-*.xz")) + sorted(pairs.DATA.glob("frames-*.xz")):
        data.update(path.read_bytes())
    made = {**vars(arg), "data": data.hexdigest(), "torch": torch.__version__, "python": sys.version.split()[0]}
    pathlib.Path(f"{out}.json").write_text(json.dumps({"made": made, "log": log}, indent=1) + "\n")


if __name__ == "__main__":
    main()
