"""The reader as it is trained: an encoder with heads, what they are given, and what they lose."""
import torch
import torch.nn.functional as F
from torch import nn

import pairs
import tasks
from backbone import CLS, DIM, SEP, Backbone, tokenizer

LONGEST = 120  # tokens of a statement
QUESTION, PASSAGE, TEXT = 40, 200, 200  # tokens of these
SMOOTHING = 0.05
TAG_LAYERS = 4  # that a text goes through where its words are tagged, since every text that is taken in does
LOOKS, CLASS_HIDDEN = 4, 48  # weighted means of its tokens that a sentence's class is read from; the layer on them


class Reader(nn.Module):
    def __init__(self, frozen=0, path=None, keep=None, tag_layers=TAG_LAYERS):
        super().__init__()
        self.tag_layers = tag_layers
        self.encoder = Backbone(frozen, path, keep)
        self.hidden, self.out = nn.Linear(2 * DIM, DIM), nn.Linear(DIM, len(pairs.LABELS))
        self.ask_hidden, self.ask_out, self.ask_span = nn.Linear(2 * DIM, DIM), nn.Linear(DIM, 2), nn.Linear(DIM, 2)
        self.tag_out, self.tense_out = nn.Linear(DIM, 1 + 2 * len(tasks.TYPES)), nn.Linear(DIM, len(tasks.TENSES))
        self.class_look, self.class_hidden = nn.Linear(DIM, LOOKS), nn.Linear(LOOKS * DIM, CLASS_HIDDEN)
        self.class_out = nn.Linear(CLASS_HIDDEN, len(tasks.CLASSES))
        # What a token of a text gains by how its word is spelt: the vocabulary has small letters alone.
        self.spelling = nn.Linear(tasks.SPELLINGS, DIM)
        nn.init.normal_(self.spelling.weight, std=0.02)
        nn.init.zeros_(self.spelling.bias)

    def states(self, batch):
        return self.encoder([e.ids for e in batch])

    def pooled(self, x, mask, hidden, out):
        mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        h = torch.tanh(hidden(torch.cat([x[:, 0], mean], 1)))
        return out(F.dropout(h, 0.1, self.training))

    def pair(self, batch):
        return self.pooled(*self.states(batch), self.hidden, self.out)

    def ask(self, batch):
        x, mask = self.states(batch)
        ends = self.ask_span(x)
        inside = torch.zeros_like(mask)
        for i, e in enumerate(batch):
            inside[i, e.begin : len(e.ids) - 1] = True
        ends = ends.masked_fill(~inside[..., None], -1e4)
        return self.pooled(x, mask, self.ask_hidden, self.ask_out), ends

    def tag_states(self, batch):
        longest = max(len(e.ids) for e in batch)
        spelt = torch.tensor([e.spelling + [0] * (longest - len(e.ids)) for e in batch])
        spelt = spelt.to(self.spelling.bias.device)
        return self.encoder([e.ids for e in batch], self.spelling.weight.T[spelt], self.tag_layers)[0]

    def tag(self, batch):
        x = F.dropout(self.tag_states(batch), 0.1, self.training)
        return self.tag_out(x), self.tense_out(x)

    def taught_ask(self, batch):
        return self.ask(batch)

    def taught_tag(self, batch):
        return self.tag(batch)

    def classes(self, x, mask):
        """Of sentences, whose tokens' states [n, longest, DIM] are those of the text that they stand in."""
        look = self.class_look(x).masked_fill(~mask[..., None], -1e4).softmax(1)
        means = torch.einsum("nlk,nld->nkd", look, x).flatten(1)
        h = torch.tanh(self.class_hidden(F.dropout(means, 0.3, self.training)))
        return self.class_out(F.dropout(h, 0.3, self.training))

    def sentence(self, batch):
        """Of all sentences of the texts, one behind the other."""
        x = self.tag_states(batch)
        return self.classes(*apart([x[i, s:t] for i, e in enumerate(batch) for s, t, _ in e.sentences]))


def apart(sequences):
    """Sequences of states as one tensor, and the mask of what is no padding."""
    x = nn.utils.rnn.pad_sequence(sequences, batch_first=True)
    lengths = torch.tensor([len(s) for s in sequences], device=x.device)
    return x, torch.arange(x.shape[1], device=x.device) < lengths[:, None]


