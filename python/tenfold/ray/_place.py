"""Where a model runs: the devices and the threads that Ray gave to the actor, and what happens where they are not there."""
from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import ray
from tenfold._device import devices as all_devices
from tenfold.errors import DeviceError, FileError, InvalidArgument

_T = TypeVar('_T')
_log = logging.getLogger('tenfold')


class Place(NamedTuple):
    devices: list[str]   # 'cuda:0' ..., or 'cpu'; empty: the usual one
    threads: int         # 0: as the process may use processors


def in_actor() -> bool:
    """Whether this is an actor, or a task, of Ray."""
    if not ray.is_initialized():
        return False
    context = ray.get_runtime_context()
    return context.get_actor_id() is not None or context.get_task_id() is not None


def place_of(device: Any, threads: int | None) -> Place:
    """What the caller says, else what Ray reserved: an actor without a GPU computes on the CPU, though the machine has GPUs."""
    if threads is not None and threads < 1:
        raise InvalidArgument(f'threads is {threads}, 1 or more was expected; None: the num_cpus of the actor')
    named = [] if device is None else [str(one) for one in (device if isinstance(device, (list, tuple)) else [device])]
    if not in_actor():
        return Place(named, threads or 0)
    context = ray.get_runtime_context()
    if not named:
        named = _gpus([str(one) for one in context.get_accelerator_ids().get('GPU', [])]) or ['cpu']
    reserved = int(context.get_assigned_resources().get('CPU', 0))   # of num_cpus=0.5 and less one thread
    return Place(named, threads or max(1, reserved))


def _gpus(ids: list[str]) -> list[str]:
    """Ray tells the machine's numbers, and hides other GPUs from the process, which then counts its own from 0."""
    shown = os.environ.get('CUDA_VISIBLE_DEVICES')
    if shown is None:
        return [f'cuda:{one}' for one in ids]
    places = [one.strip() for one in shown.split(',')]
    return [f'cuda:{places.index(one) if one in places else at}' for at, one in enumerate(ids)]


def open_on(devices: list[str], fallback: bool, open_there: Callable[[list[str]], _T]) -> _T:
    """What `open_there` makes on these devices, or where they are not there or fail, on the CPU."""
    try:
        known = {one.device for one in all_devices()} if any(one.startswith('cuda') for one in devices) else set()
        if missing := [one for one in devices if one.startswith('cuda') and one not in known]:
            raise DeviceError(f"Ray reserved {', '.join(missing)} for this actor, and {here()} has {_names(known)}; num_gpus of "
                              'map_batches and ray.init says what is reserved')
        return open_there(devices)
    except DeviceError as error:
        if not fallback or devices == ['cpu']:
            raise
        _log.warning('the CPU computes in place of %s (fallback=False refuses that): %s', ', '.join(devices), error)
        return open_there(['cpu'])


def _names(devices: set[str]) -> str:
    return ', '.join(sorted(one for one in devices if one.startswith('cuda'))) or 'no GPU that Tenfold can use'


def here() -> str:
    """The machine, as Ray and people name it."""
    return f'node {ray.util.get_node_ip_address()}' if ray.is_initialized() else 'this machine'


def need_file(path: str, what: str, folder: bool = False) -> None:
    """An actor opens what lies on its own machine."""
    if not (os.path.isdir(path) if folder else os.path.isfile(path)):
        raise FileError(f"there is no {what} '{path}' on {here()}: an actor opens its model where it runs, so the same path has to be "
                        'there on each node (a shared volume, or a copy)')
