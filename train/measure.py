"""Figures of a reader on what is held out."""
import random

import numpy as np
import torch
import torch.nn.functional as F

import pairs
import tasks
from model import batches

NAMES = list(range(6))  # the types that are names


@torch.no_grad()
def predict(model, examples, head="pair", size=128):
    """What a head says of each example, in their order."""
    model.eval()
    place = {id(e): i for i, e in enumerate(examples)}
    out = [None] * len(examples)
    for b in batches(examples, size):
        got = getattr(model, head)(b)
        if head == "pair":
            got = F.softmax(got, 1).cpu().numpy()
        elif head == "sentence":
            rows = iter(F.softmax(got, 1).cpu().numpy())
            got = [[next(rows) for _ in e.sentences] for e in b]
        elif head == "ask":
            p, ends = F.softmax(got[0], 1)[:, 0].cpu().numpy(), got[1].cpu().numpy()
            got = list(zip(p, ends))
        else:
            got = list(zip(F.softmax(got[0], 2).cpu().numpy(), F.softmax(got[1], 2).cpu().numpy()))
        for e, g in zip(b, got):
            out[place[id(e)]] = g
    model.train()
    return out


def figures(score, truth):
    """Average precision; the best recall at a precision of .9 and of .95; both at a score of .5 and .9."""
    order = np.argsort(-score, kind="stable")
    hits = truth[order]
    precision, recall = np.cumsum(hits) / np.arange(1, len(hits) + 1), np.cumsum(hits) / max(1, hits.sum())
    out = {"n": len(truth), "ap": float((precision * hits).sum() / max(1, hits.sum()))}
    for p in (0.9, 0.95):
        out[f"recall@{p}"] = float(recall[precision >= p].max(initial=0))
    for at in (0.5, 0.9):
        said = score > at
        out[f"p,r>{at}"] = [float(truth[said].mean()) if said.any() else 0.0, float(truth[said].sum() / truth.sum())]
    return {k: v if k == "n" else np.round(v, 3).tolist() for k, v in out.items()}


def measure_pairs(model, encode, held):
    """Figures of contradiction on what is held out: all, English, other languages, each batch's average precision."""
    p = np.array(predict(model, [encode.pair(a, b) for a, b, *_ in held]))
    score, truth = p[:, 0], np.array([h[2] == pairs.CONTRADICT for h in held])
    english = np.array([h[4] == "en" for h in held])
    out = {"all": figures(score, truth), "english": figures(score[english], truth[english])}
    if not english.all():
        out["other languages"] = figures(score[~english], truth[~english])
    known = [i for i, h in enumerate(held) if h[2] != pairs.NO_CONTRADICTION]
    out["right of three"] = round(float(np.mean([p[i].argmax() == held[i][2] for i in known])), 3)
    out["ap by batch"] = {}
    for name in sorted({h[3] for h in held}):
        here = np.array([h[3] == name for h in held])
        out["ap by batch"][name] = figures(score[here], truth[here])["ap"]
    return out


def measure_asked(model, encode, held):
    """Of questions: answered with the right passage, with an overlapping span; refused without an answer, where at
    most .04 and .1 of those with one are refused."""
    rng = random.Random(0)
    asked = list(tasks.questions(held, rng, noise=False))
    examples = [encode.ask(q, p, s) for q, p, s, _ in asked]
    said = predict(model, examples, "ask")
    best = {}
    for (q, p, s, n), e, (score, ends) in zip(asked, examples, said):
        if n not in best or score > best[n][0]:
            best[n] = score, e, ends
    can = [n for n, r in enumerate(held) if r["answer"]]
    cannot = [n for n, r in enumerate(held) if not r["answer"]]
    right = np.mean([best[n][1].span is not None for n in can])
    overlap = []
    for n in can:
        _, e, ends = best[n]
        s, t = span_of(ends)
        overlap.append(e.span is not None and s <= e.span[1] and t >= e.span[0])
    out = {"n": [len(can), len(cannot)], "right passage": round(float(right), 3),
           "span touches": round(float(np.mean(overlap)), 3)}
    scores, none = np.sort([best[n][0] for n in can]), np.array([best[n][0] for n in cannot])
    for lost in (0.04, 0.1):
        at = scores[int(lost * len(scores))]
        out[f"refused@{lost}"] = round(float((none < at).mean()), 3)
    return out


