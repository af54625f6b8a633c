"""Tiny tokenizers, made from the piece counts of a few sentences in several scripts."""

from __future__ import annotations

import collections
import functools
import json
import math

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers,
                        pre_tokenizers, processors, trainers)

# Small on purpose: the vocabularies have 200 to 300 entries, so many words split or are unknown.
CORPUS = [
    "The quick brown fox jumps over the lazy dog near the river bank.",
    "A cat and a dog sat on the mat while the rain fell on the roof.",
    "the house of the sun, the stars and the moon; the light of the day.",
    "Reading and writing, running and walking, singing and dancing.",
    "Numbers: 1 2 3 10 25 100 2024, and prices of 3.50 or 99%.",
    "Water is boiling in the kettle; the tea will be ready soon.",
    "What time is it? It is late! (We should go home now.)",
    "Der schnelle Fuchs und die alte Straße über dem Fluss.",
    "Le café est fermé, l'été est fini et la neige est là.",
    "El niño come una manzana en el jardín de su abuela.",
    "Быстрая лиса и старая собака у реки.",
    "Η γάτα και ο σκύλος στο σπίτι.",
    "שלום עולם", "مرحبا بالعالم", "नमस्ते दुनिया", "你好世界 今天天气很好", "日本語のテスト", "안녕 세상",
    "e-mail: user@example.org, https://example.org/path?x=1#top",
    "for (int i = 0; i < n; ++i) { sum += a[i]; }",
] * 3

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def _corpus_words(tokenizer: Tokenizer) -> collections.Counter:
    words: collections.Counter = collections.Counter()
    for line in CORPUS:
        text = tokenizer.normalizer.normalize_str(line)
        words.update(word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text))
    return words


def _most_frequent(counts: collections.Counter, number: int) -> list[str]:
    """By count, then by text: the library's own trainers break ties by hash order."""
    return [item for item, _ in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))[:number]]


@functools.cache
def wordpiece(lowercase: bool, vocab_size: int = 200) -> str:
    """A BERT tokenizer.json; marks are stripped exactly when it lowercases."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words = _corpus_words(tokenizer)
    first, inner, pieces = (collections.Counter() for _ in range(3))
    for word, count in words.items():
        first[word[0]] += count
        inner.update({"##" + char: count for char in set(word[1:])})
        for start in range(1, len(word) - 1):
            pieces.update({"##" + word[start:]: count})
        for end in range(2, len(word) + 1):
            pieces.update({word[:end]: count if end == len(word) else count / 2})
    vocab = SPECIALS + _most_frequent(first, 60) + _most_frequent(inner, 50)
    vocab += _most_frequent(pieces, vocab_size - len(vocab))
    tokenizer.model = models.WordPiece(
        {token: index for index, token in enumerate(vocab)}, unk_token="[UNK]",
        max_input_chars_per_word=100)
    tokenizer.add_special_tokens(SPECIALS)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(token, vocab.index(token)) for token in ("[CLS]", "[SEP]")])
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    return tokenizer.to_str()


@functools.cache
def unigram(pair_type: int, double_separator: bool, vocab_size: int = 220) -> str:
    """A Unigram tokenizer.json with Metaspace, as XLM-R has (or e5-small, in BERT's layout)."""
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    metaspace = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    # XLM-R's own files split at white space first; others leave a "▁" for a trailing space.
    tokenizer.pre_tokenizer = (
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace])
        if double_separator else metaspace)
    chars, pieces = collections.Counter(), collections.Counter()
    for word, count in _corpus_words(tokenizer).items():
        chars.update({char: count for char in set(word)})
        for start in range(len(word)):
            for end in range(start + 2, min(start + 7, len(word) + 1)):
                pieces.update({word[start:end]: count * (end - start) / 4})
    chosen = _most_frequent(chars, 90)
    chosen += _most_frequent(pieces, vocab_size - len(chosen) - len(specials) - 1)
    total = sum(chars.values())
    vocab = [(special, 0.0) for special in specials]
    # Scores that are all different, so that the best segmentation never hangs on a tie.
    for rank, piece in enumerate(chosen):
        count = chars.get(piece) or pieces[piece]
        vocab.append((piece, round(math.log(count / total) - rank / 1000, 4)))
    tokenizer.model = models.Unigram(vocab, unk_id=3, byte_fallback=False)
    tokenizer.add_special_tokens(specials + ["<mask>"])
    middle = "</s>:0 </s>:0" if double_separator else "</s>:0"
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s>:0 $A:0 </s>:0",
        pair=f"<s>:0 $A:0 {middle} $B:{pair_type} </s>:{pair_type}",
        special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    return tokenizer.to_str()


