"""The shipped scoring: fusion of cosine, BM25 and phrase share, collapse by document, conversation context."""
from dataclasses import dataclass

import numpy as np

import corpus
import encoder
import terms as kw


@dataclass(frozen=True)
class Config:
    """What can be varied; the defaults are what ships."""
    model: str = "all-minilm-l6-v2"
    tokens: int = 200            # of a chunk's body
    titles: bool = True          # title path before the embedded text
    title_terms: int = 1         # how often the title path's terms count
    k1: float = 0.9
    b: float = 0.4
    stop: frozenset = kw.STOP
    stemmed: bool = True
    keyword: float = 0.7         # weight of BM25 / information of the query
    phrase: float = 0.3          # weight of the phrase share
    context: tuple = (0.3, 0.2, 0.1)
    strong: float = 0.5          # neighbours below this share of the best score give nothing
    gap: float = 3600.0          # seconds between two messages of one conversation
    short: int = 4800            # characters of a message


class Group:
    """The documents of one scope with the queries asked there; arrays are queries x chunks or queries x documents."""


class Workbench:
    """One data set, its chunks and everything that scoring needs."""

    def __init__(self, data, models, cache, name, config=Config(), sample=None, pool=None):
        self.name, self.main = name, corpus.MAIN[name]
        self.models, self.cache = models, cache
        self.docs, self.queries = corpus.read(data / name)
        self.queries = corpus.stable_sample(self.queries, sample, key=lambda q: q.id)
        if pool:
            self._pool(pool)
        count = encoder.token_counter(models)
        self.chunks, self.owner = [], []
        for i, d in enumerate(self.docs):
            for c in corpus.chunk(d.title, d.content, config.tokens, count):
                self.chunks.append(c)
                self.owner.append(i)
        self.owner = np.array(self.owner)
        self._groups()
        self.keywords(config)
        self._link(config)

    def _pool(self, top):
        """Keeps the relevant documents and the `top` best of BM25 for each query: hard distractors."""
        index = kw.Bm25([kw.terms(f"{d.title} {d.content}", kw.STOP33) for d in self.docs], 0.9, 0.4)
        at, keep = {d.id: i for i, d in enumerate(self.docs)}, set()
        for q in self.queries:
            keep |= {at[d] for d in q.relevant}
            keep |= set(np.argsort(-index.score(kw.terms(q.text, kw.STOP33)))[:top].tolist())
        self.docs = [self.docs[i] for i in sorted(keep)]

    def _groups(self):
        scoped = any(d.scope for d in self.docs)
        chunks_of, docs_of = {}, {}
        for j, i in enumerate(self.owner):
            chunks_of.setdefault(int(i), []).append(j)
        for i, d in enumerate(self.docs):
            docs_of.setdefault(d.scope if scoped else None, []).append(i)
        self.groups = []
        for scope, docs in docs_of.items():
            g = Group()
            g.queries = [k for k, q in enumerate(self.queries) if not scoped or q.scope == scope]
            if not g.queries:
                continue
            g.docs, g.start, g.chunks = docs, [], []
            for i in docs:
                g.start.append(len(g.chunks))
                g.chunks += chunks_of[i]
            self.groups.append(g)

    def keywords(self, c):
        self.asked = [kw.terms(q.text, c.stop, c.stemmed) for q in self.queries]
        for g in self.groups:
            titles = [kw.terms(self.chunks[j][0], c.stop, c.stemmed) for j in g.chunks]
            bodies = [kw.terms(self.chunks[j][1], c.stop, c.stemmed) for j in g.chunks]
            index = kw.Bm25([t * c.title_terms + b for t, b in zip(titles, bodies)], c.k1, c.b)
            asked = [self.asked[k] for k in g.queries]
            g.keyword = np.stack([index.score(q) for q in asked])
            g.phrase = index.phrases(asked, [t + [None] + b for t, b in zip(titles, bodies)])

    def vectors(self, c):
        texts = [corpus.with_title(p, b) if c.titles else b for p, b in self.chunks]
        self.passages = encoder.cached(self.models, self.cache, c.model, texts, "p")
        self.asking = encoder.cached(self.models, self.cache, c.model, [q.text for q in self.queries], "q")
        for g in self.groups:
            g.cosine = encoder.alike(c.model, self.asking[g.queries] @ self.passages[g.chunks].T)

    def _link(self, c):
        def message(d):
            return not d.title and len(d.content) <= c.short

        for g in self.groups:
            docs = [self.docs[i] for i in g.docs]
            g.linked = np.array([message(a) and message(b) and (a.time is None) == (b.time is None)
                                 and (a.time is None or abs(a.time - b.time) <= c.gap)
                                 for a, b in zip(docs, docs[1:])], bool)

    def best(self, g, chunk_scores):
        """Collapse: a document scores as its best chunk."""
        return np.maximum.reduceat(chunk_scores, g.start, axis=1)

    def ranked(self, scores, top=10):
        """Document ids per query; scores(group) gives queries x documents."""
        out = {}
        for g in self.groups:
            s = scores(g)
            k = min(top, s.shape[1])
            heads = np.argpartition(-s, k - 1, axis=1)[:, :k]
            for row, head, q in zip(s, heads, g.queries):
                out[q] = [self.docs[g.docs[j]].id for j in head[np.argsort(-row[head], kind="stable")]]
        return [out[q] for q in range(len(self.queries))]

    def vector(self, g):
        return self.best(g, g.cosine)

    def keyword(self, g):
        return self.best(g, g.keyword)

    def hybrid(self, c):
        def scores(g):
            s = self.best(g, g.cosine + c.keyword * g.keyword + c.phrase * g.phrase)
            return context(s, g.linked, c.context, c.strong * s.max(1, keepdims=True))
        return scores


def context(scores, linked, weights, least):
    """Adds, to each document, its linked neighbours' excess over `least`, by distance."""
    excess, out, n = np.maximum(scores - least, 0), scores.copy(), scores.shape[1]
    for k, weight in enumerate(weights, 1):
        if n <= k:
            break
        way = linked[:n - k].copy()
        for j in range(1, k):
            way &= linked[j:n - k + j]
        out[:, k:] += weight * excess[:, :-k] * way
        out[:, :-k] += weight * excess[:, k:] * way
    return out
