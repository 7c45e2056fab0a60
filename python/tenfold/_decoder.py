"""Decoders: language models that continue a text token by token, from a folder as transformers saves it."""
from __future__ import annotations

import codecs
import json
import os
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from tenfold import _native
from tenfold._engine import Engine
from tenfold._tokenizer import Tokenizer
from tenfold.errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logits = NDArray[np.float32]
    Conversation = Sequence[Mapping[str, Any]]           # messages: {'role': ..., 'content': ...}
    OnToken = Callable[[int, int, str], Any]            # sequence, token, text
    OnLogits = Callable[[int, list[int], Logits], Any]  # sequence, ids, logits, which it may change in place


class Generated(NamedTuple):
    """What continues a prompt."""

    text: str
    ids: list[int]
    finish: str           # max_tokens, end_token, stop_text, callback, max_length or cancelled
    prompt_tokens: int
    reused_tokens: int    # of the prompt: those whose keys and values an earlier call had left


class Evaluation(NamedTuple):
    """Means over all tokens that have another one in front of them in their text. Without a reference the last three are 0."""

    texts: int                    # that were used
    short_texts: int              # of less than two tokens, which were not
    cut_texts: int                # of those used: longer than max_tokens, so that their ends were left out
    tokens: int                   # that were predicted
    perplexity: float
    reference_perplexity: float
    kl_divergence: float          # from the reference's probabilities, in nats
    same_token: float             # the share of tokens at which both have the same most probable token


def _texts(texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str):
        raise TypeError('texts is one string: a list of texts is expected')
    return [str(text) for text in texts]


