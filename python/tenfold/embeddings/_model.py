"""What both classes are: an encoder of a folder, its prompts, its lengths, and the forms in which rows are handed out."""
from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from tenfold import _native
from tenfold._device import devices as all_devices
from tenfold.embeddings._folders import find_folder
from tenfold.embeddings._options import as_tensor, device_names, encoder_options, refuse
from tenfold.embeddings._options import idle as say_idle
from tenfold.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

_log = logging.getLogger('tenfold')
_Self = TypeVar('_Self', bound='Model')
_FETCHES = 'nothing is fetched: models are folders, and names in the cache'
_IDLE = {'trust_remote_code': (False, 'no code of a folder is run'), 'local_files_only': (True, _FETCHES), 'token': (None, _FETCHES),
         'use_auth_token': (None, _FETCHES), 'model_card_data': (None, 'no model card is written')}   # default, why


class Model:
    """An encoder of a folder. Its methods may be called from several threads at once."""

    _OWNER = ''                             # whose models are meant by names without an owner
    _PROMPTS: dict[str, str] = {}           # prompts that every model has

    def __init__(self, name: Any, *, refused: dict[str, Any], idle: dict[str, Any],
                 device: Any, prompts: dict[str, str] | None, default_prompt_name: str | None,
                 cache_folder: Any, revision: str | None, model_kwargs: dict[str, Any] | None, backend: str, plan_cache: Any,
                 max_tokens: int, batch_tokens: int) -> None:
        refuse(**refused)
        say_idle(**{argument: (value, default, why) for argument, value in idle.items() for default, why in [_IDLE[argument]]})
        if name is None:
            raise InvalidArgument(f'{type(self).__name__} needs a folder, or the name of a model in the cache')
        self.folder = os.path.abspath(find_folder(name, cache_folder, revision, self._OWNER))   # wherever a copy of it is opened
        self._made = dict(encoder_options(device, backend, model_kwargs or {}), cache=plan_cache, batch_tokens=batch_tokens,
                          max_tokens=max_tokens, dimensions=-1)   # -1: all; Python cuts what it hands out
        self._others: dict[tuple[str, ...], Any] = {}   # encoders on devices that single calls asked for
        self._lock = threading.Lock()
        self._encoder = _native.Encoder(self.folder, **self._made)
        info = self._encoder.info
        self.prompts = {**self._PROMPTS, **info.prompts, **(prompts or {})}
        self.default_prompt_name = default_prompt_name or info.default_prompt or None
        if self.default_prompt_name is not None:
            self._prompt(self.default_prompt_name, None)

    def __getstate__(self) -> dict[str, Any]:
        """The folder and the options: whoever unpickles or copies it opens the folder again, and finds the plan in the cache."""
        return {name: value for name, value in self.__dict__.items() if name not in ('_encoder', '_others', '_lock')}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._others, self._lock = {}, threading.Lock()
        self._encoder = _native.Encoder(self.folder, **self._made)

    @property
    def device(self) -> str:
        """'cpu', 'cuda:0' ...: of several the first."""
        return str(self._made['options']['device'])

    @property
    def devices(self) -> list[dict[str, Any]]:
        """Of each device: what it has done, its precision, the cosine that int8 was judged by, and why it is lost, if it is."""
        return self._encoder.devices

    def start_multi_process_pool(self, target_devices: Sequence[str] | None = None) -> dict[str, Any]:
        """Devices for calls with pool=...: threads of this process, not processes. Default: all GPUs, or four shares of the CPU."""
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
        """Of a call: the pool's, that of the devices it names, or the model's own."""
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

    @property
    def max_seq_length(self) -> int:
        """The most tokens of a text, special ones included. Another number opens the folder again, and the next call makes an engine."""
        return self._encoder.info.max_tokens

    @max_seq_length.setter
    def max_seq_length(self, value: int) -> None:
        if value < 1:
            raise InvalidArgument(f'max_seq_length is {value}, 1 or more was expected')
        self._made['max_tokens'] = value
        with self._lock:
            self._others.clear()
        self._encoder = _native.Encoder(self.folder, **self._made)

    def get_max_seq_length(self) -> int:
        return self.max_seq_length

    @property
    def counts(self) -> dict[str, int]:
        """Texts, tokens, truncated texts and runs so far."""
        return self._encoder.counts

    def prepare(self: _Self) -> _Self:
        """Makes the engine now, or takes it from the cache; else the first call does."""
        self._encoder.prepare()
        return self

    def eval(self: _Self) -> _Self:
        return self

    def preprocess(self, inputs: Sequence[str], prompt: str | None = None) -> dict[str, Any]:
        """What the model is given for texts: ids, types and mask, i64[texts, tokens], padded to the longest."""
        import numpy as np
        rows = self._encoder.token_ids(texts_of(inputs), prompt or '')
        shape = len(rows), max((len(row) for row in rows), default=0)
        ids, mask = np.full(shape, self._encoder.info.padding_id, np.int64), np.zeros(shape, np.int64)
        for i, row in enumerate(rows):
            ids[i, :len(row)], mask[i, :len(row)] = row, 1
        return {'input_ids': ids, 'token_type_ids': np.zeros(shape, np.int64), 'attention_mask': mask}

    def tokenize(self, texts: Sequence[str]) -> dict[str, Any]:
        """preprocess() under its older name."""
        return self.preprocess(texts)

    def _prompt(self, name: str | None, prompt: str | None) -> str:
        """The prompt that is meant: itself, or that of the name, or the default one."""
        if prompt is not None:
            if name is not None:
                _log.warning('prompt and prompt_name are both given: prompt is taken')
            return prompt
        name = self.default_prompt_name if name is None else name
        if name is None:
            return ''
        if name not in self.prompts:
            known = ', '.join(map(repr, self.prompts)) or 'none'
            raise InvalidArgument(f'there is no prompt {name!r}; the prompts of this model are: {known}')
        return self.prompts[name] or ''


def check_call(batch_size: int, chunk_size: Any) -> None:
    """Arguments of one call that have no effect."""
    if batch_size <= 0:
        raise InvalidArgument(f'batch_size is {batch_size}, 1 or more was expected')
    say_idle(batch_size=(batch_size, 32, 'texts of one length are computed together, at most batch_tokens (of the class) tokens'),
             chunk_size=(chunk_size, None, 'devices take pieces of at most batch_tokens (of the class) tokens'))


def texts_of(inputs: Any) -> list[str]:
    """Texts as a list; what a list of characters or keys would be made of is refused."""
    if isinstance(inputs, (str, bytes, bytearray, dict)) or not hasattr(inputs, '__iter__'):
        raise TypeError(f'texts are a sequence of str, got {type(inputs).__name__}')
    return inputs.tolist() if hasattr(inputs, 'tolist') else list(inputs)


def hand_out(rows: Any, one: bool, convert_to_numpy: bool, convert_to_tensor: bool) -> Any:
    """An array, a tensor of torch, or a list of rows; of one text its row."""
    rows = as_tensor(rows) if convert_to_tensor else rows
    if one:
        return rows[0]
    return rows if convert_to_numpy or convert_to_tensor else list(rows)
