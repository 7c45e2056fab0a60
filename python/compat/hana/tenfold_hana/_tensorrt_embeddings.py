"""TensorRTEmbeddings: an encoder of a folder, as an engine in a file, under the names of a community's guide."""
from __future__ import annotations

import copy
import dataclasses
import hashlib
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

import tenfold
from langchain_core.embeddings import Embeddings
from tenfold.embeddings import SentenceTransformer

from tenfold_hana._benchmark import Benchmarks
from tenfold_hana._calibration import Calibrator, checked_texts
from tenfold_hana._devices import log, usable_device
from tenfold_hana._engine_files import engine_at, file_name
from tenfold_hana._padded import IDS, PaddedEngine
from tenfold_hana._precision import auto_precision, build_options, next_wider, taken_precision
from tenfold_hana._progress import BuildProgress
from tenfold_hana._settings import Settings, is_set, read_settings, who_said

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class _OwnEngine(Exception):
    """Carries an engine that the encoder does not run out of the call that wanted one."""

    def __init__(self, engine: tenfold.Engine) -> None:
        super().__init__()
        self.engine = engine


class TensorRTEmbeddings(Benchmarks, Embeddings):
    """Vectors of length 1 by an engine that is kept in `cache_dir` as {model}_{precision}.engine. Methods are thread safe.

    `model_name`: a folder, or a name in HF_HOME's cache. `precision`: auto, fp32, bf16, fp16, int8; auto and int8 calibrate on
    `calibration_data`, texts. `max_batch_size`: a GPU computes at most as many tokens at once as so many of the longest texts have.
    `gpu_memory_threshold`: the percentage of a GPU's memory that has to be free; else the CPU computes. `max_workspace_size`: MB.
    `use_tensorrt`: False computes in f32 on the CPU, without an engine's file. `tf32`: products of precision fp32 may round (to TF32 on a
    GPU); fp32 is f32 else. `enable_tensor_cores`: False lets no product round that a narrower precision leaves in f32; it says nothing of
    fp32. `device`: 'cuda:0', 'cpu'. What is None follows from the environment (docs/guides/hana.md); `settings` has what is used, and a
    setting without an effect is told by a warning. Raises tenfold.InvalidArgument, FileError (no such model), Unsupported.
    """

    def __init__(self, model_name: str = 'sentence-transformers/all-MiniLM-L6-v2', cache_dir: Any = None,
                 force_engine_rebuild: bool | None = None, max_batch_size: int = 32, gpu_memory_threshold: float = 20.0,
                 precision: str | None = None, calibration_cache_dir: Any = None, calibration_data: Sequence[str] | None = None, *,
                 use_tensorrt: bool | None = None, max_workspace_size: int | None = None, int8_calibration: bool | None = None,
                 enable_tensor_cores: bool = True, tf32: bool = False, device: Any = None) -> None:
        given = dict(use_tensorrt=use_tensorrt, precision=precision, cache_dir=cache_dir, engine_rebuild=force_engine_rebuild,
                     max_workspace_size=max_workspace_size, int8_calibration=int8_calibration, calibration_cache=calibration_cache_dir)
        self._asked, self._said = read_settings(**given), who_said(**given)
        if isinstance(max_batch_size, bool) or not isinstance(max_batch_size, int) or max_batch_size < 1:
            raise tenfold.InvalidArgument(f'max_batch_size is {max_batch_size!r}, expected a number of texts from 1 on')
        self.model_name, self.max_batch_size, self.gpu_memory_threshold = os.fspath(model_name), max_batch_size, gpu_memory_threshold
        self.calibration_data, self.enable_tensor_cores, self.tf32 = checked_texts(calibration_data), enable_tensor_cores, tf32
        self._lock, self._most_texts = threading.Lock(), 0   # the most that one call encodes, once memory was short; 0: all
        # Whoever names this class wants an engine, unless the environment says that nobody does.
        self.uses_engine = self._asked.use_tensorrt if use_tensorrt is not None or is_set('use_tensorrt') else True
        self.device = usable_device(device, gpu_memory_threshold) if self.uses_engine else 'cpu'
        path = os.path.join(self._asked.calibration_cache, file_name(self.model_name) + '_calibration.cache')
        self._calibrator = Calibrator(path, self.calibration_data, self._asked.int8_calibration or bool(self.calibration_data))
        self._padded: PaddedEngine | None = None
        self._built = False
        self.requested_precision = self.precision = self._chosen_precision()
        self._open()
        for line in self._without_effect():
            log.warning('%s', line)

    @property
    def settings(self) -> Settings:
        """What is used: `precision` is the engine's, and `use_tensorrt` whether there is one."""
        return dataclasses.replace(self._asked, use_tensorrt=self.uses_engine, precision=self.precision,
                                   int8_calibration=self._calibrator.keep and self.requested_precision == 'int8')

    def _without_effect(self) -> Iterator[str]:
        """A line for each reason why something that was asked for does nothing."""
        flags = dict(self._said)
        if self.calibration_data:
            flags['calibration_data'] = 'calibration_data'
        names = lambda *fields: ', '.join(flags[field] for field in fields if field in flags)
        if not self.uses_engine:
            if idle := names('precision', 'cache_dir', 'max_workspace_size', 'engine_rebuild', 'int8_calibration', 'calibration_cache',
                             'calibration_data'):
                yield f'no effect: {idle} (the CPU computes in f32 and keeps no engine: {flags["use_tensorrt"]} is false)'
            return
        if self.tf32 and self.requested_precision != 'fp32':
            yield (f'no effect: tf32 (the engine is {self.requested_precision}; enable_tensor_cores says whether what stays in f32 there '
                   'may round)')
        if not self._asked.int8_calibration:
            flags.pop('int8_calibration', None)
        if self.requested_precision != 'int8':
            if idle := names('int8_calibration', 'calibration_cache', 'calibration_data'):
                yield f'no effect: {idle} (the engine is {self.requested_precision}, which takes no ranges)'
        elif not self._built and 'int8_calibration' in flags and not self.calibration_data:
            yield (f'no effect: {flags["int8_calibration"]} (the engine that lies there keeps the ranges of its build: {self.engine_path}; '
                   'TENSORRT_ENGINE_REBUILD=true calibrates anew)')

    def _chosen_precision(self) -> str:
        if not self.uses_engine:
            return 'fp32'
        if self._asked.precision != 'auto':
            return self._asked.precision
        has_ranges = self._calibrator.keep or self._calibrator.cached
        chosen = auto_precision(self.device, has_ranges)
        if not has_ranges and auto_precision(self.device, True) == 'int8':
            log.warning('precision auto is %s on %s, and not int8: that takes ranges from calibration_data', chosen, self.device)
        else:
            log.info('precision auto is %s on %s', chosen, self.device)
        return chosen

    def _again(self, **changes: Any) -> TensorRTEmbeddings:
        """The same with other attributes, and an engine of its own."""
        other = copy.copy(self)
        other._lock, other._most_texts, other._padded = threading.Lock(), 0, None
        other.__dict__.update(changes)
        other.requested_precision = other.precision = other._chosen_precision()
        other._open()
        return other

    def on_device(self, device: Any) -> TensorRTEmbeddings:
        """The same on another device: 'cuda:1'. GPUs of one kind share the engine's file."""
        return self._again(device=usable_device(device, self.gpu_memory_threshold))

    def _in(self, precision: str) -> TensorRTEmbeddings:
        return self._again(_asked=dataclasses.replace(self._asked, precision=precision))

    # From here on: the engine.
    @property
    def engine_path(self) -> str:
        return os.path.join(self._asked.cache_dir, f'{file_name(self.model_name)}_{self.requested_precision}.engine')

    def _open(self) -> None:
        """Makes the engine: with half the batch where memory is short, on the CPU where a GPU fails."""
        while True:
            try:
                return self._open_on(self.device)
            except tenfold.OutOfMemory as error:
                if self.max_batch_size == 1 or not self.device.startswith('cuda'):
                    raise
                self.max_batch_size //= 2
                log.warning('memory of %s is short (%s): max_batch_size is %d now', self.device, error, self.max_batch_size)
            except tenfold.DeviceError as error:
                if not self.device.startswith('cuda'):
                    raise
                log.warning('%s failed (%s): the CPU computes', self.device, error)
                self.device = 'cpu'
                self.requested_precision = self.precision = self._chosen_precision()

    def _client_on(self, device: str) -> SentenceTransformer:
        if not self.uses_engine:
            return SentenceTransformer(self.model_name, device='cpu', plan_cache=False, model_kwargs={'optimization_level': 0})
        myself = weakref.ref(self)   # the encoder holds what makes its engine for as long as it lives
        kwargs = {'make_engine': lambda network, profiles, key: myself()._make_engine(network, profiles, key)}
        client = SentenceTransformer(self.model_name, device=device, plan_cache=False, model_kwargs=kwargs)
        if device.startswith('cuda'):
            tokens = self.max_batch_size * client.max_seq_length
            client = SentenceTransformer(self.model_name, device=device, plan_cache=False, model_kwargs=kwargs, batch_tokens=tokens)
        return client

    def _open_on(self, device: str) -> None:
        self._client = self._client_on(device)
        try:
            self._client.prepare()
        except _OwnEngine as own:
            self._padded = PaddedEngine(own.engine, self._client)
            if self._client.max_seq_length > self._padded.longest:   # longer texts are cut as everywhere, and keep their last token
                log.warning('%s takes texts of at most %d tokens, the model %d: longer ones are cut', self.engine_path,
                            self._padded.longest, self._client.max_seq_length)
                self._client.max_seq_length = self._padded.longest

    def _make_engine(self, network: Any, profiles: list[dict[str, Any]], key: str) -> tenfold.Engine:
        """Called by the encoder, once: its network, as it wants it built, and a text that tells model, device and version."""
        self._wanted = (tenfold.Network(data=network), profiles)
        if self.requested_precision == 'int8':
            self._calibrator.prepare()
        reported = (key, self.requested_precision, self._asked.max_workspace_size, self._rounds(),
                self._calibrator.identity if self.requested_precision == 'int8' else '')
        self._built, begun = False, time.perf_counter()
        try:
            engine = engine_at(self.engine_path, hashlib.sha256(repr(reported).encode()).hexdigest(), self.device, self._build_by_hook,
                               self._asked.engine_rebuild)
        finally:
            del self._wanted
        size = os.path.getsize(self.engine_path) if os.path.isfile(self.engine_path) else 0   # 0: it could not be kept
        what, seconds = 'built' if self._built else 'loaded', time.perf_counter() - begun
        log.info('%s %s: %.1f MB in %.2f s', what, self.engine_path, size / 1e6, seconds)
        if any(b.name == IDS for b in engine.bindings):
            raise _OwnEngine(engine)
        self.precision = taken_precision(engine, self.requested_precision)
        if self.precision != self.requested_precision:
            why = f'{self.device} has no {self.requested_precision} GEMMs, or they were not faster'
            if self.requested_precision == 'int8':
                why = 'int8 is not within its budget, a cosine of 0.99 on the calibration texts, or not faster'
            log.warning('the engine is %s, not %s: %s', self.precision, self.requested_precision, why)
        return engine

    def _rounds(self) -> bool:
        """Whether products of f32 may round: in fp32 where tf32 says so, else in what a narrower precision leaves."""
        return self.tf32 if self.requested_precision == 'fp32' else self.enable_tensor_cores

    def _build_by_hook(self, path: str) -> tenfold.Engine | None:
        self._built = True
        if type(self)._build_engine is TensorRTEmbeddings._build_engine:
            return self._checked_build()   # the cache writes it
        from tenfold.tensorrt import Logger
        return self._build_engine(path, Logger())

    def _build_engine(self, engine_path: str, trt_logger: Any) -> tenfold.Engine | None:
        """Builds the engine and writes it to `engine_path`. What overrides it may write any engine of input_ids and attention_mask, such as
        one of export_onnx()'s file; `trt_logger` is a tenfold.tensorrt.Logger then. It may return the engine, too."""
        engine = self._checked_build()
        engine.save(engine_path)
        return engine

    def _checked_build(self) -> tenfold.Engine:
        int8 = self.requested_precision == 'int8'
        from_cache = int8 and self._calibrator.cached
        try:
            engine = self._build()
        except (tenfold.OutOfMemory, tenfold.DeviceError, tenfold.Cancelled):
            raise
        except tenfold.Error as error:
            if from_cache:   # it may be another model's, or half of one
                self._calibrator.forget(str(error))
                return self._checked_build()
            wider = next_wider(self.requested_precision, self.device)
            hint = f"; try precision='{wider}'" if wider != self.requested_precision else ''
            what = f'building the {self.requested_precision} engine of {self.model_name} on {self.device}'
            raise type(error)(f'{what}: {error}{hint}') from error
        if int8:
            self._calibrator.finish()
        return engine

    def _build(self) -> tenfold.Engine:
        network, profiles = self._wanted
        calibration = self._calibrator.options(lambda text: self._ids(text, profiles)) if self.requested_precision == 'int8' else None
        progress = BuildProgress(os.path.basename(self.engine_path))
        try:
            return tenfold.build(network, device=self.device, profiles=profiles, optimization_level=1, progress=progress,
                                 workspace_bytes=self._asked.max_workspace_size << 20, tf32=self._rounds(),
                                 **build_options(self.requested_precision, self.device, calibration))
        finally:
            progress.end()

    def _ids(self, text: str, profiles: list[dict[str, Any]]) -> Any:
        import numpy as np
        most = profiles[0]['ids'][2][1]
        return self._client.tokenize([text])['input_ids'][:, :most].astype(np.int32)

    def export_onnx(self, path: Any) -> None:
        """Writes the model as an ONNX file: input_ids and attention_mask, i64[batch, sequence], to embeddings, f32[batch, width]."""
        from tenfold_hana.export_onnx import export_onnx
        export_onnx(self.model_name, path)

    # From here on: vectors.
    def _rows(self, encode: Any, texts: list[str]) -> Any:
        """encode(texts), in halves where memory is short."""
        import numpy as np
        most = self._most_texts or len(texts)
        if len(texts) > most:
            return np.concatenate([self._rows(encode, texts[i:i + most]) for i in range(0, len(texts), most)])
        try:
            return encode(texts)
        except tenfold.OutOfMemory as error:
            if len(texts) < 2:
                raise
            with self._lock:
                if not self._most_texts:
                    log.warning('memory is short (%s): the batch is halved until it fits', error)
                self._most_texts = min(self._most_texts or len(texts), max(1, len(texts) // 2))
        return self._rows(encode, texts)

    def embed_documents_array(self, texts: Sequence[str]) -> Any:
        """f32[texts, width] of NumPy; each row has length 1, or is zero."""
        import numpy as np
        if texts is None or isinstance(texts, (str, bytes, bytearray)):
            raise TypeError(f'embed_documents() takes a list of str, got {type(texts).__name__}')
        texts = list(texts)
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f'text {i} is a {type(text).__name__}, a str was expected')
        if not texts:
            return np.zeros((0, self._client.get_embedding_dimension()), np.float32)
        return _unit(self._rows(self._padded.encode if self._padded else self._client.encode_document, texts))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.embed_documents_array(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        if not isinstance(text, str):
            raise TypeError(f'embed_query() takes a str, got {type(text).__name__}')
        rows = self._padded.encode([text]) if self._padded else self._client.encode_query([text])
        return _unit(rows)[0].tolist()

    def preload(self) -> TensorRTEmbeddings:
        """Runs each profile of the engine once, so that no later call is the first of its kind. The engine itself is made by the class."""
        words, most = 1, self._client.max_seq_length
        while True:
            self.embed_documents(['warm ' * words] * self.max_batch_size)
            self.embed_query('warm ' * words)
            if words >= most:
                return self
            words = min(words * 2, most)


def _unit(rows: Any) -> Any:
    import numpy as np
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)
