"""The candidate sentence encoders on their original runtime, with a cache of vectors by content."""
import hashlib
import sqlite3
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

DIM = 384
# Directory, pooling, query prefix, passage prefix, most tokens. "bge-plain" is bge without its query instruction.
MODELS = {
    "all-minilm-l6-v2": ("all-minilm-l6-v2", "mean", "", "", 256),
    "bge-small-en-v15": ("bge-small-en-v15", "cls",
                         "Represent this sentence for searching relevant passages: ", "", 512),
    "bge-plain": ("bge-small-en-v15", "cls", "", "", 512),
    "e5-small-v2": ("e5-small-v2", "mean", "query: ", "passage: ", 512),
}

# Mean and standard deviation of all cosines of questions with turns on locomo. The weights of the score are for the first
# model's range; the others' cosines are mapped onto it, or words would count for too much beside them.
RANGE = {"all-minilm-l6-v2": (0.255, 0.139), "bge-small-en-v15": (0.496, 0.081), "bge-plain": (0.526, 0.080),
         "e5-small-v2": (0.761, 0.036)}


def alike(name, cosines):
    """Cosines of a model on the range of the first model."""
    (to, wide), (mean, spread) = RANGE["all-minilm-l6-v2"], RANGE[name]
    return (cosines - mean) * (wide / spread) + to


class Encoder:
    """One model on one thread."""

    def __init__(self, models, name):
        folder, self.pooling, self.query, self.passage, most = MODELS[name]
        folder = Path(models) / folder
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = ort.InferenceSession(str(folder / "model.onnx"), options,
                                            providers=["CPUExecutionProvider"])
        self.output = self.session.get_outputs()[0].name
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(most)

    def ids(self, texts):
        return [e.ids for e in self.tokenizer.encode_batch(list(texts))]

    def run(self, ids):
        width = max(map(len, ids))
        tokens = np.zeros((len(ids), width), np.int64)
        mask = np.zeros_like(tokens)
        for i, row in enumerate(ids):
            tokens[i, :len(row)], mask[i, :len(row)] = row, 1
        hidden = self.session.run([self.output], {"input_ids": tokens, "attention_mask": mask,
                                                  "token_type_ids": np.zeros_like(tokens)})[0]
        v = hidden[:, 0] if self.pooling == "cls" else (hidden * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
        return (v / np.linalg.norm(v, axis=1, keepdims=True)).astype(np.float32)

    def encode(self, texts, kind, most=2048):
        """Vectors of texts as "q"ueries or "p"assages, in batches of like length of at most `most` tokens."""
        prefix = self.query if kind == "q" else self.passage
        ids = self.ids([prefix + t for t in texts])
        order = np.argsort([len(x) for x in ids], kind="stable")
        out, i = np.zeros((len(ids), DIM), np.float32), 0
        while i < len(order):
            batch = []
            while i < len(order) and (not batch or (len(batch) + 1) * len(ids[order[i]]) <= most):
                batch.append(order[i])
                i += 1
            out[batch] = self.run([ids[j] for j in batch])
        return out


def token_counter(models):
    """Counts word pieces without special tokens; the vocabulary is the same in all candidates."""
    tokenizer = Tokenizer.from_file(str(Path(models) / "bge-small-en-v15" / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda texts: [len(e.ids) for e in tokenizer.encode_batch(texts, add_special_tokens=False)]


def cached(models, cache, name, texts, kind, note=print):
    """Vectors of texts; each is computed once and kept in an SQLite file per model and kind."""
    if name == "bge-plain" or (name == "bge-small-en-v15" and kind == "p"):
        name = "bge-plain"  # the instruction changes queries only
    Path(cache).mkdir(parents=True, exist_ok=True)
    store = sqlite3.connect(Path(cache) / f"{name}-{kind}.db", timeout=600)
    store.execute("create table if not exists v(k blob primary key, v blob)")
    keys, have = [hashlib.sha1(t.encode()).digest() for t in texts], {}
    for i in range(0, len(keys), 500):
        part = keys[i:i + 500]
        have.update(store.execute(f"select k, v from v where k in ({','.join('?' * len(part))})", part))
    missing = {k: t for k, t in zip(keys, texts) if k not in have}
    if missing:
        encoder, order, started = Encoder(models, name), sorted(missing, key=lambda k: len(missing[k])), time.time()
        for i in range(0, len(order), 256):
            part = order[i:i + 256]
            for k, v in zip(part, encoder.encode([missing[k] for k in part], kind)):
                have[k] = v.tobytes()
            store.executemany("insert or replace into v values(?, ?)", [(k, have[k]) for k in part])
            store.commit()
            if i // 256 % 10 == 9:
                note(f"# {name} {kind}: {i + 256} of {len(order)}, {time.time() - started:.0f} s")
    return np.frombuffer(b"".join(have[k] for k in keys), np.float32).reshape(len(keys), DIM)