class Decoder:
    """A decoder of a folder (config.json, a tokenizer and safetensors), or of an ONNX file with past_key_values beside a tokenizer.

    Its methods may be called from several threads at once.

    max_length: tokens of a sequence, prompt included (0: as many as the model has places for, at most 4,096);
    max_batch: sequences that are computed at once; speculate: tokens that a step may guess from the text's own n-grams and check,
    as transformers' prompt_lookup_num_tokens (the text is the same); weights: 'int4:g32', 'int8', 'nvfp4' and so on, to which
    weights of linear layers of a folder are rounded, with a scale for each group of 32 inputs, or for all; kv_cache_dtype: 'int8'
    for a cache of a byte an element, '' for what attention computes with; plan_cache: a folder, None for the usual one, or False
    for none.
    Other keywords are those of tenfold.build(). The engine is made, or taken from the cache, by the first call that needs it.
    """

    def __init__(self, folder: str | os.PathLike[str], *, device: str = 'cpu', max_length: int = 0, max_batch: int = 1,
                 prompt_chunk: int = 512, speculate: int = 0, weights: str = '', kv_cache_dtype: str = '',
                 plan_cache: str | os.PathLike[str] | bool | None = None, **build: Any) -> None:
        self._folder = os.fspath(folder)
        self._native = _native.Decoder(self._folder, {'device': device, 'optimization_level': 1, **build}, cache=plan_cache,
                                       max_length=max_length, max_batch=max_batch, prompt_chunk=prompt_chunk, speculate=speculate,
                                       weights=weights, kv_cache_dtype=kv_cache_dtype)
        self.tokenizer = Tokenizer(self._native.info.tokenizer_folder)

    @property
    def info(self) -> _native.DecoderInfo:
        """What the folder says: architecture, layers, vocabulary, max_length, max_batch, cache_bytes, end_tokens, weights,
        kv_cache_dtype."""
        return self._native.info

    @property
    def counts(self) -> dict[str, Any]:
        """Tokens, runs and seconds of all calls so far."""
        return self._native.counts

    @property
    def engine(self) -> Engine:
        """The engine. Profile 0 is a step, profile 1 a piece of a prompt."""
        return Engine(self._native.engine)

    def prepare(self) -> None:
        """Makes the engine, or takes it from the cache."""
        self._native.prepare()

    def evaluate(self, texts: Sequence[str], reference: Decoder | None = None, *, max_tokens: int = 0) -> Evaluation:
        """How well it predicts texts: perplexity, and the KL divergence from a reference of the same tokens.

        max_tokens: of a text; what is behind them, or behind what both decoders have places for, is left out. It is quick with
        `speculate`: so many tokens and one are computed in a run.
        """
        return Evaluation(**self._native.evaluate(_texts(texts), reference and reference._native, max_tokens))

    def start(self, sequences: int = 1) -> _native.DecoderSession:
        """Empty sequences, to be continued token by token: session.append([[1, 2, 3]]) gives logits."""
        return self._native.start(sequences)

    @overload
    def generate(self, prompt: str | Sequence[int], **keywords: Any) -> Generated: ...
    @overload
    def generate(self, prompt: Sequence[str] | Sequence[Sequence[int]], **keywords: Any) -> list[Generated]: ...
    def generate(self, prompt: Any, *, max_tokens: int = 128, temperature: float = 0.0, top_k: int = 0, top_p: float = 1.0,
                 min_p: float = 0.0, repetition_penalty: float = 1.0, seed: int = 0, stop: str | Sequence[str] = (),
                 ignore_end: bool = False, speculate: int | None = None, on_token: OnToken | None = None, on_logits: OnLogits | None = None,
                 timeout: float | None = None, token: _native.CancelToken | None = None) -> Any:
        """Continues a text, a list of ids, or a list of such.

        temperature 0 takes the largest logit; equal seeds draw equal tokens. `stop`: texts that end a sequence and are cut
        off. `speculate`: tokens that a step may guess, at most the decoder's own; None: as many.
        on_token(sequence, token, text) is told each new token; what it held back at the end comes with the token -1;
        False ends the sequence. on_logits(sequence, ids, logits) may change the logits. After `timeout` seconds, or once
        `token` is cancelled, the call returns what there is.
        """
        single, prompts = self._prompts(prompt)
        sampling = {'temperature': temperature, 'top_k': top_k, 'top_p': top_p, 'min_p': min_p,
                    'repetition_penalty': repetition_penalty, 'seed': seed}
        stops = [stop] if isinstance(stop, str) else list(stop)
        told = None if on_token is None else _told(on_token)
        guesses = -1 if speculate is None else speculate
        rows = self._native.generate(prompts, max_tokens, sampling, stops, ignore_end, guesses, told, on_logits, timeout, token)
        results = [Generated(text.decode('utf-8', 'replace'), ids, finish, count, reused) for ids, text, finish, count, reused in rows]
        return results[0] if single else results

    def stream(self, prompt: str | Sequence[int], **keywords: Any) -> Iterator[str]:
        """The new text of one prompt, piece by piece; keywords are those of generate(). Closing the iterator ends the generation."""
        pieces: queue.SimpleQueue[Any] = queue.SimpleQueue()
        closed = threading.Event()

        def told(sequence: int, token: int, text: str) -> bool:
            if text:
                pieces.put(text)
            return not closed.is_set()

        def work() -> None:
            try:
                self.generate(prompt, on_token=told, **keywords)
                pieces.put(None)
            except BaseException as error:   # raised where the pieces are taken
                pieces.put(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            while (piece := pieces.get()) is not None:
                if isinstance(piece, BaseException):
                    raise piece
                yield piece
        finally:
            closed.set()
            thread.join()

    def chat(self, conversation: Conversation, *, tools: Sequence[Any] | None = None, documents: Sequence[Any] | None = None,
             chat_template: str | None = None, template_variables: Mapping[str, Any] | None = None, **keywords: Any) -> Generated:
        """The model's next message in a conversation, a list of {'role': ..., 'content': ...}; other keywords are those of generate().

        decoder.stream(decoder.apply_chat_template(conversation, add_generation_prompt=True)) gives it piece by piece.
        """
        ids = self.apply_chat_template(conversation, tools=tools, documents=documents, chat_template=chat_template,
                                       add_generation_prompt=True, **(template_variables or {}))
        return self.generate(ids, **keywords)

    @property
    def has_chat_template(self) -> bool:
        """Whether the folder has a chat template."""
        return self._native.has_chat_template

    @overload
    def apply_chat_template(self, conversation: Conversation, *, tokenize: Literal[True] = True, **keywords: Any) -> list[int]: ...
    @overload
    def apply_chat_template(self, conversation: Conversation, *, tokenize: Literal[False], **keywords: Any) -> str: ...
    def apply_chat_template(self, conversation: Conversation, *, tools: Sequence[Any] | None = None, documents: Sequence[Any] | None = None,
                            chat_template: str | None = None, add_generation_prompt: bool = False, tokenize: bool = True,
                            **variables: Any) -> Any:
        """A conversation as the ids, or without `tokenize` the text, that the folder's chat template makes of it.

        As transformers' function of this name: `tools` are JSON schemas, `chat_template` is one of the folder's by its name or
        the text of another, and `variables` are further ones that the template reads, such as enable_thinking=False.
        """
        options = {'add_generation_prompt': bool(add_generation_prompt), 'chat_template': chat_template or '',
                   'tools': '' if tools is None else _json(tools, 'tools'),
                   'documents': '' if documents is None else _json(documents, 'documents'),
                   'variables': _json(variables, 'variables of the template') if variables else ''}
        text = self._native.apply_chat_template(_json(conversation, 'the conversation'), options)
        return self.tokenizer.encode(text, special_tokens=False).ids.tolist() if tokenize else text

    def _prompts(self, prompt: Any) -> tuple[bool, list[list[int]]]:
        if isinstance(prompt, str):
            return True, [self._ids(prompt)]
        items = list(prompt)
        if not items:
            raise InvalidArgument('there is no prompt: a text, a list of ids, or a list of such was expected')
        if isinstance(items[0], str) or hasattr(items[0], '__iter__'):
            return False, [self._ids(one) for one in items]
        return True, [self._ids(items)]

    def _ids(self, prompt: Any) -> list[int]:
        return self.tokenizer.encode(prompt).ids.tolist() if isinstance(prompt, str) else [int(one) for one in prompt]


def _json(value: Any, what: str) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f'{what}: {error}; a chat template is given what JSON has') from None


