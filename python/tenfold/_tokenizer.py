"""Texts to ids, as Hugging Face's `tokenizers` gives them."""
from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tenfold import _native
from tenfold.errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids = NDArray[np.int32]


class Encoding(NamedTuple):
    """The tokens of a text, or of a pair; arrays of i32."""

    ids: Ids
    types: Ids
    mask: Ids      # 1; 0 where it was padded
    special: Ids   # 1 for tokens that no text has
    offsets: Ids   # two columns: where each token begins and ends in its text, in characters


class Batch(NamedTuple):
    """The tokens of many texts: arrays of i32, with a row for each text."""

    ids: Ids
    mask: Ids
    types: Ids


class Tokenizer:
    """The tokenizer of a file tokenizer.json, or of a folder that holds one or the files that such are made of."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._native = _native.Tokenizer(os.fspath(path))

    @classmethod
    def from_str(cls, json: str) -> Tokenizer:
        """Of the text of a tokenizer.json."""
        made = cls.__new__(cls)
        made._native = _native.Tokenizer.parse(_utf8(json))
        return made

    def encode(self, text: str, pair: str | None = None, special_tokens: bool = True) -> Encoding:
        parts = [_array(a) for a in self._native.encode(_utf8(text), None if pair is None else _utf8(pair), special_tokens)]
        ids, types, mask, special, begins, ends = parts
        return Encoding(ids, types, mask, special, _columns(begins, ends))

    def encode_batch(self, texts: Iterable[str], special_tokens: bool = True, threads: int = 0) -> Batch:
        """All of one length: where the tokenizer does not pad, zeros fill the rows. `threads`: at most so many; 0: all processors."""
        if isinstance(texts, str):
            raise TypeError('texts takes a sequence of texts, not one')
        encoded = [_utf8(text) for text in texts]
        *arrays, width = self._native.encode_batch(encoded, special_tokens, threads)
        ids, mask, types = (_array(a).reshape(len(encoded), width) for a in arrays)
        return Batch(ids, mask, types)

    def decode(self, ids: Sequence[int] | Any, skip_special_tokens: bool = True) -> str:
        import numpy as np
        return self._native.decode(np.ascontiguousarray(ids, dtype=np.int32).tobytes(), skip_special_tokens)

    def truncate(self, max_length: int) -> None:
        """At most so many tokens from now on, special ones included; 0: as many as there are."""
        self._native.set_truncation(max_length)

    def pad(self, length: int | None = None) -> None:
        """From now on: to this length, or to the longest of a batch; 0: not at all."""
        how = 'longest' if length is None else 'fixed' if length > 0 else 'none'
        self._native.set_padding(how, length or 0)

    def id(self, token: str) -> int | None:
        found = self._native.id(token)
        return found if found >= 0 else None

    def token(self, id: int) -> str:
        """Empty: there is none."""
        return self._native.token(id)

    def __len__(self) -> int:
        return self._native.vocabulary_size()


def _utf8(text: str) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f'a text is a str, not {type(text).__name__}')
    try:
        return text.encode()
    except UnicodeEncodeError as e:
        raise InvalidArgument(f'the text has half of a character (U+{ord(text[e.start]):04X}) at {e.start}: it is no Unicode') from None


def _array(data: bytearray) -> Ids:
    import numpy as np
    return np.frombuffer(data, dtype=np.int32)


def _columns(first: Ids, second: Ids) -> Ids:
    import numpy as np
    return np.stack([first, second], axis=1)
