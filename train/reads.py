#!/usr/bin/env python3
"""Tunes the encoder of all texts to read: reads.py FINDS.npz ENCODER.safetensors OUT.safetensors.

What comes of it tells of a question and a passage, in any language, whether the passage answers, and which of its words do.
It is the encoder's own layers with some of their blocks exchanged, so that it takes a fifth of the room of another model:
all layers are tuned first, in the rounding that ships (encode.py), and then those blocks alone that have gone farthest, the
others being put back (sparse fine-tuning by magnitude: Ansell et al., 2022). Biases and norms are its own. It begins as the
encoder that ENCODER has, and is of use over that one alone.

A question is set beside each of some passages, of which one answers, or none: what the passage's texts are called by, and
another beside it in the same chunk, come by chance. The others stand in the same memory, or are what the encoder's vectors
take for near. On a GPU it takes five minutes.
What ships was trained for a time and not for a number of steps, so a run gives a model like it, not the same.
"""
import json
import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

from encode import BLOCK, DEVICE, DIM, PREFIX, Encoder, Texts, blocks, padded, rounded, vectors

QUESTION, PASSAGE = 40, 200  # tokens of these, as brain/reader has them
HIDDEN = 96  # of the layer that tells whether a passage answers
OTHERS, MINED = 5, 2  # passages beside those that answer: of the record, and by their vectors
NEAR = range(1, 9)  # the places among all of its language and set that a mined one has by its vector
LABELLED, JOINED, ABROAD = 0.3, 0.25, 0.35  # how often; the last: a question in another language
SMOOTHING = 0.05
# goes: steps, and the part of the rates that each begins with; behind the first, blocks are chosen.
RUN = {"goes": [(259, 1.0), (606, 1.0), (659, 0.83)], "groups": 64, "lr": 3e-4, "heads": 1e-3, "kept": 0.22, "seed": 1,
       "shares": {"finds": 0.27, "scenes": 0.38, "qa": 0.23, "asks": 0.12}}


class Reader(Encoder):
    """An encoder of which blocks are exchanged. taken: of each matrix the weights that are, or None: all."""

    def __init__(self, given, tensors, dropout):
        super().__init__(given, dropout)
        self.take(tensors)
        self.begun = {name: w.detach().clone() for name, w in self.p.items() if w.dim() == 2}
        self.taken = None
        for name in ("emb_ln_w", "emb_ln_b"):  # the encoder's
            self.p[name].requires_grad_(False)
        self.hidden, self.out, self.span = nn.Linear(2 * DIM, HIDDEN), nn.Linear(HIDDEN, 2), nn.Linear(DIM, 2)

    def to(self, device):
        super().to(device)
        self.begun = {name: w.to(device) for name, w in self.begun.items()}
        return self

    def linear(self, x, at):
        w = self.p[at + "_w"]
        w = w + (rounded(w.detach()) - w.detach())
        if self.taken is not None:
            w = torch.where(self.taken[at + "_w"], w, self.begun[at + "_w"])
        return F.linear(x, w, self.p[at + "_b"])

    @torch.no_grad()
    def choose(self, part):
        """Has that part of all blocks exchanged, those that have gone farthest, and puts the others back."""
        gone = {name: (rounded(self.p[name]) - old).square().reshape(len(old), -1, BLOCK).sum(2)
                for name, old in self.begun.items()}
        every = torch.cat([g.flatten() for g in gone.values()])
        least = every.kthvalue(int((1 - part) * len(every)) + 1).values
        self.taken = {name: (g >= least).repeat_interleave(BLOCK, 1) for name, g in gone.items()}
        for name, old in self.begun.items():
            self.p[name].copy_(torch.where(self.taken[name], self.p[name], old))

    def ask(self, ids, mask, inside):
        """Logits that the passage answers and does not, and of each of its tokens that the answer begins and ends there."""
        x = self.states(ids, mask).float()
        mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        h = torch.tanh(self.hidden(torch.cat([x[:, 0], mean], 1)))
        return self.out(F.dropout(h, self.dropout, self.training)), self.span(x).masked_fill(~inside[..., None], -1e4)

    def tensors(self):
        """What ships: the exchanged blocks, where they stand, biases, norms and heads."""
        made = {}
        for name, w in self.p.items():
            key = self.published(name)
            if w.dim() == 2:
                taken = self.taken[name][:, ::BLOCK].cpu().reshape(-1)
                made[key] = blocks(w.detach().cpu()).reshape(-1, 18)[taken].reshape(-1).contiguous()
                made[key + ".taken"] = torch.from_numpy(np.packbits(taken.numpy(), bitorder="little"))
            elif w.requires_grad:
                made[key] = w.detach().cpu().float().contiguous()
        for name in ("hidden", "out", "span"):
            for part in ("weight", "bias"):
                made[f"ask_{name}.{part}"] = getattr(getattr(self, name), part).detach().cpu().float().contiguous()
        return made


