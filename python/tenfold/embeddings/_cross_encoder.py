"""CrossEncoder: scores of pairs of texts, with the names of sentence-transformers 6."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenfold._progress_bar import progress_bar
from tenfold.embeddings._model import Model, check_call, hand_out
from tenfold.embeddings._options import renamed
from tenfold.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

_FUNCTIONS = {'identity': 'none', 'none': 'none', 'sigmoid': 'sigmoid', 'softmax': 'softmax'}


def _function(activation: Any) -> str:
    """The function's name: of a str, a module of torch.nn, or a function of torch."""
    if activation is None:
        return 'by_folder'
    name = activation if isinstance(activation, str) else getattr(activation, '__name__', type(activation).__name__)
    if name.lower() not in _FUNCTIONS:
        raise InvalidArgument(f'activation_fn is {name!r}, expected Identity, Sigmoid or Softmax')
    return _FUNCTIONS[name.lower()]


class CrossEncoder(Model):
    """A model with a classification head. Arguments are those of SentenceTransformer; `activation_fn`: 'sigmoid', 'softmax', 'none', or
    torch's module of that name; else what the folder says, which is a sigmoid for one label. `num_labels` has to be the folder's."""

    _OWNER = 'cross-encoder/'

    def __init__(self, model_name_or_path: Any = None, *, modules: Any = None, device: Any = None, prompts: dict[str, str] | None = None,
                 default_prompt_name: str | None = None, cache_folder: Any = None, trust_remote_code: bool = False,
                 revision: str | None = None, local_files_only: bool = True, token: Any = None,
                 model_kwargs: dict[str, Any] | None = None, processor_kwargs: dict[str, Any] | None = None,
                 config_kwargs: dict[str, Any] | None = None, model_card_data: Any = None, backend: str = 'torch',
                 num_labels: int | None = None, max_length: int | None = None, activation_fn: Any = None, keep_in_fp32_modules: Any = None,
                 plan_cache: Any = None, batch_tokens: int = 0) -> None:
        super().__init__(model_name_or_path, refused=dict(modules=modules, processor_kwargs=processor_kwargs, config_kwargs=config_kwargs,
                                                          keep_in_fp32_modules=keep_in_fp32_modules),
                         idle=dict(trust_remote_code=trust_remote_code, local_files_only=local_files_only, token=token,
                                   model_card_data=model_card_data),
                         device=device, prompts=prompts, default_prompt_name=default_prompt_name, cache_folder=cache_folder,
                         revision=revision, model_kwargs=model_kwargs, backend=backend, plan_cache=plan_cache, max_tokens=max_length or 0,
                         batch_tokens=batch_tokens)
        if not self.num_labels:
            raise InvalidArgument(f"'{self.folder}' has no classification head: it is a model for SentenceTransformer")
        if num_labels is not None and num_labels != self.num_labels:
            raise InvalidArgument(f"num_labels is {num_labels}, but the head of '{self.folder}' has {self.num_labels}")
        self._default = _function(activation_fn)

    @property
    def num_labels(self) -> int:
        return self._encoder.info.labels

    @property
    def labels(self) -> list[str]:
        return self._encoder.info.label_names

    @property
    def max_length(self) -> int:
        """max_seq_length under its older name."""
        return self.max_seq_length

    @renamed(sentences='inputs', activation_fct='activation_fn')
    def predict(self, inputs: Sequence[Any], prompt_name: str | None = None, prompt: str | None = None, batch_size: int = 32,
                show_progress_bar: bool | None = None, activation_fn: Any = None, apply_softmax: bool | None = False,
                convert_to_numpy: bool = True, convert_to_tensor: bool = False, device: Any = None, pool: Any = None,
                chunk_size: int | None = None) -> Any:
        """f32[pairs] where there is one label, else f32[pairs, labels]; of one pair one row. A prompt is put in front of first texts."""
        check_call(batch_size, chunk_size)
        function = self._default if activation_fn is None else _function(activation_fn)
        words, (pairs, one) = self._prompt(prompt_name, prompt), _pairs(inputs)
        scores: Any = self._encoder_for(device, pool).score([words + a if words else a for a, _ in pairs], [b for _, b in pairs], function,
                                          progress_bar(show_progress_bar, 'pairs'))
        if self.num_labels == 1:
            scores = scores[:, 0]
        elif apply_softmax:
            scores = _softmax(scores)
        return hand_out(scores, one, convert_to_numpy, convert_to_tensor)

    @renamed(activation_fct='activation_fn')
    def rank(self, query: str, documents: Sequence[str], top_k: int | None = None, return_documents: bool = False,
             prompt_name: str | None = None, prompt: str | None = None, batch_size: int = 32, show_progress_bar: bool | None = None,
             activation_fn: Any = None, device: Any = None, pool: Any = None, chunk_size: int | None = None) -> list[dict[str, Any]]:
        """Documents by their scores for the query, the best first: {'corpus_id', 'score'}, and 'text' if asked."""
        if self.num_labels != 1:
            raise InvalidArgument(f'rank() is for models of one label, and this one has {self.num_labels}; predict() gives their scores')
        if isinstance(documents, str):
            raise TypeError('documents are a sequence of str, got str')
        documents = list(documents)
        scores = self.predict([(query, text) for text in documents], prompt_name, prompt, batch_size, show_progress_bar, activation_fn,
                              device=device, pool=pool, chunk_size=chunk_size)
        order = sorted(range(len(documents)), key=lambda i: -scores[i])[:top_k]
        return [{'corpus_id': i, 'score': float(scores[i]), **({'text': documents[i]} if return_documents else {})} for i in order]


def _pairs(inputs: Any) -> tuple[list[Any], bool]:
    """Pairs of texts, and whether it is one that was given by itself."""
    if isinstance(inputs, (str, bytes, dict)) or not hasattr(inputs, '__iter__'):
        raise TypeError(f'pairs are a sequence of two texts each, got {type(inputs).__name__}')
    pairs = inputs.tolist() if hasattr(inputs, 'tolist') else list(inputs)
    one = len(pairs) == 2 and all(isinstance(text, str) for text in pairs)
    pairs = [pairs] if one else pairs
    for i, pair in enumerate(pairs):
        if isinstance(pair, (str, bytes, dict)) or not hasattr(pair, '__len__') or len(pair) != 2:
            raise TypeError(f'pair {i} is {pair!r:.80}, two texts were expected')
        if not all(isinstance(text, str) for text in pair):
            raise TypeError(f'pair {i} is {pair!r:.80}, two str were expected')
    return pairs, one


def _softmax(scores: Any) -> Any:
    import numpy as np
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
