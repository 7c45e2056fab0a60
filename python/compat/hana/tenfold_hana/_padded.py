"""Engines of the user's own: input_ids and attention_mask in, padded, embeddings out."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tenfold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenfold.embeddings import SentenceTransformer

IDS, MASK, TYPES = 'input_ids', 'attention_mask', 'token_type_ids'


class PaddedEngine:
    """Runs such an engine, in batches that its first profile has room for. Thread safe."""

    def __init__(self, engine: tenfold.Engine, client: SentenceTransformer) -> None:
        self.engine, self._client = engine, client
        inputs = {b.name: b for b in engine.bindings if b.is_input}
        outputs = [b for b in engine.bindings if not b.is_input]
        if IDS not in inputs or not set(inputs) <= {IDS, MASK, TYPES} or not outputs:
            found = ', '.join(b.name for b in engine.bindings)
            raise tenfold.InvalidArgument(f'the engine that _build_engine() wrote has {found}; expected are the inputs {IDS} and {MASK} '
                                          f'({TYPES} where the model has them) and an output')
        self._inputs = inputs
        self._output = next((b.name for b in outputs if b.name == 'embeddings'), outputs[0].name)
        minimum, _, most = engine.profile_shapes(0, IDS)
        self._fewest, self._batch, self._shortest, self.longest = minimum[0], most[0], minimum[1], most[1]

    def _run(self, texts: Sequence[str]) -> Any:
        import numpy as np
        tokens = self._client.tokenize(texts)
        length = tokens[IDS].shape[1]
        room = max(self._shortest, length)   # whoever opened it has the client cut texts at `longest`
        feed = {name: np.zeros((max(len(texts), self._fewest), room), binding.numpy_dtype) for name, binding in self._inputs.items()}
        for name, array in feed.items():
            array[:len(texts), :length] = tokens[name]
        out = self.engine(feed)
        return np.asarray(out[self._output] if isinstance(out, dict) else out, np.float32)[:len(texts)]

    def encode(self, texts: Sequence[str]) -> Any:
        """f32[texts, width]."""
        import numpy as np
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))   # texts of a batch are about as long
        rows: Any = [None] * len(texts)
        for first in range(0, len(order), self._batch):
            some = order[first:first + self._batch]
            for place, row in zip(some, self._run([texts[i] for i in some])):
                rows[place] = row
        return np.stack(rows) if rows else np.zeros((0, self._client.get_embedding_dimension()), np.float32)