class Groups:
    """Draws questions with passages."""

    def __init__(self, given, texts, records, near, seed):
        self.rng, self.texts, self.near = random.Random(seed), texts, near
        some = texts.all[0]
        self.begin, self.end = some[0], some[-1]
        self.labels = [texts.all[i][PREFIX:-2] for i in given["labels"]]
        self.sets = {}
        for r in records:
            if r["set"] in RUN["shares"] and (r["n"] or r["p"]):
                self.sets.setdefault((r["set"], r["held"]), []).append(r)

    @staticmethod
    def answers(r):
        """The passages of a record that answer, with the tokens that do, or None where these are not known."""
        return [(i, s) for i, s in zip(r["p"], r["s"] or [None] * len(r["p"])) if s or not r["s"]]

    def words(self, i):
        return self.texts.all[i][PREFIX:-1]

    def sequence(self, question, passage, span, label):
        """Tokens of both, where those of the passage begin, and the span among all."""
        q = self.words(question)[:QUESTION]
        before = np.concatenate([[self.begin], q, [self.end], label]).astype(np.int64)
        room = PASSAGE - len(label)
        if span and span[1] >= room:
            span = None
        at = len(before)
        return np.concatenate([before, passage[:room], [self.end]]), at, span and (at + span[0], at + span[1])

    def group(self, r):
        """(sequence, whether it answers, where the passage begins, span) of a question's passages."""
        rng = self.rng
        question = rng.choice(r["o"]) if r["o"] and rng.random() < ABROAD else rng.choice(r["q"])
        answers = self.answers(r)
        answers = rng.sample(answers, min(len(answers), 2))
        others = rng.sample(r["n"], min(len(r["n"]), OTHERS))
        mined = [i for i in self.near.get(question, ()) if i not in r["p"] and i not in others]
        others += rng.sample(mined, min(len(mined), MINED))
        label = rng.choice(self.labels) if rng.random() < LABELLED else ()
        out = []
        for i, span, right in [(i, s, True) for i, s in answers] + [(i, None, False) for i in others]:
            passage = self.words(i)
            span = span and (span[0] - PREFIX, span[1] - PREFIX)
            beside = self.words(rng.choice(others)) if others and rng.random() < JOINED else ()
            if len(beside) and len(beside) + len(passage) < PASSAGE - len(label):
                if rng.random() < 0.5:
                    passage = np.concatenate([passage, beside])
                else:
                    passage = np.concatenate([beside, passage])
                    span = span and (span[0] + len(beside), span[1] + len(beside))
            ids, begin, span = self.sequence(question, passage, span, label)
            out.append((ids, right, begin, span))
        return out

    def draw(self):
        of = self.rng.choices(list(RUN["shares"]), list(RUN["shares"].values()), k=RUN["groups"])
        made = [self.group(self.rng.choice(self.sets[name, False])) for name in of if (name, False) in self.sets]
        return [g for g in made if g]


@torch.no_grad()
def mined(given, tensors, texts, records):
    """Of questions the passages that their vectors take for near, of the same set and language."""
    model = Encoder(given, 0.0).to(DEVICE)
    model.take(tensors)
    pools = {}
    for r in records:
        if r["set"] in ("finds", "scenes") and not r["held"]:
            pools.setdefault((r["set"], r["lang"]), []).append(r)
    out = {}
    for some in pools.values():
        passages = sorted({i for r in some for i in r["p"] + r["n"]})
        questions = sorted({i for r in some for i in r["q"] + r["o"]})
        v = vectors(model, texts, passages + questions)
        best = (v[questions] @ v[passages].T).topk(min(len(passages), NEAR.stop), 1).indices[:, NEAR.start:].tolist()
        for q, places in zip(questions, best):
            out[q] = [passages[k] for k in places]
    return out


def read(model, sequences):
    """Of sequences [(ids, answers, begin, span)]: logits and ends, by sequences of like length."""
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i][0]))
    made, some, room = [None] * len(order), [], 1 << 15

    def flush():
        ids, mask = padded([sequences[i][0] for i in some])
        inside = torch.zeros_like(mask)
        for row, i in enumerate(some):
            inside[row, sequences[i][2]:len(sequences[i][0]) - 1] = True
        with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
            logits, ends = model.ask(ids, mask, inside)
        for row, i in enumerate(some):
            made[i] = logits[row].float(), ends[row].float()

    for i in order:
        if some and (len(some) + 1) * len(sequences[i][0]) > room:
            flush()
            some = []
        some.append(i)
    flush()
    return made


