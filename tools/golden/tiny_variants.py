"""The list of tiny variants. Each name is a directory under tests/golden/tiny."""

from __future__ import annotations

from tiny_models import Spec

VARIANTS = [
    Spec("bert-mean", "BERT, mean pooling by the old booleans; head_dim 12", 11,
         config={"hidden_size": 36, "num_attention_heads": 3, "intermediate_size": 36}),
    Spec("bert-cls", "BERT, CLS pooling by the old booleans (BGE)", 12, pooling=("cls",)),
]
