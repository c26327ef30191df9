#!/usr/bin/env python3
"""Trains the readers that the service ships: two teachers of twelve layers, then a student, of twelve for pairs and of
six for the rest, that learns from the labels and from what the teachers make of what nobody has labelled.

    .venv/bin/python train/distill.py pairs --teacher train/out/e5-small-v2.safetensors --out train/out/pairs1
    .venv/bin/python train/distill.py pairs6 --teacher train/out/e5-small-v2.safetensors --out train/out/pairs6
    .venv/bin/python train/distill.py answers --teacher train/out/e5-small-v2.safetensors \\
        --begin train/out/pairs6.safetensors --out train/out/answers1

On a GPU (--device cuda) each takes some minutes; on one core of a CPU two to four days.
"""
import argparse
import random

import numpy as np
import torch

import pairs
import tasks
from measure import predict
from model import batches
from train import Training, build_parser

POOL, EACH = 200_000, 100_000  # pairs that the teachers read, and of these a student in an epoch
ASKED, TAGGED = 30_000, 15_000  # questions with a passage, and texts, that a student reads in an epoch
SENTENCES = 9000  # of frames, among the texts


def pair_pool(training, rng, size=POOL):
    """Pairs for teachers to read."""
    out = list(pairs.unread(training.train, training.near, training.statements, rng))
    rng.shuffle(out)
    return [(pairs.noisy(a, rng), pairs.noisy(b, rng)) for a, b in out[:size]]


def ask_pool(training, rng):
    """Questions with a passage, for teachers to read: their own, those whose answer was taken out, and others'."""
    out, records = [], training.other["ask"] + list(tasks.memories(training.other["framed"], rng))
    for r in records:
        out += [(q, p) for q, p, _, _ in tasks.questions([r], rng)]
        if long := rng.random() < tasks.JOINED and tasks.joined(r, rng):
            out += [(q, p) for q, p, _, _ in tasks.questions([long], rng)]
        for _ in range(3 if r["answer"] and r["batch"] != "framed" else 0):
            if opened := tasks.left_open(r, rng):
                out += [(q, p) for q, p, _, _ in list(tasks.questions([opened], rng))[:2]]
        for other in rng.sample(records, 2):
            if other["lang"] == r["lang"]:
                asked = list(tasks.questions([other], rng))
                out += [(r["question"], p) for _, p, _, _ in rng.sample(asked, min(2, len(asked)))]
    rng.shuffle(out)
    return out


def tag_pool(training, rng):
    """Texts for teachers to read: those with names, with others' names, passages, statements, notes."""
    names = tasks.names_of(training.other["spans"])
    out = []
    for r in training.other["spans"] + training.other["times"]:
        out.append(r["text"])
        if r["lang"] == "en" and "spans" in r:
            out += [tasks.renamed(r, names, rng)["text"] for _ in range(2)]
    out += sorted({p["text"] for r in training.other["ask"] for p in r["passages"]})
    some = sorted({s for f in training.train["frames"] for k in ("a", "clash", "fine") for s in f[k]})
    out += rng.sample(some, min(SENTENCES, len(some)))
    out += sorted({r[k] for r in training.train["pairs"] for k in ("context_a", "context_b") if r.get(k)})
    out = [t for t in out if t and t.strip()]
    rng.shuffle(out)
    return out


def tagged(encode, text):
    return encode.tag({"text": text, "spans": [], "lang": "en"})


def softmax(x):
    x = np.exp(x - x.max(0))
    return x / x.sum(0)


def read_pairs(training, pool):
    """What a teacher makes of pairs: probabilities [n, 3]."""
    return np.array(predict(training.model, [training.encode.pair(a, b) for a, b in pool], "pair", 1024))


def read_asked(training, pool):
    """What a teacher makes of questions with a passage: of each, that it answers, and ends [tokens, 2]."""
    some = [training.encode.ask(q, p, None) for q, p in pool]
    said = predict(training.model, some, "ask", 256)
    return [(float(p), softmax(ends[: len(e.ids)].astype(np.float32))) for (p, ends), e in zip(said, some)]


def read_tags(training, pool):
    """What a teacher makes of texts: probabilities of each token's types and tenses."""
    some = [tagged(training.encode, t) for t in pool]
    return [(a[: len(e.ids)], b[: len(e.ids)]) for (a, b), e in zip(predict(training.model, some, "tag", 128), some)]


def mean(said):
    """The mean of what several teachers make of the same, nested as what each makes of it."""
    if isinstance(said[0], (list, tuple)):
        return [mean(x) for x in zip(*said)]
    return sum(said) / len(said)


def taught_pairs(pool, said):
    def taught(rng, encode, batch):
        some = rng.sample(range(len(pool)), min(EACH, len(pool)))
        return [("pair", b) for b in batches([encode.pair(*pool[i], soft=said[i].tolist()) for i in some], batch, rng)]

    return taught


def taught_answers(asked, asked_said, texts, texts_said):
    def taught(rng, encode, batch):
        questions, read = [], []
        for i in rng.sample(range(len(asked)), min(ASKED, len(asked))):
            e = encode.ask(*asked[i], None)
            e.soft = asked_said[i][0], torch.as_tensor(asked_said[i][1])
            questions.append(e)
        for i in rng.sample(range(len(texts)), min(TAGGED, len(texts))):
            e = tagged(encode, texts[i])
            e.soft = tuple(map(torch.as_tensor, texts_said[i]))
            read.append(e)
        return [("taught_ask", b) for b in batches(questions, batch, rng)] + \
            [("taught_tag", b) for b in batches(read, 64, rng)]

    return taught


BATCHES = "--tasks ask,tag --batch 384 --tag-batch 48 --rate 1.8e-4"
PAIRS = "--tasks pair --epochs 4"
TEACHER = {"pairs": PAIRS, "pairs6": PAIRS, "answers": f"{BATCHES} --epochs 5 --tag-layers 12"}
STUDENT = {"pairs": "--tasks pair --epochs 5 --words package --start", "pairs6": "--tasks pair --epochs 5",
           "answers": f"{BATCHES} --epochs 4"}


def main():
    arg = argparse.ArgumentParser()
    arg.add_argument("what", choices=TEACHER)
    arg.add_argument("--teacher", required=True, help="weights of e5-small-v2 (convert.py)")
    arg.add_argument("--begin", help="of answers: the reader (pairs6) that the student begins as")
    arg.add_argument("--seed", type=int, default=1, help="of the student")
    arg.add_argument("--device", default="cpu")
    arg.add_argument("--out", required=True)
    arg = arg.parse_args()

    def trained(line, taught=None):
        training = Training(build_parser().parse_args(f"{line} --device {arg.device}".split()), taught)
        training.run()
        return training

    line = f"{TEACHER[arg.what]} --start {arg.teacher} --words package"
    teachers = [trained(f"{line} --seed 1"), trained(f"{line} --seed 2")]
    rng = random.Random(99)
    if arg.what != "answers":
        pool = pair_pool(teachers[0], rng)
        taught = taught_pairs(pool, sum(read_pairs(t, pool) for t in teachers) / len(teachers))
    else:
        asked, texts = ask_pool(teachers[0], rng), tag_pool(teachers[0], rng)
        taught = taught_answers(asked, mean([read_asked(t, asked) for t in teachers]),
                                texts, mean([read_tags(t, texts) for t in teachers]))
    begun = arg.teacher if arg.what == "pairs" else f"--resume {arg.begin}" if arg.begin else ""
    trained(f"{STUDENT[arg.what]} {begun} --seed {arg.seed} --out {arg.out}", taught).save()


if __name__ == "__main__":
    main()
