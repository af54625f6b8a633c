"""The texts that the cross-encoder goldens score."""

from __future__ import annotations

LONG = "The house of the sun, the stars and the moon and the light of the day " * 8
QUERY = "What time is it?"
OTHER = "你好世界, die alte Straße \U0001f642"

# Documents of each query, in order. The repeated one makes a tie.
GROUPS = [
    (QUERY, ["It is late!", "The tea will be ready soon.", "It is late!", "", LONG,
             "Быстрая лиса и σκύλος \U0001f642 今天 天气",
             "for (int i = 0; i < 10; ++i) { sum += a[i]; }"]),
    (OTHER, ["the cat sat", "Der schnelle Fuchs und die alte Straße über dem Fluss.",
             "你好世界 今天天气很好", "a", "We should go home now.", "the cat sat"]),
]
MORE_PAIRS = [
    ("", "the cat sat on the mat"),
    ("", ""),
    (LONG, "It is late!"),
    (LONG, LONG.upper()),
    ("the light of the day and the rain fell", "the stars and the moon and the light of the sun"),
    (" one\nline\ttwo  spaces ", "99% of 2024"),
    ("[SEP] </s> <|im_end|>", "[CLS] <s> <|endoftext|> x"),
]
SINGLES = ["the cat sat", "", "Café déjà vu: Straße über dem Fluss! \U0001f642", LONG]


def inputs(singles: bool) -> list[tuple[str, str | None]]:
    pairs: list[tuple[str, str | None]] = [(query, document) for query, documents in GROUPS
                                           for document in documents]
    pairs += MORE_PAIRS
    return pairs + [(text, None) for text in SINGLES] if singles else pairs
