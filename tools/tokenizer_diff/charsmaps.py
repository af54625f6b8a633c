"""Character maps for the Precompiled normalizer."""

import base64
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "unicode"))
from probe import charsmap  # noqa: E402

# Replacements of every shape: same length, longer, shorter, nothing; keys that are clusters, parts
# of clusters and prefixes of one another.
SMALL = {
    "\u00a0": " ", "\u3000": " ", "\u200b": "", "\u00ad": "", "\ufb01": "fi", "\u00bd": "1\u20442",
    "\u2460": "1", "\u212b": "\u00c5", "\u00e9": "e", "e\u0301": "\u00e9", "a\u030a": "\u00e5",
    "\u0301": "", "\u0327": "\u0301\u0301", "x": "", "Q": "quu", "Z\u030c": "z", "\u00df": "ss",
    "\u01c4": "D\u017d", "\u1e9e": "", "\uff21": "A", "\u0915": "ka", "\u094d": "", "\u00a9": "(c)",
    "\u200d": "", "\ufe0f": "", "\U0001f44d": "+1", "\uac00": "\u1100\u1161", "\u1161": "a",
    "\u06dd": "*", "\u0600": "", "\r\n": "\n", "\r": "", "\t": "  ", "1": "one", "\u0130": "i",
}


def small():
    return charsmap(SMALL)


def sentencepiece(rule):
    """The map that SentencePiece builds in, e.g. nmt_nfkc."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    with tempfile.TemporaryDirectory() as folder:
        prefix = f"{folder}/m"
        text = pathlib.Path(folder, "text")
        text.write_text("hello world\nthe quick brown fox jumps over the lazy dog\n" * 5)
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_prefix=prefix, vocab_size=40, model_type="char",
            normalization_rule_name=rule, hard_vocab_limit=False, minloglevel=2)
        model = sentencepiece_model_pb2.ModelProto()
        model.ParseFromString(pathlib.Path(f"{prefix}.model").read_bytes())
    return base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()
