"""The character map that sentencepiece puts into its models, in the form tokenizer.json holds."""

import base64
import io

import sentencepiece


def fields(message):
    """(number, bytes) of the length-delimited fields of a protocol buffer message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            varint()
        elif kind == 1:
            at += 8
        elif kind == 5:
            at += 4
        else:
            size = varint()
            yield key >> 3, message[at:at + size]
            at += size


def nmt_nfkc_charsmap():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c d e"] * 10), model_writer=model, model_type="unigram",
        vocab_size=10, hard_vocab_limit=False, normalization_rule_name="nmt_nfkc", minloglevel=2)
    normalizer_spec = next(value for number, value in fields(model.getvalue()) if number == 3)
    charsmap = next(value for number, value in fields(normalizer_spec) if number == 2)
    return base64.b64encode(charsmap).decode()