def span_of(ends, longest=30):
    """The best span: start <= end, at most so many tokens."""
    s, t = ends[:, 0], ends[:, 1]
    total = s[:, None] + t[None]
    n = len(s)
    i, j = np.indices((n, n))
    total[(j < i) | (j >= i + longest)] = -1e9
    at = int(total.argmax())
    return at // n, at % n


def decode(labels, tags):
    """Spans (first token, last token, type) of labels; tokens that are no first pieces go on as before."""
    spans, now = set(), None
    for i, label in enumerate(labels):
        if tags[i] == tasks.IGNORE:
            continue
        kind = (label - 1) // 2 if label else None
        if now and (kind != now[2] or label % 2 == 1):
            spans.add(now)
            now = None
        if kind is not None:
            now = (now[0] if now else i, i, kind)
    return spans | ({now} if now else set())


def measure_tags(model, encode, held_spans, held_times):
    """F1 of exact spans, of all types and of names; share of the texts without names in which none is seen; F1 of the
    tokens of times, and how often their tense is right."""
    examples = [encode.tag(r) for r in held_spans]
    right, said, gold = np.zeros(len(tasks.TYPES)), np.zeros(len(tasks.TYPES)), np.zeros(len(tasks.TYPES))
    clean = []
    for e, (p, _) in zip(examples, predict(model, examples, "tag", 64)):
        want, have = decode([max(t, 0) for t in e.tags], e.tags), decode(p[: len(e.tags)].argmax(1).tolist(), e.tags)
        for _, _, k in want:
            gold[k] += 1
        for x in have:
            said[x[2]] += 1
            right[x[2]] += x in want
        if not any(k in NAMES for _, _, k in want):
            clean.append(not any(k in NAMES for _, _, k in have))
    f1 = lambda r, s, g: round(float(2 * r / max(s + g, 1)), 3)
    out = {"f1": f1(right.sum(), said.sum(), gold.sum()),
           "names f1": f1(right[NAMES].sum(), said[NAMES].sum(), gold[NAMES].sum()),
           "clean": round(float(np.mean(clean)), 3),
           "by type": {t: f1(right[k], said[k], gold[k]) for k, t in enumerate(tasks.TYPES)}}
    examples = [encode.tag(r) for r in held_times]
    hit = want = have = 0
    tense = []
    for e, (_, p) in zip(examples, predict(model, examples, "tag", 64)):
        for t, q in zip(e.tenses, p):
            k = int(q.argmax())
            if t == tasks.IGNORE:
                continue
            want, have, hit = want + (t > 0), have + (k > 0), hit + (t > 0 and k > 0)
            if t > 0:
                tense.append(k == t)
    return {**out, "time tokens f1": f1(hit, have, want), "tense right": round(float(np.mean(tense)), 3)}


def measure_classes(model, encode, held):
    """Of sentences: how many have the right class, the mean F1 of the classes, and of each the precision and recall."""
    examples = [e for e in map(encode.sentences, held) if e.sentences]
    said = predict(model, examples, "sentence", 32)
    both = np.array([(c, p.argmax()) for e, q in zip(examples, said) for (*_, c), p in zip(e.sentences, q)])
    want, have = both[:, 0], both[:, 1]
    out, f1 = {}, []
    for k, name in enumerate(tasks.CLASSES):
        right = ((want == k) & (have == k)).sum()
        found, there = max(1, (have == k).sum()), max(1, (want == k).sum())
        out[name] = [round(float(right / found), 3), round(float(right / there), 3)]
        f1.append(2 * right / (found + there))
    return {"n": len(want), "right": round(float((want == have).mean()), 3), "f1": round(float(np.mean(f1)), 3), **out}


def measure(model, encode, held_pairs, held):
    """All figures of the tasks that something is held out of."""
    out = {"pairs": measure_pairs(model, encode, held_pairs)} if held_pairs else {}
    if held:
        out["asked"] = measure_asked(model, encode, held["ask"])
        windows = [tasks.joined(r, random.Random(r["id"])) for r in held["ask"]]
        out["asked of windows"] = measure_asked(model, encode, [r for r in windows if r])
        out["asked of frames"] = measure_asked(model, encode, list(tasks.memories(held["framed"], random.Random(1), 4)))
        out["tags"] = measure_tags(model, encode, held["spans"], held["times"])
        out["classes"] = measure_classes(model, encode, held["spans"])
    return out