def loss_of(model, groups):
    """That a passage answers; which of a group's does, or none; and where its answer stands."""
    flat = [s for g in groups for s in g]
    got = read(model, flat)
    logits = torch.stack([x for x, _ in got])
    labels = torch.tensor([int(not right) for _, right, _, _ in flat], device=DEVICE)
    loss = F.cross_entropy(logits, labels, label_smoothing=SMOOTHING)
    speaks, at, most = logits[:, 0] - logits[:, 1], 0, max(map(len, groups))
    table = torch.full((len(groups), most + 1), -1e4, device=DEVICE)
    right = torch.zeros((len(groups), most + 1), dtype=torch.bool)
    table[:, most] = 0  # that none does
    rows = torch.tensor([i for i, g in enumerate(groups) for _ in g], device=DEVICE)
    columns = torch.tensor([k for g in groups for k in range(len(g))], device=DEVICE)
    table = table.index_put((rows, columns), speaks)
    for i, g in enumerate(groups):
        for k, s in enumerate(g):
            right[i, k] = s[1]
        right[i, most] = not right[i, :most].any()
    loss = loss + (torch.logsumexp(table, 1) - torch.logsumexp(table.masked_fill(~right.to(DEVICE), -1e4), 1)).mean()
    spans = [F.cross_entropy(ends.T, torch.tensor(s[3], device=DEVICE)) for (_, ends), s in zip(got, flat) if s[3]]
    return loss + 0.5 * torch.stack(spans).mean() if spans else loss


@torch.no_grad()
def measure(model, texts, records, groups):
    """On what is held out: of a question's passages the first, where one answers; how well a threshold tells answers from the
    rest, as the area under the curve; and how often the first and the last word of the answer are right."""
    model.eval()
    got = {}
    for (name, out), some in groups.sets.items():
        if not out:
            continue
        for r in some[:1500]:
            lang = "" if r["lang"] == "en" else " abroad"
            for kind in "qo":
                for q in r[kind][:1]:
                    given = groups.answers(r)[:1]
                    group = []
                    for i, s in given + [(i, None) for i in r["n"]]:
                        ids, begin, span = groups.sequence(q, groups.words(i), s and (s[0] - PREFIX, s[1] - PREFIX), ())
                        group.append((ids, bool(given) and i == given[0][0], begin, span))
                    got.setdefault(name + lang + (" across" if kind == "o" else ""), []).append(group)
    said = {}
    for name, all_ in got.items():
        flat = [s for g in all_ for s in g]
        results = []
        for at in range(0, len(flat), 4096):
            results += read(model, flat[at:at + 4096])
        p = np.array([torch.softmax(x, 0)[0].item() for x, _ in results])
        truth = np.array([s[1] for s in flat])
        ends = [(int(e[:, 0].argmax()), int(e[:, 1].argmax())) == s[3] for (_, e), s in zip(results, flat) if s[3]]
        at, first = 0, []
        for g in all_:
            if any(s[1] for s in g):
                first.append(bool(truth[at + int(p[at:at + len(g)].argmax())]))
            at += len(g)
        ranks = p.argsort().argsort()
        area = (ranks[truth].mean() - (truth.sum() - 1) / 2) / max(1, (~truth).sum()) if truth.any() else 0
        said[name] = f"first {np.mean(first):.3f} area {area:.3f}" + (f" exact {np.mean(ends):.3f}" if ends else "")
    model.train()
    return "; ".join(f"{k}: {v}" for k, v in sorted(said.items()))


def train(given, tensors, texts, records, groups, run):
    torch.manual_seed(run["seed"])
    model = Reader(given, tensors, 0.1).to(DEVICE)
    model.train()
    began, lost = time.time(), []

    def optimizer(part):
        layers = [w for w in model.p.values() if w.requires_grad]
        heads = [w for part in (model.hidden, model.out, model.span) for w in part.parameters()]
        return torch.optim.AdamW([{"params": layers, "lr": part * run["lr"]}, {"params": heads, "lr": part * run["heads"]}],
                                 betas=(0.9, 0.98), weight_decay=0.0)

    for go, (steps, part) in enumerate(run["goes"]):
        if go == 1:
            model.choose(run["kept"])
        opt, warm, least = optimizer(part), max(1, steps // 15), 0.02 if go else 0.3
        schedule = torch.optim.lr_scheduler.LambdaLR(
            opt, lambda s: min((s + 1) / warm, max(least, (steps - s) / (steps - warm))))
        for _ in range(steps):
            loss = loss_of(model, groups.draw())
            loss.backward()
            nn.utils.clip_grad_norm_([w for w in model.parameters() if w.requires_grad], 1.0)
            opt.step()
            opt.zero_grad(set_to_none=True)
            schedule.step()
            lost.append(loss.item())
            if len(lost) % 50 == 0:
                print(f"  {len(lost)}: loss {np.mean(lost[-50:]):.3f}, {time.time() - began:.0f} s", flush=True)
    return model


def main():
    given, tensors = np.load(sys.argv[1]), load_file(sys.argv[2])
    texts, records = Texts(given), json.loads(given["records"].tobytes())
    near = mined(given, tensors, texts, records)
    groups = Groups(given, texts, records, near, RUN["seed"])
    model = train(given, tensors, texts, records, groups, RUN)
    print(measure(model, texts, records, groups), flush=True)
    save_file(model.tensors(), sys.argv[3])


if __name__ == "__main__":
    main()
