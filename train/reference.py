#!/usr/bin/env python3
"""Writes what torch makes of 200 held-out pairs, 200 questions and 200 texts, which the service is held against.

    .venv/bin/python train/reference.py train/out/pairs1.safetensors train/out/answers1.safetensors \\
        brain/reader/testdata/reference.json.gz
"""
import gzip
import json
import random
import sys

import torch
from safetensors.torch import load_file

import pairs
import tasks
from measure import predict, span_of
from model import PASSAGE, TEXT, Encode, Reader

MANY = 200
LAYERS = 6  # of the package's model
NAMES = tasks.TYPES.index("quantity")  # the types before it are names


def load(path):
    weights = load_file(path)
    layers = 1 + max(int(k.split(".")[2]) for k in weights if k.startswith("encoder.layers."))
    model = Reader(keep=[i % LAYERS for i in range(layers)])  # all of which the weights take the place of
    model.load_state_dict(weights, strict=False)  # the heads of other tasks are not in the file
    return model.eval()


def main():
    torch.set_num_threads(1)
    encode, rng = Encode(), random.Random(3)
    held = pairs.held_out(pairs.load()[1], True)
    rng.shuffle(held)
    some = [(a, b) for a, b, *_ in held[:MANY]]
    said = predict(load(sys.argv[1]), [encode.pair(a, b) for a, b in some])
    out = {"pairs": [{"a": a, "b": b, "p": [round(float(x), 4) for x in p]} for (a, b), p in zip(some, said)],
           "questions": []}

    asked = list(tasks.questions(tasks.load()[1]["ask"], rng, noise=False))
    rng.shuffle(asked)
    asked = asked[:MANY]
    examples = [encode.ask(question, passage, None) for question, passage, *_ in asked]
    for (question, passage, *_), e, (p, ends) in zip(asked, examples, predict(load(sys.argv[2]), examples, "ask")):
        first, last = span_of(ends[: len(e.ids)])
        offsets = encode.full(passage, PASSAGE)[1]
        span = passage[offsets[first - e.begin][0] : offsets[last - e.begin][1]]
        out["questions"].append(
            {"question": question, "passage": passage, "answers": round(float(p), 4), "span": span})
    held = tasks.load()[1]
    some = held["spans"] + held["times"]
    rng.shuffle(some)
    some = [r for r in some if "\n" not in r["text"]][:MANY]  # which are one window
    examples, answers = [encode.sentences(r) for r in some], load(sys.argv[2])
    labelled = [e for e in examples if e.sentences]
    classes = {id(e): p for e, p in zip(labelled, predict(answers, labelled, "sentence"))}
    out["texts"] = []
    for r, e, (tag, tense) in zip(some, examples, predict(answers, examples, "tag")):
        words, offsets, sentences = [], encode.full(r["text"], TEXT)[1], []
        for (first, behind, _), p in zip(e.sentences, classes.get(id(e), [])):
            sentences.append([offsets[first - 1][0], offsets[behind - 2][1], *(round(float(x), 4) for x in p)])
        for (start, _), piece, p, q in zip(*encode.full(r["text"], TEXT)[1:], tag[1:], tense[1:]):
            if not piece.startswith("##"):
                words.append([start, round(float(p[1 : 1 + 2 * NAMES].sum()), 4), round(float(p[-2:].sum()), 4)])
        out["texts"].append({"text": r["text"], "words": words, "sentences": sentences})
    with gzip.open(sys.argv[3], "wt", encoding="utf-8") as f:
        json.dump(out, f, ensure_ascii=False)


if __name__ == "__main__":
    main()