def _told(on_token: OnToken) -> Callable[[int, int, bytes], bool]:
    """Pieces as str: a piece ends at a character, except where a text ends within one. None means to go on."""
    decoders: dict[int, Any] = {}

    def told(sequence: int, token: int, text: bytes) -> bool:
        decoder = decoders.setdefault(sequence, codecs.getincrementaldecoder('utf-8')('replace'))
        return on_token(sequence, token, decoder.decode(text, token < 0)) is not False

    return told


class QuantizedLayers(dict[str, float]):
    """The relative error of each layer's weights, by name.

    With texts: `output_errors` and `nearest_output_errors` are those of layers' results on the texts held out, by the method and by
    plain rounding, and `evaluation` is the folder that was written beside the one that was read, in f32.
    """

    output_errors: dict[str, float]
    nearest_output_errors: dict[str, float]
    evaluation: Evaluation | None


def quantize_decoder(folder: str | os.PathLike[str], output: str | os.PathLike[str], weights: str = 'int4:g32', *, method: str = 'rtn',
                     texts: Sequence[str] = (), samples: int = 256, max_tokens: int = 512, threads: int = 0) -> QuantizedLayers:
    """Writes a decoder's folder with weights of 4 or 8 bits, as compressed-tensors lays them out (GPT-2: as GPTQ does).

    transformers, vLLM and Decoder read it. `output` does not exist yet; `weights` is as Decoder has it. method: 'rtn' rounds to the
    nearest; 'gptq' and 'awq' by what layers meet in `texts`, at most `samples` of them and `max_tokens` of each. Every second text is
    held out: errors, perplexity and KL divergence are told on these.
    """
    layers, evaluation = _native.quantize_decoder(os.fspath(folder), os.fspath(output), weights, method, _texts(texts), samples,
                                                  max_tokens, threads)
    result = QuantizedLayers({name: error for name, error, *_ in layers})
    told = evaluation is not None
    result.output_errors = {name: error for name, _, error, _ in layers if told}
    result.nearest_output_errors = {name: error for name, _, _, error in layers if told}
    result.evaluation = Evaluation(**evaluation) if told else None
    return result