class Example:
    """A sequence of tokens with what is known of it: a label; where a passage begins and its answer stands; labels of
    tokens; probabilities of a teacher; the record that it belongs to; how the words of its tokens are spelt; the
    sentences in it, as first token, the one behind the last, and class."""

    __slots__ = ("ids", "label", "begin", "span", "tags", "tenses", "soft", "group", "spelling", "sentences")

    def __init__(self, ids, label=0, begin=0, span=None, tags=None, tenses=None, soft=None, spelling=None):
        self.ids, self.label, self.begin, self.span = ids, label, begin, span
        self.tags, self.tenses, self.soft, self.group, self.spelling = tags, tenses, soft, None, spelling


class Encode:
    """Turns texts into examples, remembering their tokens."""

    def __init__(self):
        self.tokenizer, self.known, self.whole = tokenizer(), {}, {}

    def full(self, text, longest):
        at = self.whole.get((text, longest))
        if at is None:
            e = self.tokenizer.encode(text, add_special_tokens=False)
            at = self.whole[text, longest] = e.ids[:longest], e.offsets[:longest], e.tokens[:longest]
        return at

    def text(self, text, longest=LONGEST):
        at = self.known.get((text, longest))
        if at is None:
            at = self.known[text, longest] = self.full(text, longest)[0]
        return at

    def pair(self, a, b, label=0, soft=None):
        return Example([CLS, *self.text(a), SEP, *self.text(b), SEP], label, soft=soft)

    def ask(self, question, passage, span):
        q, (p, offsets, _) = self.text(question, QUESTION), self.full(passage, PASSAGE)
        begin, at = len(q) + 2, None
        if span:
            inside = [i for i, (s, e) in enumerate(offsets) if s < span[1] and e > span[0]]
            at = (begin + inside[0], begin + inside[-1]) if inside else None
        return Example([CLS, *q, SEP, *p, SEP], int(span is None), begin, at)

    def tag(self, r):
        ids, offsets, pieces = self.full(r["text"], TEXT)
        tag, tense = tasks.tags(r, offsets, pieces)
        out = [tasks.IGNORE]
        spelling = [0, *(tasks.spelling(r["text"], start) for start, _ in offsets), 0]
        return Example([CLS, *ids, SEP], tags=out + tag + out, tenses=out + tense + out, spelling=spelling)

    def sentences(self, r):
        e, offsets = self.tag(r), self.full(r["text"], TEXT)[1]
        e.sentences = []
        for start, end, label in tasks.sentences(r):
            at = [i for i, (s, t) in enumerate(offsets) if s >= start and t <= end]
            if at:
                e.sentences.append((1 + at[0], 2 + at[-1], label))
        return e


def pair_loss(logits, batch):
    """Cross-entropy; of a pair that is only known not to contradict, that of its two other labels together. Where a
    teacher has read the pair, its probabilities take the label's place."""
    device = logits.device
    log = F.log_softmax(logits, 1)
    labels = torch.tensor([e.label for e in batch], device=device)
    either = torch.logsumexp(log[:, 1:], 1)
    right = torch.where(labels == pairs.NO_CONTRADICTION, either, log.gather(1, labels.clamp(max=2)[:, None])[:, 0])
    hard = -((1 - SMOOTHING) * right + SMOOTHING * log.mean(1))
    taught = torch.tensor([e.soft is not None for e in batch], device=device)
    soft = torch.tensor([e.soft if e.soft is not None else (0, 0, 0) for e in batch], device=device)
    return torch.where(taught, -(soft * log).sum(1), hard).mean()


