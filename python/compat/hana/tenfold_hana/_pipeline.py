"""A pipeline: tokens, their vectors and pooling, each stage in a thread of its own, the latter two by an engine each on their devices."""
from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any

import tenfold
from tenfold.embeddings import SentenceTransformer

from tenfold_hana._precision import build_options, next_wider
from tenfold_hana._tensorrt_embeddings import TensorRTEmbeddings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_TOKENS = 4096     # of a run
_WAITING = 2       # runs between two stages, so that memory is bounded
_END = object()


class _Captured(Exception):
    """Ends the call that wanted an engine: its network is what is wanted here."""


def network_of(model_name: str) -> tenfold.Network:
    """An encoder's network, as it would be built: "ids", i32[texts, tokens], to "out", f32[texts, width]."""
    found: list[tenfold.Network] = []

    def capture(network: Any, profiles: Any, key: str) -> None:
        found.append(tenfold.Network(data=network))
        raise _Captured
    try:
        SentenceTransformer(model_name, device='cpu', plan_cache=False, model_kwargs={'make_engine': capture}).prepare()
    except _Captured:
        pass
    return found[0]


def _behind(network: tenfold.Network, cut: Any) -> set[Any] | None:
    """The nodes between a value and the output; None where the output needs the network's input in other ways, too."""
    found: set[Any] = set()
    open_ = [network.outputs[0]]
    while open_:
        value = open_.pop()
        if value is None or value == cut or value.value is not None:
            continue
        node = value.producer
        if node is None:
            return None
        if node not in found:
            found.add(node)
            open_ += node.inputs
    return found


def split(network: tenfold.Network) -> tuple[tenfold.Network, tenfold.Network]:
    """The network up to the vectors of tokens, "tokens", f32[texts, tokens, width]; and what makes vectors of texts of them."""
    nodes = network.nodes
    wide = (node.outputs[0] for node in reversed(nodes) if node.outputs[0] and len(node.outputs[0].dims) == 3)
    cut, behind = next(((value, behind) for value in wide if (behind := _behind(network, value)) is not None), (None, set()))
    if cut is None:
        raise tenfold.Unsupported('pooling of this model needs more than the vectors of tokens: it cannot be a stage of its own')
    pooling = tenfold.Network('pooling')
    made = {cut: pooling.input('tokens', 'f32', ('texts', 'tokens', cut.dims[2]))}

    def copied(value: Any) -> Any:
        if value is not None and value not in made:
            made[value] = pooling.constant(value.value, value.name)
        return value and made[value]
    for node in [node for node in nodes if node in behind]:
        results = pooling.add(node.op, *map(copied, node.inputs), outputs=len(node.outputs), domain=node.domain, **node.attributes)
        made.update(zip(node.outputs, results if isinstance(results, list) else [results]))
    pooling.output(made[network.outputs[0]], 'out')
    network.remove_output(network.outputs[0].name)
    network.output(cut, 'tokens')
    network._data.remove_unused()
    return network, pooling


def _stage(work: Callable[[Any], Any], source: Iterator[Any], failed: list[BaseException]) -> Iterator[Any]:
    """work(one) for each of the source, in a thread; what it raises ends the stages and is in `failed`."""
    out: queue.Queue[Any] = queue.Queue(_WAITING)

    def run() -> None:
        try:
            for one in source:
                if failed:
                    break
                out.put(work(one))
        except BaseException as error:
            failed.append(error)
        out.put(_END)
    threading.Thread(target=run, daemon=True).start()
    return iter(out.get, _END)


class Pipeline:
    """TensorRTEmbeddings' vectors by stages, as EnhancedMultiGPUManager.configure_pipeline() names them."""

    def __init__(self, base: Any, stages: list[dict[str, Any]]) -> None:
        if not stages:
            raise tenfold.InvalidArgument("strategy 'pipeline' needs configure_pipeline(stages=[...]) first")
        if not isinstance(base, TensorRTEmbeddings):
            raise tenfold.InvalidArgument("strategy 'pipeline' takes TensorRTEmbeddings apart, and base_embeddings is a "
                                          f'{type(base).__name__}')
        self._base, self.devices = base, {stage['name']: stage['device'] for stage in stages}
        encoder, pooling = split(network_of(base.model_name))
        maximum = base._client.max_seq_length
        texts = max(1, _TOKENS // maximum)
        width = int(pooling.inputs[0].dims[2])
        sizes = [(1, 1), (texts, maximum // 2 or 1), (texts, maximum)]
        self._encoder = self._engine(encoder, 'embedding', {'ids': sizes})
        self._pooling = self._engine(pooling, 'pooling', {'tokens': [(*size, width) for size in sizes]})

    def _engine(self, network: tenfold.Network, stage: str, profile: dict[str, Any]) -> tenfold.Engine:
        device = self.devices[stage]
        precision = self._base.precision
        if precision == 'int8':   # its ranges are those of the whole network
            precision = next_wider('int8', device)
        return tenfold.build(network, device=device, optimization_level=1, profiles=profile,
                             tf32=self._base.tf32 if precision == 'fp32' else self._base.enable_tensor_cores,
                             **build_options(precision, device, None))

    def _runs(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """Places of texts, the longest first, of which each run has about as many tokens."""
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        size = max(1, _TOKENS // self._base._client.max_seq_length)
        yield from (order[first:first + size] for first in range(0, len(order), size))

    def embed(self, texts: Sequence[str]) -> Any:
        """f32[texts, width], each row of length 1."""
        import numpy as np
        client = self._base._client
        failed: list[BaseException] = []
        rows = np.zeros((len(texts), client.get_embedding_dimension()), np.float32)

        def tokens(places: list[int]) -> list[tuple[list[int], Any]]:
            found: dict[int, list[tuple[int, Any]]] = {}   # by length, so that nothing is padded
            for place in places:
                ids = client.tokenize([texts[place]])['input_ids'].astype(np.int32)
                found.setdefault(ids.shape[1], []).append((place, ids))
            return [([place for place, _ in some], np.concatenate([ids for _, ids in some])) for some in found.values()]
        steps = _stage(tokens, self._runs(texts), failed)
        steps = _stage(lambda some: [(places, self._encoder(ids)) for places, ids in some], steps, failed)
        steps = _stage(lambda some: [(places, self._pooling(vectors)) for places, vectors in some], steps, failed)
        for some in steps:
            for places, vectors in some:
                rows[places] = vectors
        if failed:
            raise failed[0]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths == 0, 1, lengths)
