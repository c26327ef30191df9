"""Makes brain/embed/testdata/reference.json.gz: texts with the token ids and vectors of the original runtime.

Real sentences come from the pages of this project and run from the shortest to the longest that a model reads; behind them
stand the hard cases that the present file has: scripts, symbols, repetitions, single words. The same pages give the same file.
"""
import argparse
import base64
import gzip
import json
import re
from pathlib import Path

import numpy as np

from encoder import Encoder

SENTENCES = 200
LONGEST = 256


def sentences(root):
    """Sentences of the pages' running text, and runs of up to six that stand one behind the other."""
    found = {}
    for page in sorted([*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("*/DESIGN.md")]):
        if page.name == "interface-coverage.md":  # generated
            continue
        text = re.sub(r"```.*?```", "\n\n", page.read_text(encoding="utf-8"), flags=re.S)
        for paragraph in re.split(r"\n\s*\n", text):
            if paragraph.lstrip().startswith(("#", "|", "<")):
                continue
            paragraph = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph).replace("**", "").replace("`", "")
            for item in re.split(r"\n\s*[-*] ", "\n" + paragraph):
                own = [s for s in re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(item.split())) if s.endswith((".", "!", "?"))]
                for i in range(len(own)):
                    for n in range(1, 7):
                        if i + n <= len(own):
                            found[" ".join(own[i:i + n])] = None
    return list(found)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--root", default="../..", help="the project")
    arguments.add_argument("--models", required=True)
    given = arguments.parse_args()
    target = Path(given.root) / "brain/embed/testdata/reference.json.gz"
    encoder = Encoder(given.models, "all-minilm-l6-v2")
    real = sentences(Path(given.root))
    lengths = [len(ids) for ids in encoder.ids(real)]
    # One of each length as far as there are, spread evenly over the lengths: short ones are the many.
    by_length = {}
    for text, length in zip(real, lengths):
        if length < LONGEST:
            by_length.setdefault(length, []).append(text)
    chosen, depth = [], 0
    while len(chosen) < SENTENCES:
        layer = [by_length[length][depth] for length in sorted(by_length) if depth < len(by_length[length])]
        if not layer:
            raise SystemExit(f"only {len(chosen)} sentences")
        left = SENTENCES - len(chosen)
        chosen += [layer[i * len(layer) // left] for i in range(left)] if left < len(layer) else layer
        depth += 1
    with gzip.open(target, "rt", encoding="utf-8") as before:
        hard = [r["text"] for r in json.load(before) if r.get("hard", True)]
    texts = chosen + hard
    ids, vectors = encoder.ids(texts), encoder.encode(texts, "p")
    rows = [{"text": t, "hard": n >= SENTENCES, "ids": i, "vector": base64.b64encode(v.astype(np.float16).tobytes()).decode()}
            for n, (t, i, v) in enumerate(zip(texts, ids, vectors))]
    raw = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()
    target.write_bytes(gzip.compress(raw, mtime=0))
    print(f"{SENTENCES} sentences of {min(map(len, ids[:SENTENCES]))} to {max(map(len, ids[:SENTENCES]))} tokens, {len(hard)} hard cases")


if __name__ == "__main__":
    main()
