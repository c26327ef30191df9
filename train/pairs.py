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
BEFORE = 40  # words of a note before a statement
# Pairs and questions that the second reader labelled otherwise.
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


def in_note(statement, note):
    """A statement behind the words of its note that lead up to it."""
    at = note.find(statement) if note else -1
    before = " ".join(note[:at].split()[-BEFORE:]) if at > 0 else ""
    return f"{before} | {statement}" if before else statement


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
    elif r < 0.22 and len(text) > 12:
        text = mistyped(text, rng)
    return text


def mistyped(text, rng, keep=(0, 0)):
    """The text with one letter in a hundred, at least one, left out or changed for the next, but for what is to be kept
    (start, end). It is as long as before, so that places in it stay."""
    for _ in range(1 + len(text) // 100):
        i = rng.randrange(1, max(2, len(text) - 2))
        if not text[i : i + 2].isalpha() or keep[0] <= i + 1 and i < keep[1]:
            continue
        if rng.random() < 0.5:
            text = text[:i] + text[i + 1] + text[i] + text[i + 2 :]
        else:  # a space takes its place at the end of the word
            end = next((k for k in range(i, len(text)) if not text[k].isalpha()), len(text))
            if keep[1] > keep[0] and i < keep[0] < end:
                continue
            text = text[:i] + text[i + 1 : end] + " " + text[end:]
    return text


def strangers(statements, rng, neighbours, n, talk=0):
    """Pairs of different records that resemble each other, taken as neutral: what a memory is full of. The last `talk`
    of the statements, sentences of passages, are the one side of four in ten."""
    for _ in range(n):
        i = rng.randrange(len(statements) - talk if talk and rng.random() < 0.4 else 0, len(statements))
        j = rng.choice(neighbours[i])
        form = 2 if rng.random() < 0.5 else 1
        yield statements[i][form], statements[j][form], NEUTRAL


def epoch(train, rng, neighbours=None, statements=None, strange=0.25, notes=0.0):
    """One epoch's examples (a, b, label), drawn anew."""
    out = []
    for r in train["pairs"]:
        label = LABELS.index(r["label"])
        for turn in (False, True):
            a, b = r["a"], r["b"]
            if notes and rng.random() < 0.8:
                a, b = in_note(a, r.get("context_a")), in_note(b, r.get("context_b"))
            out.append(turned((a, b, label)) if turn else (a, b, label))
    alien = [s for _, s, _ in statements] if statements else []
    for f in train["frames"]:
        for a, b, label in crossings(f, rng):
            if rng.random() < notes:
                a, b = led_up(a, alien, rng), led_up(b, alien, rng)
            out.append((a, b, label))
    if statements:
        out.extend(strangers(statements, rng, neighbours, int(strange * len(out)), len(train["said"])))
    return [(noisy(a, rng), noisy(b, rng), label) for a, b, label in out]


def led_up(statement, alien, rng):
    """A statement in a note made up of others' statements, which change nothing."""
    before = " ".join(" ".join(rng.choice(alien) for _ in range(rng.randrange(0, 4))).split()[-BEFORE:])
    return f"{before} | {statement}" if before else statement


def statements(train):
    """Every statement with the record that it stands in, alone and in its note."""
    out = []
    for r in train["pairs"]:
        out += [(r["id"], r[k], in_note(r[k], r.get("context_" + k))) for k in ("a", "b")]
    for f in train["frames"]:
        out += [(f["id"], s, s) for k in ("a", "clash", "fine") for s in f[k]]
    return out


def said(records):
    """The sentences of the passages that questions are asked of: what people write when they do not state one fact."""
    out, known = [], set()
    for r in records:
        for p in r["passages"]:
            if p["text"] in known:
                continue
            known.add(p["text"])
            for s in re.split(r"(?<=[.!?])\s+|\n+", p["text"]):
                if 4 <= len(s.split()) <= 60:
                    out.append((r["memory"], s, in_note(s, p["text"])))
    return out


def held_out(held, notes=False):
    """Fixed examples: (a, b, label, batch, lang)."""
    rng = random.Random(0)
    note = in_note if notes else lambda s, _: s
    out = [(note(r["a"], r.get("context_a")), note(r["b"], r.get("context_b")), LABELS.index(r["label"]), r["batch"],
            r["lang"]) for r in held["pairs"]]
    for f in held["frames"]:
        out += [(a, b, label, f["batch"], f["lang"]) for a, b, label in crossings(f, rng)]
    return out


def unread(train, neighbours, statements, rng, each=110, strange=60_000, within=60):
    """Pairs that nobody has labelled, for teachers to read: statements of one frame in any two roles, strangers, and
    sentences of two passages of one memory."""
    for f in train["frames"]:
        every = [s for k in ("a", "same", "clash", "fine") for s in f[k]]
        for _ in range(each):
            a, b = rng.sample(every, 2)
            yield a, b
    for a, b, _ in strangers(statements, rng, neighbours, strange, len(train["said"])):
        yield a, b
    for r in train["pairs"]:
        yield in_note(r["a"], r.get("context_a")), in_note(r["b"], r.get("context_b"))
    memories = {}
    for owner, _, shown in train["said"]:
        memories.setdefault(owner, []).append(shown)
    for every in memories.values():
        for _ in range(min(within, len(every))):
            a, b = rng.choice(every), rng.choice(every)
            if a != b:
                yield a, b
