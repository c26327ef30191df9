#!/usr/bin/env python3
"""Checks the training text: check.py [FILE…], or all of train/data.

Holds the formats of train/README.md, that no id and no text stands twice, and that no text of the test set
(data/own_test) shares eight words in a row with what is trained on, and that what is disturbed has a plain record of
the same label. Prints counts and, for what was labelled a second time, how often the labels agree. Exits 1 with
examples where something is wrong.
"""
import collections
import datetime
import gzip
import json
import lzma
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent / "data"
TYPES = set("person organization product place project event identifier quantity money duration time".split())
CLASSES = set("event commitment preference belief decision question instruction none".split())
LABELS = {"contradict", "entail", "neutral"}


def day(s):
    datetime.date.fromisoformat(s[:10])


def pair(r):
    assert r["label"] in LABELS and r["a"].strip() and r["b"].strip() and r["a"] != r["b"], "label or empty"
    for x in "ab":
        c = r.get("context_" + x)
        assert c is None or r[x] in c, f"{x} is not in its context"
        if r.get("at_" + x):
            day(r["at_" + x])


def qa(r):
    assert r["question"].strip() and 1 <= len(r["passages"]) <= 9, "question or passages"
    if r["answer"]:
        assert r["answer"]["span"] in r["passages"][r["answer"]["passage"]]["text"], "span not in passage"
    for w in r.get("also", []) + r.get("wrong", []):
        assert any(w in p["text"] for p in r["passages"]), f"also/wrong not found: {w}"


def spans(r):
    for s in r["spans"]:
        assert s["type"] in TYPES, f"type {s['type']}"
        assert r["text"].count(s["text"]) >= s.get("n", 1), f"span not found: {s['text']}"
    for sentence, c in r.get("classes", {}).items():
        assert sentence in r["text"] and c in CLASSES, f"class {c} or sentence"
    for c in r.get("claims", []):
        assert c["subject"] and c["attribute"] and c["value"], "claim"


def times(r):
    day(r["at"])
    for e in r["events"]:
        assert e["phrase"] in r["text"] and e["tense"] in {"past", "present", "future"}, f"phrase {e}"
        day(e["start"])
        if e.get("end"):
            day(e["end"])
            assert e["end"] >= e["start"], "end before start"
    for p in r.get("recurring", []) + r.get("not_times", []):
        assert p in r["text"], f"not found: {p}"


def frame(r):
    for key, least in {"a": 4, "same": 2, "clash": 5, "fine": 7}.items():
        assert len(r[key]) >= least and len(set(r[key])) == len(r[key]), f"{key}: too few, or one twice"


def asks(r, frames):
    """Questions that ask for the fact of a frame, and the spans that answer them in its statements."""
    of = frames[r["frame"]]
    assert len(r["q"]) == 2 and all(q.strip() for q in r["q"]), "two questions"
    assert any(r["a"]), "nothing answers"
    for key, said in (("a", "a"), ("c", "clash"), ("f", "fine")):
        assert len(r[key]) == len(of[said]), f"{key}: as many as statements"
        assert all(x is None or x and x in text for x, text in zip(r[key], of[said])), f"{key}: span not in statement"


def find(r):
    """A note, questions that it answers, and notes near to it that do not answer them."""
    assert r["note"].strip() and len(r["q"]) == 2 and all(q.strip() for q in r["q"]), "note or questions"
    assert 1 <= len(r["near"]) <= 3 and r["note"] not in r["near"], "near notes"
    assert all(len(lang) == 2 and q.strip() for lang, q in r["other"]), "questions in other languages"


def scene(r):
    """Notes of one memory, questions of which one note answers each, and questions that none does."""
    notes = r["notes"]
    assert len(notes) >= 4 and all(n.strip() for n in notes) and len(set(notes)) == len(notes), "notes"
    assert len(r["ask"]) >= 3 and all(q.strip() for _, q, _ in r["ask"]), "questions"
    assert all(span in notes[i] for i, _, span in r["ask"]), "span not in its note"
    assert all(0 <= i < len(notes) and len(lang) == 2 and q.strip() for i, lang, q in r["other"]), "other languages"
    assert all(q.strip() for q in r["none"]), "questions without an answer"


# What a frame's facts and its other statements make of a pair.
CROSSINGS = {"same": "entail", "clash": "contradict", "fine": "neutral"}
CHECKS = {"asks": asks, "finds": find, "frames": frame, "pairs": pair, "qa": qa, "scenes": scene, "spans": spans, "times": times}


def lines(f):
    opened = {".xz": lzma.open, ".gz": gzip.open}.get(f.suffix, open)(f, "rt", encoding="utf-8")
    with opened as text:
        return text.read().splitlines()


def disturbed(records):
    """Holds that each record with a base says something else than it, and is labelled the same, and that none is in
    what training reads."""
    by_id = {r["id"]: (f, r) for f, r in records}
    for f, r in records:
        if "base" not in r:
            continue
        of, base = by_id.get(r["base"], (None, {}))
        said = [[x.get(k) for k in ("a", "b", "question", "passages", "text")] for x in (r, base)]
        same = [[x.get("label"), bool(x.get("answer")), [s["type"] for s in x.get("spans", [])],
                 [(e["start"], e.get("end")) for e in x.get("events", [])]] for x in (r, base)]
        if of != f or "base" in base or not r.get("how") or said[0] == said[1] or same[0] != same[1]:
            yield f"{r['id']}: not a disturbed {r['base']}"
        if f.parent.name != "own_test":
            yield f"{r['id']}: {f.name} is trained on"


