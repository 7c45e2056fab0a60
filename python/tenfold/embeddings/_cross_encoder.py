"""CrossEncoder: scores of pairs of texts, with the names of sentence-transformers 6."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenfold import _native
from tenfold.embeddings._folders import find_folder
from tenfold.embeddings._options import as_tensor, encoder_options, progress_bar, refuse
from tenfold.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

_FUNCTIONS = {'Identity': 'none', 'Sigmoid': 'sigmoid', 'none': 'none', 'sigmoid': 'sigmoid', 'softmax': 'softmax', 'Softmax': 'softmax'}


def _function(activation: Any) -> str:
    """The function's name: as a str, or torch.nn's module."""
    if activation is None:
        return 'by_folder'
    name = activation if isinstance(activation, str) else type(activation).__name__
    if name not in _FUNCTIONS:
        raise InvalidArgument(f'activation_fn is {name!r}, expected Identity, Sigmoid or Softmax')
    return _FUNCTIONS[name]


class CrossEncoder:
    """A model with a classification head. Arguments are those of SentenceTransformer; `activation_fn`: 'sigmoid', 'softmax', 'none', or
    torch's module of that name; else what the folder says, which is a sigmoid for one label."""

    def __init__(self, model_name_or_path: Any = None, *, device: Any = None, cache_folder: Any = None, trust_remote_code: bool = False,
                 revision: str | None = None, local_files_only: bool = True, token: Any = None,
                 model_kwargs: dict[str, Any] | None = None, processor_kwargs: dict[str, Any] | None = None,
                 config_kwargs: dict[str, Any] | None = None, backend: str = 'torch', max_length: int | None = None,
                 activation_fn: Any = None, plan_cache: Any = None, batch_tokens: int = 0) -> None:
        refuse(processor_kwargs=processor_kwargs, config_kwargs=config_kwargs)
        if model_name_or_path is None:
            raise InvalidArgument('CrossEncoder needs a folder, or the name of a model in the cache')
        self.folder = find_folder(model_name_or_path, cache_folder, revision)
        self._encoder = _native.Encoder(self.folder, **encoder_options(device, backend, model_kwargs or {}), cache=plan_cache,
                                        max_tokens=max_length or 0, batch_tokens=batch_tokens)
        if not self._encoder.info.labels:
            raise InvalidArgument(f"'{self.folder}' has no classification head: it is a model for SentenceTransformer")
        self._default = _function(activation_fn)

    @property
    def num_labels(self) -> int:
        return self._encoder.info.labels

    @property
    def labels(self) -> list[str]:
        return self._encoder.info.label_names

    @property
    def max_length(self) -> int:
        return self._encoder.info.max_tokens

    @property
    def devices(self) -> list[dict[str, Any]]:
        """Of each device: what it has done, its precision, and why it is lost, if it is."""
        return self._encoder.devices

    @property
    def counts(self) -> dict[str, int]:
        return self._encoder.counts

    def predict(self, inputs: Sequence[Any], batch_size: int = 32, show_progress_bar: bool | None = None, activation_fn: Any = None,
                apply_softmax: bool | None = False, convert_to_numpy: bool = True, convert_to_tensor: bool = False) -> Any:
        """f32[pairs] where there is one label, else f32[pairs, labels]; of one pair one row."""
        function = 'softmax' if apply_softmax else self._default if activation_fn is None else _function(activation_fn)
        pairs = list(inputs)
        one = len(pairs) == 2 and all(isinstance(text, str) for text in pairs)
        pairs = [pairs] if one else pairs
        for i, pair in enumerate(pairs):
            if isinstance(pair, str) or not hasattr(pair, '__len__') or len(pair) != 2:
                raise TypeError(f'pair {i} is {pair!r}, two texts were expected')
        scores = self._encoder.score([a for a, _ in pairs], [b for _, b in pairs], function, progress_bar(show_progress_bar, 'pairs'))
        scores = scores[:, 0] if self.num_labels == 1 else scores
        if convert_to_tensor:
            scores = as_tensor(scores)
        if one:
            return scores[0]
        return scores if convert_to_numpy or convert_to_tensor else list(scores)

    def rank(self, query: str, documents: Sequence[str], top_k: int | None = None, return_documents: bool = False, batch_size: int = 32,
             show_progress_bar: bool | None = None, activation_fn: Any = None) -> list[dict[str, Any]]:
        """Documents by their scores for the query, the best first: {'corpus_id', 'score'}, and 'text' if asked."""
        if self.num_labels != 1:
            raise InvalidArgument(f'rank() is for models of one label, and this one has {self.num_labels}; predict() gives their scores')
        documents = list(documents)
        scores = self.predict([(query, text) for text in documents], batch_size, show_progress_bar, activation_fn) if documents else []
        order = sorted(range(len(documents)), key=lambda i: -scores[i])[:top_k]
        return [{'corpus_id': i, 'score': float(scores[i]), **({'text': documents[i]} if return_documents else {})} for i in order]