@functools.cache
def byte_level_bpe(vocab_size: int = 300) -> str:
    """A RoBERTa tokenizer.json: byte-level BPE with the whole byte alphabet."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=ROBERTA_SPECIALS, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer.to_str()


QWEN3_REGEX = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
               r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN35_REGEX = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
                r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN3_SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
QWEN3_THINK = ["<think>", "</think>"]
QWEN3_CORPUS = CORPUS + ["Instruct: Given a question, find the answer\nQuery: it is"] * 6


RERANK_SYSTEM = ("Judge whether the Document meets the requirements based on the Query and the "
                 "Instruct provided. Note that the answer can only be \"yes\" or \"no\".")
RERANK_INSTRUCTION = ("Given a web search query, retrieve relevant passages that answer the "
                      "query")
CHAT_CORPUS = CORPUS + ["system user assistant"] * 12 + ["नमस्ते हिन्दी"] * 40
RERANK_CORPUS = [RERANK_SYSTEM, "<Instruct>: " + RERANK_INSTRUCTION, "<Query>: <Document>: ",
                 "system user assistant", "yes", "no"] * 12


def _qwen(regex: str, corpus: list[str], size: int, appends_end: bool) -> str:
    """NFC, a Split, byte-level BPE; `appends_end` puts <|endoftext|> at the end of a text.

    As in the released files, the added tokens follow the vocabulary, and two are not special.
    """
    byte_level = functools.partial(pre_tokenizers.ByteLevel, add_prefix_space=False,
                                   trim_offsets=False, use_regex=False)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(regex), behavior="isolated"), byte_level()])
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=[], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.add_special_tokens(QWEN3_SPECIALS)
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in QWEN3_THINK])
    post = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    tokenizer.post_processor = post if not appends_end else processors.Sequence([
        post,
        processors.TemplateProcessing(
            single="$A:0 <|endoftext|>:0", pair="$A:0 $B:0 <|endoftext|>:0",
            special_tokens=[("<|endoftext|>", tokenizer.token_to_id("<|endoftext|>"))])])
    tokenizer.decoder = decoders.ByteLevel(
        add_prefix_space=False, trim_offsets=False, use_regex=False)
    return tokenizer.to_str()


@functools.cache
def qwen3(vocab_size: int = 300, reranker: bool = False) -> str:
    """A Qwen3-Embedding tokenizer.json. A reranker's appends nothing, and has "yes" and "no"."""
    corpus = QWEN3_CORPUS + RERANK_CORPUS if reranker else QWEN3_CORPUS
    return _qwen(QWEN3_REGEX, corpus, vocab_size, appends_end=not reranker)


@functools.cache
def qwen_chat(marks: bool, vocab_size: int = 300) -> str:
    """The tokenizer.json of a chat model: Qwen3.5's words may hold `marks`, Qwen3's may not."""
    return _qwen(QWEN35_REGEX if marks else QWEN3_REGEX, CHAT_CORPUS, vocab_size,
                 appends_end=False)


def vocab_size(tokenizer_json: str) -> int:
    return Tokenizer.from_str(tokenizer_json).get_vocab_size()


def wordpiece_vocab(tokenizer_json: str) -> list[str]:
    """The lines of vocab.txt."""
    vocab = json.loads(tokenizer_json)["model"]["vocab"]
    return [token for token, _ in sorted(vocab.items(), key=lambda item: item[1])]


def token_id(tokenizer_json: str, token: str) -> int:
    return Tokenizer.from_str(tokenizer_json).token_to_id(token)
