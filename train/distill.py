#!/usr/bin/env python3
"""Trains the reader that the service ships: two teachers of twelve layers, then a student of six that learns from the
labels and from what the teachers make of pairs that nobody has labelled.

    .venv/bin/python train/distill.py --teacher train/out/e5-small-v2.safetensors --seed 1 --out train/out/seed1

On a GPU (--device cuda) it takes five minutes; on one core of a CPU about twenty hours.
"""
import argparse
import random

import numpy as np

import pairs
from measure import predict
from train import Training, build_parser

POOL, EACH = 200_000, 100_000  # pairs that the teachers read, and of these a student in an epoch


def teacher(arg, seed, *more):
    """A trained teacher; its pairs of strangers are drawn with the untrained encoder."""
    line = f"--tasks pair --epochs 5 --seed {seed} --start {arg.teacher} --device {arg.device}"
    training = Training(build_parser().parse_args([*line.split(), *more]))
    training.run()
    return training


def main():
    arg = argparse.ArgumentParser()
    arg.add_argument("--teacher", required=True, help="weights of e5-small-v2 (convert.py)")
    arg.add_argument("--seed", type=int, default=1, help="of the student")
    arg.add_argument("--device", default="cpu")
    arg.add_argument("--out", required=True)
    arg = arg.parse_args()

    first = teacher(arg, 1, "--words", "package")
    second = teacher(arg, 2)
    rng = random.Random(99)
    pool = list(pairs.unread(first.train, first.near, first.statements, rng))
    rng.shuffle(pool)
    pool = [(pairs.noisy(a, rng), pairs.noisy(b, rng)) for a, b in pool[:POOL]]
    read = [first.encode.pair(a, b) for a, b in pool]
    said = sum(np.array(predict(t.model, read)) for t in (first, second)) / 2

    def taught(rng, encode):
        some = rng.sample(range(len(pool)), min(EACH, len(pool)))
        return [encode.pair(*pool[i], soft=said[i].tolist()) for i in some]

    line = f"--tasks pair --epochs 7 --seed {arg.seed} --taught {EACH} --device {arg.device} --out {arg.out}"
    student = Training(build_parser().parse_args(line.split()), taught)
    student.run()
    student.save()


if __name__ == "__main__":
    main()
