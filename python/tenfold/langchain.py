"""LangChain: TenfoldEmbeddings, and vectors in HanaDB's form.

    embeddings = TenfoldEmbeddings(model='all-MiniLM-L6-v2')
    store = HanaDB(connection, embeddings)
"""
from __future__ import annotations

import asyncio
import difflib
import struct
from typing import TYPE_CHECKING, Any

from langchain_core.embeddings import Embeddings

from tenfold.embeddings import SentenceTransformer
from tenfold.embeddings._together import Together

if TYPE_CHECKING:
    from collections.abc import Iterable

_ENCODE = ('normalize_embeddings', 'truncate_dim', 'show_progress_bar')


def to_fvecs(vectors: Any, half: bool = False) -> list[bytes]:
    """Each vector as HanaDB's REAL_VECTOR has it: its length and its floats, `<I{n}f`; `half`: HALF_VECTOR, `<I{n}e`."""
    import numpy as np
    rows = np.atleast_2d(np.asarray(vectors, np.float32)).astype('<f2' if half else '<f4')
    front = struct.pack('<I', rows.shape[1])
    return [front + row.tobytes() for row in rows]


class TenfoldEmbeddings(Embeddings):
    """Embeddings by tenfold.embeddings.SentenceTransformer.

    `model` (or `model_name`): a folder, or a name in HF_HOME's cache. `encode_kwargs`: normalize_embeddings, truncate_dim,
    show_progress_bar. Other keywords are SentenceTransformer's: device, model_kwargs, prompts, plan_cache ...
    """

    def __init__(self, model: Any = None, *, model_name: Any = None, encode_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        if (model is None) == (model_name is None):
            raise TypeError('TenfoldEmbeddings needs `model` or `model_name`: a folder, or the name of a model in the cache')
        self._encode = dict(encode_kwargs or {})
        _check('encode_kwargs', self._encode, _ENCODE)
        _check('TenfoldEmbeddings()', kwargs, ['model', 'model_name', 'encode_kwargs', *SentenceTransformer.__init__.__kwdefaults__])
        self.model = model if model is not None else model_name
        self.client = SentenceTransformer(self.model, **kwargs)
        self._together = Together(self._embed_queries)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != '_together'}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._together = Together(self._embed_queries)

    def embed_documents_array(self, texts: Iterable[str]) -> Any:
        """f32[texts, width] of NumPy, without Python's floats."""
        return self.client.encode_document(list(texts), **self._encode)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.embed_documents_array(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self.client.encode_query(text, **self._encode).tolist()

    def _embed_queries(self, texts: list[str]) -> list[list[float]]:
        return self.client.encode_query(texts, **self._encode).tolist()

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> list[float]:
        """Queries that wait at the same time are computed together."""
        return await self._together.answer(text)

    def to_fvecs(self, texts: Iterable[str], half: bool = False) -> list[bytes]:
        """The vectors of texts as HanaDB stores them."""
        return to_fvecs(self.embed_documents_array(texts), half)


def _check(where: str, given: dict[str, Any], known: Any) -> None:
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise TypeError(f"{where}: there is no '{name}'" + (f"; '{near[0]}' is meant?" if near else f"; it takes {', '.join(known)}"))
