"""Models with random weights, small enough to be built where they are needed."""

from __future__ import annotations

import socket
from importlib.util import find_spec

import pytest

needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers")),
    reason="the extra [neural] is not installed",
)
WORDS = ["the", "ship", "sails", "north", "sea", "boat", "sleeps", "a", "##s", "."]
TEXTS = ["the ship sails north .", "a boat sleeps", "the sea"]
OTHER = ["a boat sails", "the sea sleeps .", "north north north"]
SIZES = {
    "vocab_size": len(WORDS) + 5,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 37,
    "max_position_embeddings": 24,
}


def refuse_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a metric asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def write_words(folder):
    folder.mkdir(parents=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    return folder


def build_bert(folder, seed=0, **sizes):
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    torch.manual_seed(seed)
    write_words(folder)
    BertModel(BertConfig(**{**SIZES, **sizes})).save_pretrained(folder)
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def build_bleurt(folder, **sizes):
    import torch
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification
    from bleurt_pytorch.bleurt.tokenization_bleurt import BleurtTokenizer

    torch.manual_seed(1)
    write_words(folder)
    config = BleurtConfig(**{**SIZES, **sizes}, num_labels=1)
    BleurtForSequenceClassification(config).save_pretrained(folder)
    BleurtTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def encoded_by(model, monkeypatch):
    """Note the rows that a model is given from now on."""
    rows = []
    plain = model.forward

    def noted(*args, **kwargs):
        rows.append((args[0] if args else kwargs["input_ids"]).shape)
        return plain(*args, **kwargs)

    monkeypatch.setattr(model, "forward", noted)
    return rows
