"""Pairs of statements to learn contradiction from, drawn from train/data.

Held out, never trained on: one block of ten records in seven of every file of pairs, and every seventh frame.
"""
import json
import lzma
import pathlib
import random
import re

DATA = pathlib.Path(__file__).parent / "data"
LABELS = ["contradict", "entail", "neutral"]
CONTRADICT, ENTAIL, NEUTRAL = range(3)
# A neutral pair turned round: b may still imply a, which nobody has said.
NO_CONTRADICTION = 3
BLOCK, HELD_OUT = 10, 7
# Pairs that the second reader labelled otherwise.
DISPUTED = {line.split()[0] for line in (DATA / "second" / "disputed.txt").open() if line.strip()}


def records(name):
    with lzma.open(DATA / name, "rt", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def load():
    """All pairs and frames as (train, held out), each a dict of lists."""
    train, held = {"pairs": [], "frames": []}, {"pairs": [], "frames": []}
    for path in sorted(DATA.glob("*pairs-*.xz")):
        for i, r in enumerate(records(path.name)):
            r["batch"] = path.name.split(".")[0]
            if r["id"] not in DISPUTED:
                (held if i // BLOCK % HELD_OUT == 3 else train)["pairs"].append(r)
    for path in sorted(DATA.glob("frames-*.xz")):
        for i, r in enumerate(records(path.name)):
            r["batch"] = path.name.split(".")[0]
            (held if i % HELD_OUT == 3 else train)["frames"].append(r)
    return train, held


def crossings(frame, rng, clashes=5, fines=6, same=2):
    """Pairs of one frame: what says its fact against what follows, clashes, or only sounds alike."""
    for kind, label, n in (("clash", CONTRADICT, clashes), ("fine", NEUTRAL, fines), ("same", ENTAIL, same)):
        for b in rng.sample(frame[kind], min(n, len(frame[kind]))):
            pair = rng.choice(frame["a"]), b, label
            yield pair if rng.random() < 0.5 else turned(pair)


def turned(pair):
    a, b, label = pair
    return b, a, CONTRADICT if label == CONTRADICT else NO_CONTRADICTION


def noisy(text, rng):
    """The text as a hurried person types it, now and then."""
    r = rng.random()
    if r < 0.08:
        text = text.lower()
    elif r < 0.12:
        text = re.sub(r"[.,;:!?]", "", text)
    elif r < 0.15:
        text = text.rstrip(".") + rng.choice(["!", " ...", " :)", ""])
    elif r < 0.20 and len(text) > 12:
        i = rng.randrange(1, len(text) - 2)
        text = rng.choice([text[:i] + text[i + 1 :], text[:i] + text[i + 1] + text[i] + text[i + 2 :]])
    return text


def strangers(statements, rng, neighbours, n):
    """Pairs of different records that resemble each other, taken as neutral: what a memory is full of."""
    for _ in range(n):
        i = rng.randrange(len(statements))
        j = rng.choice(neighbours[i])
        yield statements[i][1], statements[j][1], NEUTRAL


def epoch(train, rng, neighbours=None, statements=None, strange=0.25):
    """One epoch's examples (a, b, label), drawn anew."""
    out = []
    for r in train["pairs"]:
        pair = r["a"], r["b"], LABELS.index(r["label"])
        out += [pair, turned(pair)]
    for f in train["frames"]:
        out.extend(crossings(f, rng))
    if statements:
        out.extend(strangers(statements, rng, neighbours, int(strange * len(out))))
    return [(noisy(a, rng), noisy(b, rng), label) for a, b, label in out]


def statements(train):
    """Every statement with the record that it stands in."""
    out = []
    for r in train["pairs"]:
        out += [(r["id"], r["a"]), (r["id"], r["b"])]
    for f in train["frames"]:
        out += [(f["id"], s) for k in ("a", "clash", "fine") for s in f[k]]
    return out


def held_out(held):
    """Fixed examples: (a, b, label, batch, lang)."""
    rng = random.Random(0)
    out = [(r["a"], r["b"], LABELS.index(r["label"]), r["batch"], r["lang"]) for r in held["pairs"]]
    for f in held["frames"]:
        out += [(a, b, label, f["batch"], f["lang"]) for a, b, label in crossings(f, rng)]
    return out