def ask_loss(outputs, batch):
    logits, ends = outputs
    device = logits.device
    labels = torch.tensor([e.label for e in batch], device=device)
    loss = F.cross_entropy(logits, labels, label_smoothing=SMOOTHING)
    # Of the passages of a record the one that answers, or none: a softmax over what speaks for each, and 0 for none.
    groups = {}
    for i, e in enumerate(batch):
        groups.setdefault(e.group, []).append(i)
    speaks = logits[:, 0] - logits[:, 1]
    for members in groups.values():
        all_ = torch.cat([speaks[members], speaks.new_zeros(1)])
        right = [k for k, i in enumerate(members) if batch[i].label == 0] or [len(members)]
        loss = loss + (torch.logsumexp(all_, 0) - torch.logsumexp(all_[right], 0)) / len(groups)
    spanned = [i for i, e in enumerate(batch) if e.span]
    if spanned:
        gold = torch.tensor([batch[i].span for i in spanned], device=device)
        loss = loss + 0.5 * F.cross_entropy(ends[spanned].transpose(1, 2).reshape(-1, ends.shape[1]), gold.reshape(-1))
    return loss


def padded(lists, longest, device):
    return torch.tensor([x + [tasks.IGNORE] * (longest - len(x)) for x in lists], device=device)


def tag_loss(outputs, batch):
    tag, tense = outputs
    n, s, _ = tag.shape
    a = F.cross_entropy(tag.reshape(n * s, -1), padded([e.tags for e in batch], s, tag.device).reshape(-1),
                        ignore_index=tasks.IGNORE, reduction="sum")
    known = sum(t != tasks.IGNORE for e in batch for t in e.tags)
    b = F.cross_entropy(tense.reshape(n * s, -1), padded([e.tenses for e in batch], s, tag.device).reshape(-1),
                        ignore_index=tasks.IGNORE)
    return a / max(known, 1) + b


def sentence_loss(logits, batch):
    labels = torch.tensor([c for e in batch for *_, c in e.sentences], device=logits.device)
    return F.cross_entropy(logits, labels, label_smoothing=SMOOTHING)


def taught_ask_loss(outputs, batch):
    """Of questions that teachers have read: e.soft is how probable they hold it that the passage answers, and of each
    token [n, 2] that the answer begins and ends with it, which counts as far as there is one."""
    logits, ends = outputs
    device = logits.device
    want = torch.tensor([e.soft[0] for e in batch], device=device)
    log = F.log_softmax(logits, 1)
    loss = -(want * log[:, 0] + (1 - want) * log[:, 1]).mean()
    target = torch.zeros(len(batch), ends.shape[1], 2)
    for i, e in enumerate(batch):
        target[i, : len(e.soft[1])] = e.soft[1]
    spans = -(target.to(device) * F.log_softmax(ends, 1)).sum((1, 2)) / 2
    return loss + 0.5 * (spans * want).sum() / want.sum().clamp(min=1)


def taught_tag_loss(outputs, batch):
    """Of texts that teachers have read: e.soft are the probabilities of each token's types and tenses."""
    tag, tense = outputs
    device = tag.device
    soft = [torch.zeros(x.shape) for x in outputs]
    known = torch.zeros(tag.shape[:2])
    for i, e in enumerate(batch):
        n = len(e.tags)
        soft[0][i, :n], soft[1][i, :n] = e.soft
        known[i, :n] = torch.tensor([float(t != tasks.IGNORE) for t in e.tags])
    loss = sum(-(s.to(device) * F.log_softmax(x, 2)).sum(2) for s, x in zip(soft, outputs))
    known = known.to(device)
    return (loss * known).sum() / known.sum().clamp(min=1)


LOSSES = {"pair": pair_loss, "ask": ask_loss, "tag": tag_loss, "sentence": sentence_loss,
          "taught_ask": taught_ask_loss, "taught_tag": taught_tag_loss}


def batches(examples, size, shuffle=None):
    """Lists of examples of like length. With shuffle, like only within some thousand drawn at random."""
    order = list(examples)
    if shuffle:
        shuffle.shuffle(order)
        big = [sorted(order[i : i + 32 * size], key=lambda e: len(e.ids)) for i in range(0, len(order), 32 * size)]
        out = [b[i : i + size] for b in big for i in range(0, len(b), size)]
        shuffle.shuffle(out)
        return out
    order.sort(key=lambda e: len(e.ids))
    return [order[i : i + size] for i in range(0, len(order), size)]


def grouped(groups, size, shuffle):
    """Batches that keep groups together."""
    shuffle.shuffle(groups)
    out, now = [], []
    for g in groups:
        now += g
        if len(now) >= size:
            out.append(now)
            now = []
    return out + [now] if now else out
