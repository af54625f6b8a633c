"""A Hugging Face tokenizer as the metadata of a GGUF file."""

from __future__ import annotations

import json
from pathlib import Path

import gguf

# llama.cpp knows a Split only by name: the pattern of tokenizer.json decides which.
PRE_TOKENIZERS = {
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+": "qwen2",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+"
    r"[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+": "qwen35",
}
SPECIAL = ("bos", "eos", "unk", "sep", "pad", "mask")  # those that a GGUF file has a key for
WORD_START = "\u2581"  # stands before a WordPiece token that begins a word


def pre_tokenizer_name(tokenizer: dict) -> str:
    steps = tokenizer["pre_tokenizer"].get("pretokenizers", [tokenizer["pre_tokenizer"]])
    patterns = [step["pattern"].get("Regex") for step in steps if step["type"] == "Split"]
    if len(patterns) != 1 or patterns[0] not in PRE_TOKENIZERS:
        raise SystemExit(f"tokenizer.json: no name is known for the Split {patterns}")
    return PRE_TOKENIZERS[patterns[0]]


def tokens_and_types(tokenizer: dict, vocab_size: int) -> tuple[list[str], list[int]]:
    """A token and its kind for each row of the token table; rows without a token are unused."""
    tokens = [f"[PAD{row}]" for row in range(vocab_size)]
    types = [int(gguf.TokenType.UNUSED)] * vocab_size
    for token, row in tokenizer["model"]["vocab"].items():
        tokens[row], types[row] = token, int(gguf.TokenType.NORMAL)
    for added in tokenizer["added_tokens"]:
        kind = gguf.TokenType.CONTROL if added["special"] else gguf.TokenType.USER_DEFINED
        tokens[added["id"]], types[added["id"]] = added["content"], int(kind)
    return tokens, types


def word_piece(token: str, kind: int) -> str:
    """llama.cpp marks the start of a word where WordPiece marks the rest of one."""
    if kind != gguf.TokenType.NORMAL:
        return token
    return token[2:] if token.startswith("##") else WORD_START + token


def add_word_piece_normalizer(writer: gguf.GGUFWriter, tokenizer: dict) -> None:
    """llama.cpp lowercases unless told otherwise; gguf has no names for these two keys."""
    normalizer = tokenizer["normalizer"]
    strip = normalizer.get("strip_accents")
    lowercase = normalizer["lowercase"]
    writer.add_bool("tokenizer.ggml.normalizer.lowercase", lowercase)
    writer.add_bool("tokenizer.ggml.normalizer.strip_accents",
                    lowercase if strip is None else strip)


def appended_id(tokenizer: dict) -> int | None:
    """The id that the template of a single text puts at its end."""
    processor = tokenizer.get("post_processor") or {}
    for step in processor.get("processors", [processor]):
        if step.get("type") == "TemplateProcessing" and "SpecialToken" in step["single"][-1]:
            name = step["single"][-1]["SpecialToken"]["id"]
            return step["special_tokens"][name]["ids"][0]
    return None


def add_tokenizer(writer: gguf.GGUFWriter, directory: Path, vocab_size: int) -> None:
    tokenizer = json.loads((directory / "tokenizer.json").read_text())
    tokens, types = tokens_and_types(tokenizer, vocab_size)
    bpe = tokenizer["model"]["type"] == "BPE"
    if bpe:
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(pre_tokenizer_name(tokenizer))
    else:
        writer.add_tokenizer_model("bert")
        writer.add_tokenizer_pre("default")
        add_word_piece_normalizer(writer, tokenizer)
        tokens = [word_piece(token, kind) for token, kind in zip(tokens, types)]
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    special = gguf.SpecialVocab(directory, load_merges=bpe, special_token_types=SPECIAL)
    last = appended_id(tokenizer)
    if bpe and last is not None:  # config.json may name another end, of a chat
        special.special_token_ids["eos"], special.add_special_token["eos"] = last, True
    special.add_to_gguf(writer, quiet=True)
