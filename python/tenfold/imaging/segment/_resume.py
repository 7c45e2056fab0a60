"""OUTPUT.partial.json: digests of engine, input and options, and the planes that are done. A killed run goes on from it.

Plans that were built lie beside it: another build could choose other kernels, whose results differ in their last bits.
"""
from __future__ import annotations

import glob
import hashlib
import json
import os
from typing import Any

from tenfold.errors import InvalidArgument
from tenfold.imaging.segment._options import Options

NO_MATTER = ('input', 'output', 'overwrite', 'resume', 'preview', 'progress', 'json', 'memory', 'onnx', 'loadEngine', 'timingCacheFile')


def digest_of_file(path: str) -> str:
    with open(path, 'rb') as file:
        return hashlib.file_digest(file, 'sha256').hexdigest()


def digest_of_input(path: str) -> str:
    """Of names, sizes and times of its files: reading what is larger than memory once more would take as long as the run."""
    found = hashlib.sha256()
    files = [path] if os.path.isfile(path) else sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    labels = os.path.join(path, 'labels', '')
    for name in files:
        if not name.startswith(labels):   # where results of an OME-Zarr go
            stat = os.stat(name)
            found.update(f'{os.path.relpath(name, path)} {stat.st_size} {stat.st_mtime_ns}\n'.encode())
    return found.hexdigest()


class State:
    def __init__(self, options: Options):
        self.path = options.output.rstrip('/') + '.partial.json'
        self.plans = [f'{options.output.rstrip("/")}.partial.{number}.plan'
                      for number in range(len(options.models) * len(set(options.devices)))]
        # Time points that are done; of the next one the planes of each band that are done.
        self.image = self.nans = 0
        self.planes: list[int] = []
        self.complete = False
        self.bands: list[tuple[int, int, int]] = []   # device, rows
        self._identity = {
            'engine': [digest_of_file(path) for path, _ in options.models],
            'input': digest_of_input(options.input),
            'options': {name: text for name, text in sorted(options.given.items()) if name not in NO_MATTER},
        }

    def load(self) -> bool:
        """Whether a killed run left something to go on with. Refuses, naming what changed, where that was another run."""
        try:
            with open(self.path) as file:
                found = json.load(file)
            plans = found['plans']
        except FileNotFoundError:
            return False
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidArgument(f'{self.path}: resume: damaged ({error}); run it without --resume') from error
        for changed in self._changes(found):
            raise InvalidArgument(f'{self.path}: resume: {changed}; run it as the killed run was, or without --resume')
        for path, digest in zip(self.plans, plans):
            if not os.path.exists(path) or digest_of_file(path) != digest:
                raise InvalidArgument(f'{path}: resume: the plan of the killed run is missing or changed; run it without --resume')
        try:
            self.image, self.planes, self.nans, self.complete = (found[name] for name in ('image', 'planes', 'nans', 'complete'))
            self.bands = [(device, begin, end) for device, begin, end in found['bands']]
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidArgument(f'{self.path}: resume: damaged or of another version ({error}); run it without --resume') from error
        return True

    def _changes(self, found: dict[str, Any]) -> list[str]:
        changes = []
        old, new = found.get('options', {}), self._identity['options']
        for name in sorted({*old, *new}):
            if old.get(name) != new.get(name):
                before, after = (f'--{name}' + (f'={of[name]}' if of[name] else '') if name in of else f'no --{name}' for of in (old, new))
                changes.append(f'the killed run had {before}, this one has {after}')
        for name, what in (('engine', 'the model or plan'), ('input', 'the input')):
            if found.get(name) != self._identity[name]:
                changes.append(f'{what} changed since')
        return changes

    def begin(self) -> None:
        """After plans were saved, before the first plane is written."""
        self._identity['plans'] = [digest_of_file(path) for path in self.plans]
        self.save(0, [0] * len(self.bands), 0)

    def keep_plans(self) -> None:
        self._identity['plans'] = [digest_of_file(path) for path in self.plans]

    def save(self, image: int, planes: list[int], nans: int, complete: bool = False) -> None:
        self.image, self.planes, self.nans, self.complete = image, planes, nans, complete
        with open(self.path + '.new', 'w') as file:
            json.dump({**self._identity, 'image': image, 'planes': planes, 'nans': nans, 'complete': complete, 'bands': self.bands}, file)
        os.replace(self.path + '.new', self.path)

    def partial_is_gone(self) -> bool:
        stem = self.path.removesuffix('.json')
        return not any(os.path.lexists(path) for path in (stem, stem + '.npy'))

    def remove(self) -> None:
        for path in (self.path, self.path + '.new', *glob.glob(glob.escape(self.path.removesuffix('json')) + '*.plan')):
            if os.path.exists(path):
                os.unlink(path)
