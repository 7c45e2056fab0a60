"""Embeddings over several devices: texts in pieces of about equal work, to whichever device is free."""
from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from langchain_core.embeddings import Embeddings

from tenfold_hana._manager import EnhancedMultiGPUManager
from tenfold_hana._pipeline import Pipeline
from tenfold_hana._tensorrt_embeddings import TensorRTEmbeddings
from tenfold_hana._workers import current_worker

if TYPE_CHECKING:
    from collections.abc import Sequence

_PIECE = 65536   # characters, about 16,384 tokens: what a GPU computes in one run
_LEAST = 1024    # of a piece that is worth a device of its own


def pieces_of(texts: Sequence[str], maximum: int = _PIECE) -> list[list[int]]:
    """The places of texts by their length, so that those of a piece are about as long, and have at most so many characters together."""
    pieces: list[list[int]] = []
    room = 0
    for place in sorted(range(len(texts)), key=lambda i: -len(texts[i])):
        cost = len(texts[place]) + 8   # a text costs something however short it is
        if cost > room:
            pieces.append([])
            room = maximum
        pieces[-1].append(place)
        room -= cost
    return pieces


class MultiGPUEmbeddings(Embeddings):
    """Any Embeddings over the devices of a manager; order is kept. Thread safe.

    `base_embeddings`: TensorRTEmbeddings get an engine on each device; others are called from several threads. `gpu_manager`: None makes
    one of all GPUs. With its strategy 'pipeline' and stages, base_embeddings are TensorRTEmbeddings.
    """

    def __init__(self, base_embeddings: Embeddings, gpu_manager: EnhancedMultiGPUManager | None = None) -> None:
        if not callable(getattr(base_embeddings, 'embed_documents', None)):
            raise TypeError(f'base_embeddings is a {type(base_embeddings).__name__}, expected Embeddings, such as TensorRTEmbeddings')
        self.base_embeddings = base_embeddings
        self.gpu_manager = gpu_manager or EnhancedMultiGPUManager()
        if gpu_manager is None:
            weakref.finalize(self, self.gpu_manager.close)   # its threads know of nobody else
        self._pipeline = Pipeline(base_embeddings, self.gpu_manager.stages) if self.gpu_manager.strategy == 'pipeline' else None
        on_device = {base_embeddings.device: base_embeddings} if isinstance(base_embeddings, TensorRTEmbeddings) else {}
        self._on: list[Any] = []
        for worker in self.gpu_manager.workers if not self._pipeline else ():
            if on_device and worker.device not in on_device:
                on_device[worker.device] = base_embeddings.on_device(worker.device)
            self._on.append(on_device.get(worker.device, base_embeddings))

    def _embed(self, texts: list[str]) -> list[list[float]]:
        number = current_worker()
        return (self.base_embeddings if number is None else self._on[number]).embed_documents(texts)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        texts = list(texts)
        if self._pipeline:
            return self._pipeline.embed(texts).tolist()
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f'text {i} is a {type(text).__name__}, a str was expected')
        pieces = pieces_of(texts, min(_PIECE, max(_LEAST, sum(map(len, texts)) // (4 * len(self.gpu_manager.workers)))))
        ids = [self.gpu_manager.submit_task(self._embed, ([texts[i] for i in piece],)) for piece in pieces]
        rows: list[Any] = [None] * len(texts)
        for piece, vectors in zip(pieces, self.gpu_manager.results_of(ids)):
            for place, row in zip(piece, vectors):
                rows[place] = row
        return rows

    def embed_query(self, text: str) -> list[float]:
        return self.base_embeddings.embed_query(text)


class HanaTensorRTMultiGPUEmbeddings(MultiGPUEmbeddings):
    """TensorRTEmbeddings on all GPUs, or on those of `device_ids`.

    `use_fp16`: precision fp16, else fp32, where `precision` does not say another. `enable_tensor_cores`: as TensorRTEmbeddings has it.
    Other keywords are TensorRTEmbeddings'."""

    def __init__(self, model_name: str = 'sentence-transformers/all-MiniLM-L6-v2', use_fp16: bool = True, enable_tensor_cores: bool = True,
                 device_ids: Sequence[Any] | None = None, strategy: str = 'auto', precision: str | None = None, **options: Any) -> None:
        manager = EnhancedMultiGPUManager(strategy=strategy, device_ids=device_ids)
        base = TensorRTEmbeddings(model_name, precision=precision or ('fp16' if use_fp16 else 'fp32'), device=manager.workers[0].device,
                                  enable_tensor_cores=enable_tensor_cores, **options)
        super().__init__(base, manager)
        weakref.finalize(self, manager.close)

    @property
    def precision(self) -> str:
        return self.base_embeddings.precision

    def benchmark(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        """TensorRTEmbeddings.benchmark() of the first device."""
        return self.base_embeddings.benchmark(*arguments, **options)
