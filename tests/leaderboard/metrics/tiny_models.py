"""Models with random weights, small enough to be built where they are needed."""

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


def write_pieces(folder, ends, **marks):
    """Write a vocabulary as XLM-R and T5 have it: pieces that carry their space."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = ["▁" + word for word in [*WORDS, "source:", "candidate:", "reference:"]]
    vocabulary = [*marks.values(), "▁", *words, *"aehinoprst."]
    whole = Tokenizer(
        models.Unigram([(word, -i / 9) for i, word in enumerate(vocabulary)], unk_id=0)
    )
    whole.pre_tokenizer = pre_tokenizers.Metaspace()
    whole.post_processor = processors.TemplateProcessing(
        single=ends, special_tokens=[(m, vocabulary.index(m)) for m in marks.values()]
    )
    PreTrainedTokenizerFast(tokenizer_object=whole, **marks).save_pretrained(folder)
    return len(vocabulary)


def build_comet(folder, transformation="sparsemax", **sizes):
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaModel

    torch.manual_seed(2)
    encoder = folder / "encoder"
    marks = {"unk": "<unk>", "pad": "<pad>", "bos": "<s>", "eos": "</s>"}
    marks = {f"{name}_token": mark for name, mark in marks.items()}
    n = write_pieces(encoder, "<s> $A </s>", **marks)
    sizes = {**SIZES, **sizes, "vocab_size": n}
    config = XLMRobertaConfig(**sizes, pad_token_id=1)
    config.save_pretrained(encoder)
    model = XLMRobertaModel(config, add_pooling_layer=False)
    state = {f"encoder.model.{k}": value for k, value in model.state_dict().items()}
    for layer in range(sizes["num_hidden_layers"] + 1):
        state[f"layerwise_attention.scalar_parameters.{layer}"] = torch.randn(1)
    state["layerwise_attention.gamma"] = torch.tensor([1.3])
    features = 6 * sizes["hidden_size"]
    for number, (wide, narrow) in {0: (features, 8), 3: (8, 4), 6: (4, 1)}.items():
        state[f"estimator.ff.{number}.weight"] = torch.randn(narrow, wide) / 3
        state[f"estimator.ff.{number}.bias"] = torch.randn(narrow)
    (folder / "checkpoints").mkdir()
    torch.save({"state_dict": state}, folder / "checkpoints" / "model.ckpt")
    settings = [
        "class_identifier: regression_metric",
        "encoder_model: XLM-RoBERTa",
        f"pretrained_model: {encoder}",
        "pool: avg",
        "layer: mix",
        f"layer_transformation: {transformation}",
        "layer_norm: false",
        "hidden_sizes: [8, 4]",
        "activations: Tanh",
        "final_activation: null",
    ]
    (folder / "hparams.yaml").write_text("\n".join(settings), encoding="utf-8")
    return folder


def build_metricx(folder):
    import torch
    from transformers import MT5Config, MT5ForConditionalGeneration

    torch.manual_seed(3)
    marks = {"unk_token": "<unk>", "pad_token": "<pad>", "eos_token": "</s>"}
    write_pieces(folder, "$A </s>", **marks)
    model = MT5ForConditionalGeneration(
        MT5Config(
            vocab_size=250_112,
            d_model=8,
            d_kv=4,
            d_ff=8,
            num_layers=2,
            num_heads=2,
            tie_word_embeddings=False,
        )
    )
    model.lm_head.weight.data[250_089] = 4 * torch.randn(8)
    model.save_pretrained(folder)
    return folder


def encoded_by(model, monkeypatch):
    rows = []
    plain = model.forward

    def noted(*args, **kwargs):
        rows.append((args[0] if args else kwargs["input_ids"]).shape)
        return plain(*args, **kwargs)

    monkeypatch.setattr(model, "forward", noted)
    return rows
