#!/usr/bin/env python3
"""Writes what torch makes of 200 held-out pairs and 200 questions, which the service is held against.

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
from model import PASSAGE, Encode, Reader

MANY = 200


def load(path):
    model = Reader()
    model.load_state_dict(load_file(path), strict=False)  # the heads of other tasks are not in the file
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
    with gzip.open(sys.argv[3], "wt", encoding="utf-8") as f:
        json.dump(out, f, ensure_ascii=False)


if __name__ == "__main__":
    main()
