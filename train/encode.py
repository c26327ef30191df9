#!/usr/bin/env python3
"""Tunes multilingual-e5-small on what finds.py wrote: encode.py FINDS.npz OUT.safetensors.

A query is to be nearest to the passage that holds its answer, among all passages of its batch and those that only look like
it (InfoNCE: van den Oord et al., 2018), in vectors without their centre, as the service compares them. What is compared is
what ships: weights are rounded to blocks of four bits in every step and the rounding is passed over in the gradient
(straight-through: Bengio et al., 2013). Words stay as they are, and passages are held near to where the published model puts
them.

Of three runs the weights are averaged (model soups: Wortsman et al., 2022), and of the average three fifths are taken: each
block of 32 weights comes from it or from the published model, by chance, and biases and norms lie between the two. On the
way from one to the other a model keeps what each of them knows (WiSE-FT: Wortsman et al., 2022), and a block of four bits has
no middle: rounding one back gives the nearer of the two. On a GPU of 140 GB, where the three run side by side, all of it takes
four minutes. Runs on other machines differ in their last bits.
"""
import json
import multiprocessing
import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

LAYERS, DIM, HEADS, EPSILON = 12, 384, 12, 1e-12
BLOCK = 32  # weights that share a scale
PREFIX = 3  # tokens of "<s>passage:"
TOKENS = 1 << 15  # that are computed at once
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
# batch: records; hard: passages of each that do not answer; near: how much leaving the published vectors costs; joined:
# passages that get another of their language beside them, as in a chunk; back: weight of finding the query by the passage;
# shares: of batches by set ("finds", "scenes" and "programs": seven in ten of one language; "all": of finds and scenes in
# all languages).
RUN = {"steps": 500, "batch": 320, "hard": 3, "lr": 3e-4, "temperature": 0.04, "near": 0.5, "dropout": 0.1, "joined": 0.25,
       "back": 0.2, "shares": {"finds": 0.25, "scenes": 0.3, "all": 0.1, "qa": 0.12, "asks": 0.08, "programs": 0.15}}
RUNS = [{**RUN, "seed": 1}, {**RUN, "seed": 2, "lr": 4e-4}, {**RUN, "seed": 3, "temperature": 0.05}]
TAKEN = 0.6  # of the blocks; brain/embed/DESIGN.md has what other parts give


def quantized(w):
    """Weights in blocks of four bits (Q4_0 of ggml): a scale and the numbers, from -8 to 7, of each block."""
    b = w.reshape(-1, BLOCK)
    top = b.gather(1, b.abs().argmax(1, keepdim=True))
    scale = (top / -8).half()
    by = scale.float()
    return scale, (b / torch.where(by == 0, torch.ones_like(by), by)).round().clamp(-8, 7)


def rounded(w):
    """Weights as such blocks hold them."""
    scale, n = quantized(w)
    return (n * scale.float()).reshape(w.shape)


def blocks(w):
    """The bytes of such blocks."""
    scale, n = quantized(w)
    n = (n + 8).to(torch.uint8)
    return torch.cat([scale.view(torch.uint8).reshape(-1, 2), n[:, :16] | (n[:, 16:] << 4)], 1).reshape(-1)


def unpacked(raw):
    """The weights of such bytes."""
    raw = torch.from_numpy(raw.reshape(-1, 18).copy())
    scale = raw[:, :2].contiguous().view(torch.float16).float()
    n = raw[:, 2:]
    return ((torch.cat([n & 15, n >> 4], 1).float() - 8) * scale).reshape(-1)


