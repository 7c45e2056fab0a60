"""Texts that give int8 its ranges, and the file that keeps the ranges."""
from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from tenfold_hana._devices import log

if TYPE_CHECKING:
    from collections.abc import Sequence

# What calibrates, and what benchmarks read, where the user gives nothing.
SENTENCES = (
    'The quarterly report shows that revenue grew by eight percent.',
    'How do I reset the password of my account?',
    'Water boils at a lower temperature on a high mountain.',
    'The train to Heidelberg leaves from platform 4 at half past nine.',
    'Columnar databases keep the values of one column together in memory.',
    'She put the old violin back into its case and closed the window.',
    'The contract ends on 31 December 2026 unless one party objects.',
    'Vectors of similar sentences lie close to each other.',
    'Error 404: the page that you asked for does not exist.',
    'A warm summer evening, two chairs, and nothing left to do.',
)
_LEAST = 2   # one gives ranges, one shows the error


def checked_texts(given: Sequence[str] | None) -> tuple[str, ...]:
    if isinstance(given, (str, bytes)) or not all(isinstance(text, str) for text in given or ()):
        raise TypeError('calibration_data is a sequence of str')
    return tuple(given or ())


def hash_of(texts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()


class Calibrator:
    """The texts of one model and its cache: `path`, with the hash of its texts in `path`.texts. Processes may share the folder."""

    def __init__(self, path: str, texts: tuple[str, ...], keep: bool) -> None:
        self.path, self.given, self.keep = path, texts, keep

    @property
    def cached(self) -> bool:
        return os.path.isfile(self.path)

    @property
    def texts(self) -> tuple[str, ...]:
        return self.given if len(self.given) >= _LEAST else self.given + SENTENCES

    @property
    def identity(self) -> str:
        """Of the ranges that a build would get now: part of the key of an engine."""
        if self.given or not self.cached:
            return hash_of(self.texts)
        if self._cached_texts():
            return self._cached_texts()
        with open(self.path, 'rb') as file:
            return hashlib.sha256(file.read()).hexdigest()

    def _cached_texts(self) -> str:
        try:
            with open(self.path + '.texts', encoding='utf-8') as file:
                return file.read().strip()
        except OSError:
            return ''

    def forget(self, why: str) -> None:
        log.warning('the calibration cache %s is written anew: %s', self.path, why)
        for path in (self.path, self.path + '.from', self.path + '.texts'):
            if os.path.exists(path):
                os.remove(path)

    def prepare(self) -> None:
        """Says where texts are missing, and removes the cache where it is of other texts."""
        if len(self.given) < _LEAST and not self.cached:
            log.warning('int8 is calibrated on %d built-in sentences, which know nothing of your texts: pass calibration_data',
                        len(SENTENCES))
        if self.cached and self.given and self._cached_texts() not in ('', hash_of(self.given)):
            self.forget('calibration_data has changed')
        if self.keep:
            try:
                os.makedirs(os.path.dirname(self.path), exist_ok=True)
            except OSError as error:
                log.warning('the calibration is not kept: %s', error)
                self.keep = False

    def finish(self) -> None:
        if self.keep and self.cached and not os.path.exists(self.path + '.texts'):
            with open(self.path + '.texts', 'w', encoding='utf-8') as file:
                file.write(hash_of(self.given or self.texts))

    def options(self, ids: Any) -> dict[str, Any]:
        """The field `calibration` of tenfold.build; ids(text) gives a text's i32[1, tokens]."""
        return {'sample': [{'ids': ids(text)} for text in self.texts], **({'cache': self.path} if self.keep or self.cached else {})}
