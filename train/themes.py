#!/usr/bin/env python3
"""Writes the texts of train/data from which modelpack learns to see themes: themes.py OUT.tsv.

A line is a language, a tab, a domain, a tab and a text. All texts of other languages than English are taken, and of
the English ones so many that learning takes minutes: those whose hashes are least, so that the choice is the same on
every machine and a batch more changes little of it.
"""
import hashlib
import json
import lzma
import pathlib
import sys

HERE = pathlib.Path(__file__).parent / "data"
ENGLISH = 12000
SHORTEST, LONGEST = 15, 400  # characters of a note


def texts_of(record):
    for field in ("a", "b", "note", "text"):
        if isinstance(record.get(field), str):
            yield record[field]
        elif record.get(field):  # ways to say one fact
            yield record[field][0]
    for field in ("context_a", "context_b"):
        if record.get(field):
            yield record[field]
    for passage in record.get("passages") or []:
        yield passage["text"]


def main():
    texts = {}
    for path in sorted(HERE.glob("*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                for text in filter(None, texts_of(record)):
                    text = " ".join(text.split())
                    if SHORTEST <= len(text) <= LONGEST:
                        texts.setdefault(text, (record.get("lang") or "en", record.get("domain") or ""))
    order = sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())
    english = [text for text in order if texts[text][0] == "en"][:ENGLISH]
    others = [text for text in order if texts[text][0] != "en"]
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for text in english + others:
            out.write("\t".join((*texts[text], text)) + "\n")
    print(f"{len(english)} English texts, {len(others)} others")


if __name__ == "__main__":
    main()
