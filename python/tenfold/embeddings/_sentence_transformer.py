"""SentenceTransformer: from texts to vectors, with the names of sentence-transformers 6."""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from tenfold import _native
from tenfold._device import devices as all_devices
from tenfold.embeddings import _similarity
from tenfold.embeddings._folders import find_folder
from tenfold.embeddings._options import as_tensor, device_names, encoder_options, progress_bar, refuse
from tenfold.embeddings._quantize import check_precision, quantize_embeddings
from tenfold.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence


class SentenceTransformer:
    """An encoder of a folder, as sentence-transformers saves it. Its methods may be called from several threads at once.

    `model_name_or_path`: a folder, or a name in HF_HOME's cache. `device`: 'cpu', 'cuda:0', 'cpu:0-3' (these
    processors), or a list of them, which compute side by side. `model_kwargs`: `precision` ('fp32', 'fp16', 'bf16', 'int8', 'auto') with
    `calibration_texts` and `least_cosine`; or `dtype` ('float16', 'bfloat16'); `strategy` of several devices ('auto', 'round_robin',
    'memory', 'utilization', 'pipeline'); and fields of tenfold.build (`threads`, `optimization_level` ...). `plan_cache`: the folder where
    plans are kept (None: the library's; False: nowhere). `batch_tokens`: how many tokens are computed at once at most.
    """

    def __init__(self, model_name_or_path: Any = None, *, modules: Any = None, device: Any = None, prompts: dict[str, str] | None = None,
                 default_prompt_name: str | None = None, cache_folder: Any = None, trust_remote_code: bool = False,
                 revision: str | None = None, local_files_only: bool = True, token: Any = None,
                 model_kwargs: dict[str, Any] | None = None, processor_kwargs: dict[str, Any] | None = None,
                 config_kwargs: dict[str, Any] | None = None, model_card_data: Any = None, backend: str = 'torch',
                 similarity_fn_name: Any = None, truncate_dim: int | None = None, plan_cache: Any = None, max_seq_length: int = 0,
                 batch_tokens: int = 0) -> None:
        refuse(modules=modules, processor_kwargs=processor_kwargs, config_kwargs=config_kwargs)
        if model_name_or_path is None:
            raise InvalidArgument('SentenceTransformer needs a folder, or the name of a model in the cache')
        self.folder = find_folder(model_name_or_path, cache_folder, revision)
        self._made = dict(encoder_options(device, backend, model_kwargs or {}), cache=plan_cache, max_tokens=max_seq_length,
                          batch_tokens=batch_tokens)
        self._encoder = _native.Encoder(self.folder, **self._made)
        self._others: dict[tuple[str, ...], Any] = {}   # encoders on devices that single calls asked for
        self._lock = threading.Lock()
        info = self._encoder.info
        if info.labels:
            raise InvalidArgument(f"'{self.folder}' has a classification head: it is a model for CrossEncoder")
        self.prompts = {**info.prompts, **(prompts or {})}
        self.default_prompt_name = default_prompt_name or info.default_prompt or None
        self._prompt(self.default_prompt_name, None)
        self.similarity_fn_name = _similarity.check_function(similarity_fn_name or info.similarity)
        self.truncate_dim = truncate_dim
        self._dimensions(truncate_dim)

    @property
    def max_seq_length(self) -> int:
        return self._encoder.info.max_tokens

    @property
    def counts(self) -> dict[str, int]:
        """Texts, tokens, truncated texts and runs so far."""
        return self._encoder.counts

    def get_max_seq_length(self) -> int:
        return self.max_seq_length

    def get_embedding_dimension(self) -> int:
        width = self._encoder.info.width
        return min(width, self.truncate_dim) if self.truncate_dim else width

    get_sentence_embedding_dimension = get_embedding_dimension

    def _prompt(self, name: str | None, prompt: str | None) -> str:
        if prompt is not None:
            return prompt
        if name is None:
            return ''
        if name not in self.prompts:
            known = ', '.join(map(repr, self.prompts)) or 'none'
            raise InvalidArgument(f'there is no prompt {name!r}; the prompts of this model are: {known}')
        return self.prompts[name]

    def _dimensions(self, wanted: int | None) -> int:
        width = self._encoder.info.width
        if wanted is None:
            return width
        if not 0 < wanted <= width:
            raise InvalidArgument(f'truncate_dim is {wanted}, but vectors have {width} dimensions')
        return wanted

    def encode(self, inputs: str | Sequence[str], prompt_name: str | None = None, prompt: str | None = None, batch_size: int = 32,
               show_progress_bar: bool | None = None, output_value: str | None = 'sentence_embedding', precision: str = 'float32',
               convert_to_numpy: bool = True, convert_to_tensor: bool = False, device: Any = None, normalize_embeddings: bool = False,
               truncate_dim: int | None = None, pool: Any = None, chunk_size: int | None = None) -> Any:
        """The vectors of texts, f32[texts, width], or of one text, f32[width].

        `batch_size` and `chunk_size` are not looked at: texts of one length are computed together, at most `batch_tokens` tokens.
        `pool`, of start_multi_process_pool(), or `device`, one or a list, computes in place of the model's own devices.
        """
        encoder = self._encoder_for(device, pool)
        check_precision(precision)
        wanted = self._dimensions(truncate_dim if truncate_dim is not None else self.truncate_dim)
        words = self._prompt(prompt_name if prompt_name is not None or prompt is not None else self.default_prompt_name, prompt)
        one = isinstance(inputs, str)
        texts = [inputs] if one else _texts(inputs)
        progress = progress_bar(show_progress_bar, 'texts')
        if output_value == 'token_embeddings':
            tokens = encoder.encode_tokens(texts, words, progress)
            tokens = [as_tensor(t) for t in tokens] if convert_to_tensor else tokens
            return tokens[0] if one else tokens
        if output_value not in ('sentence_embedding', None):
            raise InvalidArgument(f"output_value is {output_value!r}, expected 'sentence_embedding' or 'token_embeddings'")
        vectors = encoder.encode(texts, words, progress)
        vectors = _finished(vectors, wanted, normalize_embeddings)
        if precision != 'float32':
            vectors = quantize_embeddings(vectors, precision)
        if convert_to_tensor:
            vectors = as_tensor(vectors)
        if one:
            return vectors[0]
        return vectors if convert_to_numpy or convert_to_tensor else list(vectors)

    def encode_query(self, inputs: str | Sequence[str], prompt_name: str | None = None, prompt: str | None = None, **options: Any) -> Any:
        """encode() with the prompt 'query', where the model has one."""
        if prompt_name is None and prompt is None and 'query' in self.prompts:
            prompt_name = 'query'
        return self.encode(inputs, prompt_name, prompt, **options)

    def encode_document(self, inputs: str | Sequence[str], prompt_name: str | None = None, prompt: str | None = None,
                        **options: Any) -> Any:
        """encode() with the prompt 'document', 'passage' or 'corpus', where the model has one."""
        if prompt_name is None and prompt is None:
            prompt_name = next((name for name in ('document', 'passage', 'corpus') if name in self.prompts), None)
        return self.encode(inputs, prompt_name, prompt, **options)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """How alike each of these is to each of those, by `similarity_fn_name`."""
        return _similarity.similarity(embeddings1, embeddings2, self.similarity_fn_name)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        return _similarity.pairwise_similarity(embeddings1, embeddings2, self.similarity_fn_name)

    def tokenize(self, texts: Sequence[str]) -> dict[str, Any]:
        """Ids, types and masks of texts, padded with zeros to the longest: i64[texts, tokens]."""
        import numpy as np
        rows = [self._encoder.tokenize(text) for text in _texts(texts)]
        most = min(self.max_seq_length, max((len(row['input_ids']) for row in rows), default=0))
        out = {name: np.zeros((len(rows), most), np.int64) for name in ('input_ids', 'token_type_ids', 'attention_mask')}
        for i, row in enumerate(rows):
            for name, ids in row.items():
                ids = ids[:most - 1] + ids[-1:] if len(ids) > most else ids
                out[name][i, :len(ids)] = ids
        return out

    @property
    def devices(self) -> list[dict[str, Any]]:
        """Of each device: what it has done, its precision, the cosine that int8 was judged by, and why it is lost, if it is."""
        return self._encoder.devices

    def start_multi_process_pool(self, target_devices: Sequence[str] | None = None) -> dict[str, Any]:
        """Devices for encode(pool=...): threads of this process, not processes. Default: all GPUs, or four shares of the CPU."""
        if target_devices is None:
            target_devices = [d.device for d in all_devices() if d.device.startswith('cuda')] or ['cpu'] * 4
        names = device_names(list(target_devices))
        return {'processes': names, 'encoder': self._encoder_on(names)}

    @staticmethod
    def stop_multi_process_pool(pool: dict[str, Any]) -> None:
        """Lets go of a pool's engines."""
        pool.pop('encoder', None)

    def _encoder_on(self, names: list[str]) -> Any:
        made = {**self._made, 'options': {**self._made['options'], 'device': names[0]}, 'devices': names}
        return _native.Encoder(self.folder, **made)

    def _encoder_for(self, device: Any, pool: Any) -> Any:
        if pool is not None:
            if not isinstance(pool, dict) or 'encoder' not in pool:
                raise InvalidArgument('pool is what start_multi_process_pool() gives, and was not stopped')
            return pool['encoder']
        if device is None:
            return self._encoder
        names = device_names(device)
        if names == (self._made.get('devices') or [self._made['options']['device']]):
            return self._encoder
        with self._lock:
            if tuple(names) not in self._others:
                self._others[tuple(names)] = self._encoder_on(names)
            return self._others[tuple(names)]

    def prepare(self) -> SentenceTransformer:
        """Makes the engine now, or takes it from the cache; else the first encode() does."""
        self._encoder.prepare()
        return self

    def eval(self) -> SentenceTransformer:
        return self


def _texts(inputs: Any) -> list[str]:
    if isinstance(inputs, (bytes, bytearray)) or inputs is None:
        raise TypeError(f'texts are str, or a sequence of str, got {type(inputs).__name__}')
    return list(inputs)


def _finished(vectors: Any, wanted: int, normalize: bool) -> Any:
    import numpy as np
    if wanted < vectors.shape[1]:
        vectors = np.ascontiguousarray(vectors[:, :wanted])
    if normalize:
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return vectors
