"""The token ids of a workload, the same for every engine.

Texts are sentences of the repository's own corpus, cut so that each has exactly as many tokens as
the workload says. Models without a vocabulary of words here (random Qwen weights) get random ids.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from workloads import Workload

CORPUS = Path(__file__).resolve().parents[2] / "examples" / "corpus" / "passages.jsonl"
RANDOM_IDS = 100_000  # all of them words in Qwen's vocabularies
QUERY = "how do I choose the right one"


class Composer:
    """Texts of an exact number of tokens for a WordPiece vocabulary, which splits at spaces."""

    def __init__(self, model_dir: Path, seed: int) -> None:
        import tokenizers

        self.tokenizer = tokenizers.Tokenizer.from_file(str(model_dir / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        passages = [json.loads(line)["text"] for line in CORPUS.read_text().splitlines()]
        random.Random(seed).shuffle(passages)
        self.words = " ".join(passages).split()
        self.pieces = {word: len(self._encode(word)) for word in set(self.words)}
        self.next = 0

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def text(self, num_tokens: int) -> str:
        """The next words of the corpus; those that would be too many tokens are left out."""
        words = []
        while num_tokens > 0:
            word = self.words[self.next % len(self.words)]
            self.next += 1
            if self.pieces[word] <= num_tokens:
                words.append(word)
                num_tokens -= self.pieces[word]
        return " ".join(words)

    def single(self, length: int) -> dict:
        """A text, its ids and its types; `length` counts [CLS] and [SEP]."""
        return self._row(length, self.text(length - 2))

    def pair(self, length: int) -> dict:
        """The query and a document; `length` counts [CLS] and two [SEP]."""
        return self._row(length, QUERY, self.text(length - 3 - len(self._encode(QUERY))))

    def _row(self, length: int, *texts: str) -> dict:
        encoding = self.tokenizer.encode(*texts)
        if len(encoding.ids) != length:
            raise SystemExit(f"a text of {len(encoding.ids)} tokens instead of {length}: the "
                             "tokenizer does not split at spaces")
        return {"text": texts, "ids": encoding.ids, "types": encoding.type_ids}


def make_rows(workload: Workload, model_dir: Path, seed: int) -> dict:
    """{"ids": [[...]], "types": [[...]], "texts": [[text] or [query, document]]}."""
    rng = random.Random(f"{workload.name} {seed}")
    if workload.model.startswith("qwen"):
        ids = [[rng.randrange(RANDOM_IDS) for _ in range(length)] for length in workload.lengths]
        return {"ids": ids, "types": [[0] * len(row) for row in ids], "texts": []}
    composer = Composer(model_dir, rng.randrange(1 << 30))
    make = composer.pair if workload.kind == "score" else composer.single
    rows = [make(length) for length in workload.lengths]
    return {"ids": [row["ids"] for row in rows], "types": [row["types"] for row in rows],
            "texts": [list(row["text"]) for row in rows]}
