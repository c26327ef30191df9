"""Terms, BM25 over chunks and the phrase share."""
import math
import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import Stemmer

STOP = frozenset((Path(__file__).parent / "stopwords.txt").read_text().split())
# Lucene's list, for the ablation.
STOP33 = frozenset("a an and are as at be but by for if in into is it no not of on or such that the their "
                   "then there these they this to was will with".split())
WORD = re.compile(r"[^\W_]+")
_porter2 = Stemmer.Stemmer("english")


@lru_cache(500_000)
def stem(word):
    return _porter2.stemWord(word)


def terms(text, stop=STOP, stemmed=True):
    kept = (w for w in WORD.findall(text.lower()) if w not in stop)
    return [stem(w) for w in kept] if stemmed else list(kept)


class Bm25:
    """BM25 over bags of terms; scores are divided by the information of the query (sum of its idf)."""

    def __init__(self, bags, k1=0.9, b=0.4):
        self.words, data, columns, rows = {}, [], [], [0]
        for bag in bags:
            for word, n in Counter(bag).items():
                columns.append(self.words.setdefault(word, len(self.words)))
                data.append(n)
            rows.append(len(columns))
        self.n = len(rows) - 1
        shape = (self.n, max(1, len(self.words)))
        data, columns, rows = np.array(data, np.float32), np.array(columns, np.int32), np.array(rows)
        lengths = np.add.reduceat(np.append(data, 0), rows[:-1]) * (np.diff(rows) > 0)
        norm = k1 * (1 - b + b * lengths / (lengths.mean() or 1))
        df = np.bincount(columns, minlength=shape[1])
        self.idf = np.log(1 + (self.n - df + 0.5) / (df + 0.5))
        self.unknown = math.log(1 + (self.n + 0.5) / 0.5)
        weight = data * (k1 + 1) / (data + np.repeat(norm, np.diff(rows)))
        self.weights = sp.csc_matrix(sp.csr_matrix((weight.astype(np.float32), columns, rows), shape=shape))

    def information(self, word):
        at = self.words.get(word)
        return self.unknown if at is None else self.idf[at]

    def score(self, query):
        out, total = np.zeros(self.n, np.float32), 0.0
        for word, repeats in Counter(query).items():
            total += repeats * self.information(word)
            at = self.words.get(word)
            if at is not None:
                part = slice(self.weights.indptr[at], self.weights.indptr[at + 1])
                out[self.weights.indices[part]] += repeats * self.idf[at] * self.weights.data[part]
        return out / total if total else out

    def phrases(self, queries, sequences):
        """Share of each query's adjacent pairs, weighted by information, that stand adjacent in each sequence."""
        pairs = [[(a, b) for a, b in zip(q, q[1:]) if a != b] for q in queries]
        wanted, found = {p for row in pairs for p in row}, {}
        for i, sequence in enumerate(sequences):
            for pair in set(zip(sequence, sequence[1:])) & wanted:
                found.setdefault(pair, []).append(i)
        out = np.zeros((len(queries), len(sequences)), np.float32)
        for row, mine in zip(out, pairs):
            weights = [(self.information(a) + self.information(b)) / 2 for a, b in mine]
            for pair, weight in zip(mine, weights):
                if pair in found:
                    row[found[pair]] += weight / sum(weights)
        return out
