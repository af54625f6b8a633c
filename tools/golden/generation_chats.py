"""Goldens of chats: tests/golden/generation/chats.json.

    python generation_chats.py

Chats rendered by transformers with the chat template of a tiny model, and their token ids by its
tokenizer.json.
"""

from __future__ import annotations

import tokenizers
import transformers

from common import FORMAT, provenance, write_golden_json
from generation import GENERATION

VARIANTS = ["tied", "nested", "qwen3-tied"]  # Qwen3.5, its template in a file, Qwen3
USER = {"role": "user", "content": "What time is it?"}
THOUGHT = {"role": "assistant", "content": "<think>\nIt is late.\n</think>\n\nIt is 3."}
CHATS = [
    ([USER], {"add_generation_prompt": True}),
    ([USER], {"add_generation_prompt": True, "enable_thinking": True}),
    ([USER], {"add_generation_prompt": True, "enable_thinking": False}),
    ([USER], {}),
    ([{"role": "system", "content": "Read the stars."}, USER, THOUGHT,
      {"role": "user", "content": "cafe\u0301 \u0928\u092e\u0938\u094d\u0924\u0947 \U0001f642\n"}],
     {"add_generation_prompt": True, "enable_thinking": False}),
    ([USER, {"role": "assistant", "content": "a </think> b </think>\n\n c"}, USER],
     {"add_generation_prompt": True}),
    ([{"role": "user", "content": ""}], {"add_generation_prompt": True}),
    ([{"role": "user", "content": "<|im_end|> is a token, <|im_ end|> is not"}],
     {"add_generation_prompt": True}),
]


def main() -> None:
    cases = []
    for variant in VARIANTS:
        directory = GENERATION / variant
        library = transformers.AutoTokenizer.from_pretrained(str(directory))
        tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
        for messages, options in CHATS:
            text = library.apply_chat_template(messages, tokenize=False, **options)
            ids = tokenizer.encode(text).ids
            assert library(text)["input_ids"] == ids, (variant, text)
            cases.append({"dir": variant, "messages": messages, "options": options, "text": text,
                          "ids": ids, "decoded": tokenizer.decode(ids)})
    write_golden_json(GENERATION / "chats.json", {
        "format": FORMAT, "provenance": provenance("python tools/golden/generation_chats.py")},
        cases)


if __name__ == "__main__":
    main()