class Encoder(nn.Module):
    def __init__(self, given, dropout):
        super().__init__()
        self.dropout = dropout
        self.register_buffer("words", unpacked(given["words"]).reshape(-1, DIM).half())
        self.register_buffer("positions", torch.tensor(given["w:emb.pos"]).reshape(-1, DIM))
        self.register_buffer("kind", torch.tensor(given["w:emb.type"]).reshape(-1, DIM)[0])
        centre = torch.tensor(given["centre"])
        self.register_buffer("mean", centre[0])
        self.register_buffer("off", centre[1:])
        self.p = nn.ParameterDict()
        for name in given.files:
            if not name.startswith("w:") or name in ("w:emb.pos", "w:emb.type"):
                continue
            raw, key = given[name], name[2:]
            if raw.dtype == np.uint8:
                out = len(given[name[:-1] + "b"])
                self.p[self.key(key)] = nn.Parameter(unpacked(raw).reshape(out, -1))
            else:
                self.p[self.key(key)] = nn.Parameter(torch.tensor(raw))

    @staticmethod
    def key(name):
        return name.replace(".", "_")

    @staticmethod
    def published(key):
        return key.replace("_", ".")

    def linear(self, x, at):
        w = self.p[at + "_w"]
        w = w + (rounded(w.detach()) - w.detach())
        return F.linear(x, w, self.p[at + "_b"])

    def norm(self, x, at):
        return F.layer_norm(x.float(), (DIM,), self.p[at + "_w"], self.p[at + "_b"], EPSILON)

    def drop(self, x):
        return F.dropout(x, self.dropout, self.training)

    def states(self, ids, mask):
        """Of each token."""
        n, longest = ids.shape
        x = self.words[ids].float() + self.positions[:longest] + self.kind
        x = self.drop(self.norm(x, "emb_ln"))
        allowed = mask[:, None, None, :]
        for i in range(LAYERS):
            at = f"l{i}_"
            q, k, v = (self.linear(x, at + part).reshape(n, longest, HEADS, -1).transpose(1, 2) for part in "qkv")
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed).transpose(1, 2).reshape(n, longest, DIM)
            x = self.norm(x + self.drop(self.linear(mixed, at + "ao")), at + "aln")
            wide = F.gelu(self.linear(x, at + "fi"))
            x = self.norm(x + self.drop(self.linear(wide, at + "fo")), at + "oln")
        return x

    def forward(self, ids, mask):
        x = self.states(ids, mask)
        v = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        v = F.normalize(v.float(), dim=1) - self.mean
        return F.normalize(v - v @ self.off.T @ self.off, dim=1)

    def take(self, tensors):
        """Weights as tensors has them."""
        with torch.no_grad():
            for name, w in self.p.items():
                x = tensors[self.published(name)]
                w.copy_((unpacked(x.numpy()) if x.dtype == torch.uint8 else x).reshape(w.shape))

    def tensors(self):
        """What ships, under the published names."""
        made = {}
        for name, w in self.p.items():
            made[self.published(name)] = blocks(w.detach().cpu()) if w.dim() == 2 else w.detach().cpu().float().contiguous()
        return made


class Texts:
    """Token ids, by the number of the text."""

    def __init__(self, given):
        ends = np.cumsum(given["lengths"])
        self.all = np.split(given["flat"], ends[:-1])


def padded(sequences):
    """Sequences of tokens as one tensor, and the mask of what is no padding."""
    longest = (max(len(t) for t in sequences) + 7) // 8 * 8  # few shapes
    ids = np.zeros((len(sequences), longest), np.int64)
    mask = np.zeros((len(sequences), longest), bool)
    for i, t in enumerate(sequences):
        ids[i, :len(t)], mask[i, :len(t)] = t, True
    return torch.from_numpy(ids).to(DEVICE), torch.from_numpy(mask).to(DEVICE)


def embed(model, sequences):
    """Their vectors, in order; computed with those of about the same length."""
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
    made, some = [], []
    for i in order:
        if some and (len(some) + 1) * len(sequences[i]) > TOKENS:
            made.append(model(*padded([sequences[k] for k in some])))
            some = []
        some.append(i)
    made.append(model(*padded([sequences[k] for k in some])))
    back = torch.empty(len(order), dtype=torch.long)
    back[order] = torch.arange(len(order))
    return torch.cat(made)[back.to(DEVICE)]


@torch.no_grad()
def vectors(model, texts, numbers, batch=2048):
    """Of these texts, by number."""
    model.eval()
    order = sorted(numbers, key=lambda i: len(texts.all[i]))
    out = torch.zeros(len(texts.all), DIM, device=DEVICE)
    for at in range(0, len(order), batch):
        some = order[at:at + batch]
        with torch.autocast(DEVICE, torch.bfloat16):
            out[some] = embed(model, [texts.all[i] for i in some])
    return out


