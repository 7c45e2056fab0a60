"""SentenceTransformer: from texts to vectors, with the names of sentence-transformers 6."""
from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from tenfold._progress_bar import progress_bar
from tenfold.embeddings import _similarity
from tenfold.embeddings._model import Model, check_call, hand_out, texts_of
from tenfold.embeddings._options import as_tensor, renamed
from tenfold.embeddings._quantize import check_precision, quantize_embeddings
from tenfold.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_OUTPUTS = ('sentence_embedding', 'token_embeddings', None)


class SentenceTransformer(Model):
    """An encoder of a folder, as sentence-transformers saves it. Its methods may be called from several threads at once.

    `model_name_or_path`: a folder, or a name in HF_HOME's cache. `device`: 'cpu', 'cuda:0', 'cpu:0-3' (these
    processors), or a list of them, which compute side by side. `model_kwargs`: `precision` ('fp32', 'tf32', 'fp16', 'bf16', 'int8', 'auto')
    with `calibration_texts` and `min_cosine`; or `dtype` ('float16', 'bfloat16'); `strategy` of several devices ('auto', 'round_robin',
    'memory', 'utilization', 'pipeline'); `packed` (whether texts of several lengths run together; None: on GPUs); and fields of
    tenfold.build (`threads`, `optimization_level` ...). `plan_cache`: the folder where plans are kept (None: the library's; False:
    nowhere). `batch_tokens`: how many tokens are computed at once at most.
    `local_files_only`, `token`, `trust_remote_code`, `model_card_data` and `backend` have no effect, which a warning tells once: nothing is
    fetched, and no code of a folder is run.
    """

    _OWNER = 'sentence-transformers/'
    _PROMPTS = {'query': '', 'document': ''}

    def __init__(self, model_name_or_path: Any = None, *, modules: Any = None, device: Any = None, prompts: dict[str, str] | None = None,
                 default_prompt_name: str | None = None, cache_folder: Any = None, trust_remote_code: bool = False,
                 revision: str | None = None, local_files_only: bool = True, token: Any = None, use_auth_token: Any = None,
                 model_kwargs: dict[str, Any] | None = None, processor_kwargs: dict[str, Any] | None = None,
                 config_kwargs: dict[str, Any] | None = None, model_card_data: Any = None, backend: str = 'torch',
                 similarity_fn_name: Any = None, truncate_dim: int | None = None, plan_cache: Any = None, max_seq_length: int = 0,
                 batch_tokens: int = 0) -> None:
        super().__init__(model_name_or_path, refused=dict(modules=modules, processor_kwargs=processor_kwargs, config_kwargs=config_kwargs),
                         idle=dict(trust_remote_code=trust_remote_code, local_files_only=local_files_only, token=token,
                                   use_auth_token=use_auth_token, model_card_data=model_card_data),
                         device=device, prompts=prompts, default_prompt_name=default_prompt_name, cache_folder=cache_folder,
                         revision=revision, model_kwargs=model_kwargs, backend=backend, plan_cache=plan_cache, max_tokens=max_seq_length,
                         batch_tokens=batch_tokens)
        info = self._encoder.info
        if info.labels:
            raise InvalidArgument(f"'{self.folder}' has a classification head: it is a model for CrossEncoder")
        self.similarity_fn_name = _similarity.check_function(similarity_fn_name or info.similarity)
        self.truncate_dim = truncate_dim if truncate_dim is not None else info.truncate_dim or None
        if truncate_dim is not None:
            self._dimensions(truncate_dim)

    def get_embedding_dimension(self) -> int:
        width = self._encoder.info.width
        return min(width, self.truncate_dim) if self.truncate_dim else width

    def get_sentence_embedding_dimension(self) -> int:
        """get_embedding_dimension() under its older name."""
        return self.get_embedding_dimension()

    @contextlib.contextmanager
    def truncate_embeddings(self, truncate_dim: int | None) -> Iterator[None]:
        """Inside, encode() gives the first `truncate_dim` of each vector."""
        before, self.truncate_dim = self.truncate_dim, truncate_dim
        try:
            yield
        finally:
            self.truncate_dim = before

    def _dimensions(self, requested: int | None) -> int:
        if requested is None:
            return self.get_embedding_dimension()
        width = self._encoder.info.width
        if not 0 < requested <= width:
            raise InvalidArgument(f'truncate_dim is {requested}, but vectors have {width} dimensions')
        return requested

    @renamed(sentences='inputs')
    def encode(self, inputs: str | Sequence[str], prompt_name: str | None = None, prompt: str | None = None, batch_size: int = 32,
               show_progress_bar: bool | None = None, output_value: str | None = 'sentence_embedding', precision: str = 'float32',
               convert_to_numpy: bool = True, convert_to_tensor: bool = False, device: Any = None, normalize_embeddings: bool = False,
               truncate_dim: int | None = None, pool: Any = None, chunk_size: int | None = None) -> Any:
        """The vectors of texts, f32[texts, width], or of one text, f32[width].

        `output_value`: 'token_embeddings' gives an array f32[tokens, width] for each text; None gives a dict for each, with both and the
        ids. `batch_size` and `chunk_size` have no effect, with one warning: texts of equal length are computed together, at most
        `batch_tokens` tokens.
        `pool`, of start_multi_process_pool(), or `device`, one or a list, computes in place of the model's own devices.
        """
        check_call(batch_size, chunk_size)
        encoder = self._encoder_for(device, pool)
        check_precision(precision)
        if output_value not in _OUTPUTS:
            raise InvalidArgument(f"output_value is {output_value!r}, expected 'sentence_embedding', 'token_embeddings' or None")
        requested, words = self._dimensions(truncate_dim), self._prompt(prompt_name, prompt)
        one = isinstance(inputs, str)
        texts = [inputs] if isinstance(inputs, str) else texts_of(inputs)
        progress = progress_bar(show_progress_bar, 'texts')
        if output_value != 'sentence_embedding':
            return self._parts(encoder, texts, words, progress, requested, output_value, one, convert_to_tensor)
        vectors = _finished(encoder.encode(texts, words, progress), requested, normalize_embeddings)
        if precision != 'float32':
            vectors = quantize_embeddings(vectors, precision)
        return hand_out(vectors, one, convert_to_numpy, convert_to_tensor)

    def _parts(self, encoder: Any, texts: list[str], prompt: str, progress: Any, requested: int, output: str | None, one: bool,
               tensors: bool) -> Any:
        """Vectors of tokens, or dicts of all that is known of a text."""
        rows: list[Any] = encoder.encode_tokens(texts, prompt, progress)
        if output is None:
            import numpy as np
            vectors = _finished(encoder.encode(texts, prompt, None), requested, False)
            ids = [np.array(row, np.int64) for row in encoder.token_ids(texts, prompt)]
            rows = [{'input_ids': i, 'attention_mask': np.ones_like(i), 'token_embeddings': t, 'sentence_embedding': v}
                    for i, t, v in zip(ids, rows, vectors)]
        elif tensors:
            rows = [as_tensor(row) for row in rows]
        return rows[0] if one else rows

    @renamed(sentences='inputs')
    def encode_query(self, inputs: str | Sequence[str], prompt_name: str | None = None, prompt: str | None = None, batch_size: int = 32,
                     show_progress_bar: bool | None = None, output_value: str | None = 'sentence_embedding', precision: str = 'float32',
                     convert_to_numpy: bool = True, convert_to_tensor: bool = False, device: Any = None,
                     normalize_embeddings: bool = False, truncate_dim: int | None = None, pool: Any = None,
                     chunk_size: int | None = None) -> Any:
        """encode() with the prompt 'query', which is empty where the model has none."""
        if prompt_name is None and prompt is None and 'query' in self.prompts:
            prompt_name = 'query'
        return self.encode(inputs, prompt_name, prompt, batch_size, show_progress_bar, output_value, precision, convert_to_numpy,
                           convert_to_tensor, device, normalize_embeddings, truncate_dim, pool, chunk_size)

    @renamed(sentences='inputs')
    def encode_document(self, inputs: str | Sequence[str], prompt_name: str | None = None, prompt: str | None = None, batch_size: int = 32,
                        show_progress_bar: bool | None = None, output_value: str | None = 'sentence_embedding', precision: str = 'float32',
                        convert_to_numpy: bool = True, convert_to_tensor: bool = False, device: Any = None,
                        normalize_embeddings: bool = False, truncate_dim: int | None = None, pool: Any = None,
                        chunk_size: int | None = None) -> Any:
        """encode() with the first of the prompts 'document', 'passage' and 'corpus'; 'document' is empty where the model has none."""
        if prompt_name is None and prompt is None:
            prompt_name = next((name for name in ('document', 'passage', 'corpus') if name in self.prompts), None)
        return self.encode(inputs, prompt_name, prompt, batch_size, show_progress_bar, output_value, precision, convert_to_numpy,
                           convert_to_tensor, device, normalize_embeddings, truncate_dim, pool, chunk_size)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """How alike each of these is to each of those, by `similarity_fn_name`: f32[these, those]; a tensor where these are tensors."""
        return _similarity.similarity(embeddings1, embeddings2, self.similarity_fn_name)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """How alike each of these is to the one of those at its place: f32[these]."""
        return _similarity.pairwise_similarity(embeddings1, embeddings2, self.similarity_fn_name)


def _finished(vectors: Any, requested: int, normalize: bool) -> Any:
    import numpy as np
    if requested < vectors.shape[1]:
        vectors = np.ascontiguousarray(vectors[:, :requested])
    if normalize:
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return vectors
