"""Embedder: a column of text to a column of vectors, as Ray Data hands tables to an actor."""
from __future__ import annotations

import os
import re
from typing import Any

from tenfold.embeddings import SentenceTransformer, find_folder
from tenfold.embeddings._sentence_transformer import _finished
from tenfold.errors import FileError, InvalidInput
from tenfold.ray._model import Model, expect_one_of, kept_columns
from tenfold.ray._place import here, open_on, place_of
from tenfold.ray._tables import table_of

_NAMED = 3   # rows that an error names


class Embedder(Model):
    """A class for Dataset.map_batches: tables with a column of text get a column of vectors, f32[width] in each row.

    `folder`: an encoder, or a name in HF_HOME's cache. `column`: the texts. `output`: the column of vectors. `keep`: columns that go on
    (None: all). `on_error`: 'raise', or 'null': a row without a vector has null there, and the column OUTPUT_error says why; it needs
    batch_format='pyarrow'. `key`: a column that names rows in errors. `prompt_name`, `prompt`, `normalize_embeddings` and `truncate_dim`
    are those of SentenceTransformer.encode(); `device`, `threads`: in place of what Ray reserved; `fallback`: whether the CPU computes
    where a reserved GPU cannot. Other keywords are those of SentenceTransformer, such as `model_kwargs`, `plan_cache` and `batch_tokens`.
    """

    _NAME = 'folder'

    def __init__(self, folder: Any = None, *, column: str | None = None, output: str = 'embedding', keep: Any = None,
                 on_error: str = 'raise', key: str | None = None, prompt_name: str | None = None, prompt: str | None = None,
                 normalize_embeddings: bool = False, truncate_dim: int | None = None, device: Any = None, threads: int | None = None,
                 fallback: bool = True, **options: Any) -> None:
        expect_one_of('on_error', on_error, ('raise', 'null'))
        if folder is not None and column is None:
            raise TypeError("Embedder needs column=..., the name of the column of texts")
        self._column, self._output, self._keep, self._on_error, self._key = column, output, keep, on_error, key
        self._prompts, self._encode = (prompt_name, prompt), (truncate_dim, normalize_embeddings)
        self._device, self._threads, self._fallback, self._options = device, threads, fallback, options
        folder = os.path.expanduser(os.fspath(folder)) if folder is not None else None
        super().__init__(os.path.abspath(folder) if folder and os.path.isdir(folder) else folder,
                         dict(column=column, output=output, keep=keep, on_error=on_error, key=key, prompt_name=prompt_name, prompt=prompt,
                              normalize_embeddings=normalize_embeddings, truncate_dim=truncate_dim, device=device, threads=threads,
                              fallback=fallback, **options))

    def _open(self) -> SentenceTransformer:
        self._find_folder()
        place = place_of(self._device, self._threads)
        return open_on(place.devices, self._fallback, lambda devices: self._encoder(devices, place.threads))

    def _find_folder(self) -> None:
        try:
            find_folder(self.path, self._options.get('cache_folder'), self._options.get('revision'), 'sentence-transformers/')
        except FileError as error:
            raise FileError(f'on {here()}: {error}; an actor opens its model where it runs, so the folder has to be there on each '
                            'node') from None

    def _encoder(self, devices: list[str], threads: int) -> SentenceTransformer:
        options: dict[str, Any] = {'weights': 'map', **(self._options.get('model_kwargs') or {})}
        if threads:
            options.setdefault('threads', threads)
        return SentenceTransformer(self.path, **{**self._options, 'model_kwargs': options, 'device': devices or None}).prepare()

    def __call__(self, batch: Any) -> Any:
        table = table_of(batch, self._column or '', self._on_error == 'null')
        if not table.columns():
            return batch
        texts, keys = table.values(self._column), table.values(self._key) if self._key else None
        vectors, failed = self.vectors(texts)
        made = [self._output, *([f'{self._output}_error'] if self._on_error == 'null' else [])]
        kept = kept_columns(table.columns(), set(), self._keep, made)
        if failed and self._on_error == 'raise':
            raise InvalidInput(self._told(failed, texts, keys))
        return table.with_vectors(kept, self._output, vectors, failed)

    def vectors(self, texts: list[Any]) -> tuple[Any, dict[int, str]]:
        """f32[texts, width], and why some have none, by their places; their rows are zeros."""
        encoder: SentenceTransformer = self.open()
        failed = {at: why for at, text in enumerate(texts) if (why := _no_text(text))}
        ready = [text for at, text in enumerate(texts) if at not in failed] if failed else texts
        vectors, others = _encode_each(encoder, ready, *self._prompts, *self._encode)
        others = {at: re.sub(r'^text \d+ ', 'it ', why) for at, why in others.items()}   # its number is not the row's
        if not failed:
            return vectors, others
        import numpy as np
        places = np.array([at for at in range(len(texts)) if at not in failed], np.int64)
        whole = np.zeros((len(texts), vectors.shape[1]), np.float32)
        whole[places] = vectors
        return whole, dict(sorted({**failed, **{int(places[at]): why for at, why in others.items()}}.items()))

    def _told(self, failed: dict[int, str], texts: list[Any], keys: list[Any] | None) -> str:
        rows = [f'row {at} of the batch' + (f' ({self._key} {keys[at]!r})' if keys else '') + f', {texts[at]!r:.60}: {why}'
                for at, why in list(failed.items())[:_NAMED]]
        more = f' (and {len(failed) - _NAMED} more)' if len(failed) > _NAMED else ''
        hint = '' if self._key else "key='COLUMN' names rows by a column; "
        return (f"{len(failed)} of {len(texts)} texts of the column '{self._column}' cannot be embedded: " + '; '.join(rows) + more +
                f". {hint}on_error='null' goes on without them")

    def check(self) -> None:
        """Raises where the encoder gives no answer, or has lost its device: for health checks."""
        vectors, failed = self.vectors(['Is it well?'])
        if failed or not vectors.any():
            raise RuntimeError(f"the encoder of '{self.path}' gives no vector: {failed.get(0, 'it is zero')}")
        if lost := [one for one in self.open().devices if one['lost']]:
            raise RuntimeError(f"the encoder of '{self.path}' has lost {lost[0]['device']}: {lost[0]['lost']}")


def _encode_each(model: SentenceTransformer, texts: list[str], prompt_name: str | None, prompt: str | None, truncate_dim: int | None,
                 normalize_embeddings: bool) -> tuple[Any, dict[int, str]]:
    """encode(), where a text that has no vector ends nothing: zeros in its row, and the message by its place."""
    failed: dict[int, str] = {}
    vectors = model._encoder.encode(texts, model._prompt(prompt_name, prompt), None, failed)
    return _finished(vectors, model._dimensions(truncate_dim), normalize_embeddings), failed


def _no_text(text: Any) -> str:
    """Why this is no text; empty if it is one."""
    if not isinstance(text, str):
        return f'it is {"null" if text is None else type(text).__name__}, a text was expected'
    try:
        text.encode()
        return ''
    except UnicodeEncodeError as error:
        return f'it has half of a character (U+{ord(text[error.start]):04X}) at {error.start}'