class Batches:
    """Draws batches: of one language of a set, or of all languages of it."""

    def __init__(self, records, run):
        self.rng, self.run = random.Random(run["seed"]), run
        self.by, self.sets = {}, {}
        for r in records:
            if not r["held"] and r["p"]:
                self.sets.setdefault(r["set"], []).append(r)
                self.by.setdefault((r["set"], r["lang"]), []).append(r)

    def some(self, of):
        return self.rng.sample(of, min(len(of), self.run["batch"]))

    def draw(self):
        shares = self.run["shares"]
        kind = self.rng.choices(list(shares), list(shares.values()))[0]
        if kind == "all":
            return self.some(self.sets["finds"] + self.sets.get("scenes", []))
        if kind in ("finds", "scenes", "programs") and self.rng.random() < 0.7:
            langs = [k for k in self.by if k[0] == kind]
            weights = [len(self.by[k]) ** 0.7 for k in langs]
            records = list(self.by[self.rng.choices(langs, weights)[0]])
            while len(records) < self.run["batch"] // 2:  # a small language shares its batch with others
                records += self.by[self.rng.choices(langs, weights)[0]]
            return self.some(list({id(r): r for r in records}.values()))
        return self.some(self.sets[kind])


def loss_of(model, texts, published, records, run, rng):
    """InfoNCE of a batch, and how far its passages have gone."""
    asked, told, keys, own, whole = [], [], [], [], []
    for r in records:
        q = r["q"] if not r["o"] or rng.random() < 0.6 else r["o"]
        asked.append(texts.all[rng.choice(q)])
    for r in records:
        keys.append(rng.choice(r["p"]))
    positives = set(keys)
    for r in records:
        keys += rng.sample(r["n"], min(len(r["n"]), run["hard"]))
    for i, k in enumerate(keys):
        t = texts.all[k]
        joined = rng.random() < run["joined"] and records[0]["set"] in ("finds", "scenes", "qa", "asks")
        if joined:
            j = rng.choice(records[i]["n"] or [k]) if i < len(records) else rng.choice(keys)
            other = texts.all[j]
            if j == k or len(other) + len(t) > 160 or (i >= len(records) and j in positives):
                joined = False
            elif rng.random() < 0.5:
                t = np.concatenate([t[:-1], other[PREFIX:]])
            else:
                t = np.concatenate([other[:-1], t[PREFIX:]])
        told.append(t)
        whole.append(not joined)
    with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
        q, p = embed(model, asked), embed(model, told)
    q, p = q.float(), p.float()
    scores = q @ p.T / run["temperature"]
    # Other passages of the record that answer, too, and the same text twice, are no wrong answers.
    mine = {}
    for i, r in enumerate(records):
        for k in r["p"]:
            mine.setdefault(k, []).append(i)
    out = torch.zeros_like(scores, dtype=torch.bool)
    rows, columns = [], []
    for j, k in enumerate(keys):
        for i in mine.get(k, ()):
            if i != j:
                rows.append(i)
                columns.append(j)
    out[rows, columns] = True
    scores = scores.masked_fill(out, -1e4)
    goal = torch.arange(len(records), device=DEVICE)
    loss = F.cross_entropy(scores, goal)
    if run["back"]:
        loss = loss + run["back"] * F.cross_entropy(scores[:, :len(records)].T, goal)
    at = torch.tensor([i for i, w in enumerate(whole) if w], device=DEVICE)
    far = 1 - (p[at] * published[[keys[i] for i in at.tolist()]]).sum(1)
    return loss, far.mean()


@torch.no_grad()
def measure(model, texts, records):
    """First hits on what is held out."""
    held = [r for r in records if r["held"] and r["p"]]
    need = sorted({i for r in held for k in "qopn" for i in r[k]})
    v = vectors(model, texts, need)
    got = {}

    def hits(name, queries, pool, right):
        best = (v[queries] @ v[pool].T).argmax(1).tolist()
        got.setdefault(name, []).append((sum(pool[b] in ok for b, ok in zip(best, right)), len(queries)))

    langs = {}
    for r in held:
        langs.setdefault((r["set"], r["lang"]), []).append(r)
    for (of, lang), some in langs.items():
        if of in ("qa", "same"):
            for r in some:
                hits(of + ("" if lang == "en" else " abroad"), r["q"], r["p"] + r["n"], [set(r["p"])] * len(r["q"]))
            continue
        pool = sorted({i for r in some for i in r["p"] + r["n"]})
        for kind, name in (("q", "same"), ("o", "across")):
            queries, right = [], []
            for r in some:
                queries += r[kind]
                right += [set(r["p"])] * len(r[kind])
            if queries:
                hits(f"{of} {name}" if of != "asks" else of, queries, pool, right)
                if of == "scenes" and kind == "q":
                    hits(f"scenes {lang}", queries, pool, right)
                if of == "finds" and kind == "q":
                    hits(f"finds {lang}", queries, pool, right)
        if of == "finds":  # as small as a person's first notes
            for at in range(0, len(some) - 11, 12):
                twelve = some[at:at + 12]
                small = [r["p"][0] for r in twelve]
                for kind, name in (("q", "finds of 12"), ("o", "finds of 12 across")):
                    hits(name, [q for r in twelve for q in r[kind]], small,
                         [{r["p"][0]} for r in twelve for _ in r[kind]])
    made = {}
    for name, pairs in got.items():
        # programs, finds and scenes: the mean over languages
        if name.startswith(("programs", "finds s", "finds a", "scenes s", "scenes a")):
            made[name] = sum(a / b for a, b in pairs) / len(pairs)
        else:
            made[name] = sum(a for a, _ in pairs) / sum(b for _, b in pairs)
    made["mean"] = float(np.mean([made[k] for k in ("finds same", "finds across", "finds of 12", "scenes same", "qa", "asks",
                                                    "programs same", "programs across") if k in made]))
    return made


