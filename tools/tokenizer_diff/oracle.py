"""What the Python package says: the same answers as text_probe gives."""

import json

from tokenizers import NormalizedString, PreTokenizedString, Tokenizer, models, pre_tokenizers

SINGLE = pre_tokenizers.FixedLength(length=1)


class Oracle:
    def __init__(self, pipeline):
        base = json.loads(Tokenizer(models.WordLevel({"a": 0}, unk_token="a")).to_str())
        base["normalizer"] = pipeline.get("normalizer")
        base["pre_tokenizer"] = pipeline.get("pre_tokenizer")
        self.tokenizer = Tokenizer.from_str(json.dumps(base))
        self.normalizer = self.tokenizer.normalizer
        self.pre_tokenizer = self.tokenizer.pre_tokenizer

    def answer(self, text):
        """[[piece, [begin, end of the origin of each of its characters ...]] ...], or None when the
        library itself fails on this text."""
        pieces = PreTokenizedString(text)
        try:
            if self.normalizer is not None:
                # A Rust panic inside the callback below would end the process.
                self.normalizer.normalize(NormalizedString(text))
                pieces.normalize(lambda part: self.normalizer.normalize(part))
            if self.pre_tokenizer is not None:
                self.pre_tokenizer.pre_tokenize(pieces)
            texts = [split[0] for split in pieces.get_splits("normalized", "byte")]
            SINGLE.pre_tokenize(pieces)
        except BaseException as error:  # a Rust panic is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            return None
        characters = pieces.get_splits("original", "byte")
        answer, at = [], 0
        for piece in texts:
            if piece == "":
                continue
            spans = []
            for _, span, _ in characters[at:at + len(piece)]:
                spans += span
            at += len(piece)
            answer.append([piece, spans])
        assert at == len(characters)
        return answer