def kind_of(f):
    return next(k for k in CHECKS if k in f.name.split(".")[0].split("-"))


def texts_of(r):
    """All that a record says, for the search for doubles."""
    yield from (r[k] for k in ("a", "b", "context_a", "context_b", "note", "question", "text") if isinstance(r.get(k), str))
    yield from (p["text"] for p in r.get("passages", []))
    yield from r.get("q", [])
    yield from r.get("notes", [])
    yield from (q for _, q, _ in r.get("ask", []))
    if "clash" in r:
        yield from (s for key in ("a", "same", "clash", "fine") for s in r[key])


def grams(text, n=8):
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[i : i + n]) for i in range(len(words) - n + 1)}


def marked(r):
    """What a record marks, and as what: its names as types, or the days of its events as tenses."""
    if "spans" in r:
        return {(s["text"], s.get("n", 1)): s["type"] for s in r["spans"]}
    return {(e["start"][:10], (e.get("end") or "")[:10]): e["tense"] for e in r["events"]}


def kappa(cells):
    """Cohen's kappa of how often each pair of labels was given."""
    total, rows, columns = sum(cells.values()), collections.Counter(), collections.Counter()
    for (a, b), n in cells.items():
        rows[a] += n
        columns[b] += n
    chance = sum(rows[x] * columns[x] for x in rows) / total**2
    return (sum(n for (a, b), n in cells.items() if a == b) / total - chance) / (1 - chance)


def read_again(f, by_id):
    """Prints how far a second reading of names or times agrees with the first, but for records that are gone."""
    n, classes = collections.Counter(), collections.Counter()
    for name, told in (line.split("\t") for line in lines(f)):
        if name not in by_id:
            continue
        first, second = by_id[name], json.loads(told)
        a, b = marked(first), marked(second)
        both = a.keys() & b.keys()
        n.update(first=len(a), second=len(b), both=len(both), agree=sum(a[x] == b[x] for x in both))
        classes.update((first["classes"][s], c) for s, c in second.get("classes", {}).items())
    print(f.name, "marked", n["first"], "second", n["second"], "both", n["both"], "as the same", n["agree"])
    if classes:
        agree = sum(v for (a, b), v in classes.items() if a == b)
        print(f.name, "classes", sum(classes.values()), "agree", agree, f"kappa {kappa(classes):.2f}")


def answered_again(f, by_id):
    """Prints how far a second reading of scenes agrees with the first on which note answers, and with which words."""
    n = collections.Counter()
    for name, told in (line.split("\t") for line in lines(f)):
        first = {q: (i, span) for i, q, span in by_id[name]["ask"]}
        for question, note, span in json.loads(told):
            one = first.get(question, (None, ""))
            n.update(read=1, agree=one[0] == note, spans=note is not None, same=note is not None and one == (note, span))
    print(f.name, "second labels", n["read"], "agree", n["agree"], "spans", n["spans"], "as the same", n["same"])


def main():
    bad, counts, heads = collections.defaultdict(list), collections.Counter(), collections.Counter()
    seen, trained, tested, labels, records = set(), set(), {}, {}, []
    files = [pathlib.Path(a) for a in sys.argv[1:]] or sorted(HERE.rglob("*.jsonl.[xg]z"))
    frames = {r["id"]: r for f in sorted(HERE.glob("frames-*.xz")) for r in map(json.loads, lines(f))}
    for f in files:
        kind = kind_of(f)
        for n, line in enumerate(lines(f), 1):
            try:
                r = json.loads(line)
                assert r["id"] not in seen, "id twice"
                seen.add(r["id"])
                assert r["lang"] and r["domain"], "lang or domain"
                CHECKS[kind](r, *[frames] * (kind == "asks"))
            except Exception as e:  # noqa: BLE001
                bad[f"{type(e).__name__}: {e}"[:60]].append(f"{f.name}:{n}")
                continue
            records.append((f, r))
            answered = "answerable" if r.get("answer") else "null"
            counts[kind, r.get("label") or (answered if kind == "qa" else r["lang"])] += 1
            heads[str([r.get(k) for k in ("a", "b", "question", "passages", "text", "q", "notes")])] += 1
            labels[r["id"]] = r.get("label")
            for key, label in CROSSINGS.items() if kind == "frames" else ():
                labels |= {f"{r['id']}:a{i}:{key}{j}": label for i in range(len(r["a"])) for j in range(len(r[key]))}
            all_grams = set().union(*(grams(t) for t in texts_of(r)))
            if f.parent.name == "own_test":
                tested[r["id"]] = all_grams
            else:
                trained |= all_grams
    for name, found in tested.items():
        if found & trained:
            bad["shares eight words with the training text"].append(f"{name}: {next(iter(found & trained))}")
    for wrong in disturbed(records):
        bad["disturbed"].append(wrong)
    for k, v in sorted(counts.items()):
        print(*k, v)
    for text, n in heads.items():
        if n > 1:
            bad["text twice"].append(text[:60])
    if not sys.argv[1:]:
        for f in sorted(p for p in (HERE / "second").iterdir() if p.name.startswith(("pairs-", "frames-"))):
            both = [(labels.get(x[0]), x[1]) for x in (line.split("\t") for line in lines(f)) if len(x) > 1]
            print(f.name, "second labels", len(both), "agree", sum(a == b for a, b in both))
        for name in ("spans.tsv", "times.tsv"):
            read_again(HERE / "second" / name, {r["id"]: r for _, r in records})
        answered_again(HERE / "second" / "scenes.tsv", {r["id"]: r for _, r in records})
    for k, v in bad.items():
        print("BAD", k, len(v), v[:3])
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