def shown(made):
    return " ".join(f"{k} {x:.3f}" for k, x in sorted(made.items(), key=lambda kx: (len(kx[0]) == 8, kx[0])))


def train(given, texts, records, published, run):
    torch.manual_seed(run["seed"])
    model = Encoder(given, run["dropout"]).to(DEVICE)
    batches, rng = Batches(records, run), random.Random(run["seed"])
    grouped = [{"params": [w for w in model.p.values() if w.dim() == 2], "weight_decay": 0.01},
               {"params": [w for w in model.p.values() if w.dim() == 1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(grouped, lr=run["lr"], betas=(0.9, 0.98))
    warm = max(1, run["steps"] // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min((s + 1) / warm, max(0.0, (run["steps"] - s) / (run["steps"] - warm))))
    began, lost = time.time(), []
    for step in range(run["steps"]):
        model.train()
        loss, far = loss_of(model, texts, published, batches.draw(), run, rng)
        (loss + run["near"] * far).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        schedule.step()
        lost.append((loss.item(), far.item()))
        if step % 50 == 49:
            mean = np.mean(lost[-50:], 0)
            print(f"  {step + 1}: loss {mean[0]:.3f}, far {mean[1]:.4f}, {time.time() - began:.0f} s", flush=True)
    return model


def trained(path, run):
    """The weights that a run leads to."""
    given = np.load(path)
    texts, records = Texts(given), json.loads(given["records"].tobytes())
    published = vectors(Encoder(given, 0.0).to(DEVICE), texts, sorted({i for r in records for k in "pn" for i in r[k]}))
    model = train(given, texts, records, published, run)
    print(f"seed {run['seed']}:", shown(measure(model, texts, records)), flush=True)
    return {name: w.detach().cpu().numpy() for name, w in model.p.items()}


def average(given, found):
    made = Encoder(given, 0.0).to(DEVICE)
    with torch.no_grad():
        for name, w in made.p.items():
            w.copy_(torch.from_numpy(sum(f[name] for f in found) / len(found)))
    return made


def mixed(published, tuned, part=TAKEN, seed=1):
    """Of the blocks of tuned tensors that part, and the others of the published; of the rest, what lies between."""
    coin, made = torch.Generator().manual_seed(seed), {}
    for name in sorted(tuned):
        old, new = torch.from_numpy(published[name].copy()).reshape(tuned[name].shape), tuned[name]
        if new.dtype == torch.uint8:
            take = torch.rand(new.numel() // 18, generator=coin) < part
            made[name] = torch.where(take.repeat_interleave(18), new, old)
        else:
            made[name] = old + part * (new - old)
    return made


def main():
    path, out = sys.argv[1:]
    given = np.load(path)
    texts, records = Texts(given), json.loads(given["records"].tobytes())
    start = Encoder(given, 0.0).to(DEVICE)
    print("published:", shown(measure(start, texts, records)), flush=True)
    if DEVICE == "cuda":  # one of them alone leaves most of it idle
        with multiprocessing.get_context("spawn").Pool(len(RUNS)) as pool:
            found = pool.starmap(trained, [(path, run) for run in RUNS])
    else:
        found = [trained(path, run) for run in RUNS]
    made = mixed({name[2:]: given[name] for name in given.files if name.startswith("w:")},
                 average(given, found).tensors())
    start.take(made)
    print("what ships:", shown(measure(start, texts, records)))
    save_file(made, out)


if __name__ == "__main__":
    main()
