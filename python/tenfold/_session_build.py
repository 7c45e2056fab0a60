"""What a session's builds are given: what SessionOptions say, then what the caller says, in the words of build()."""
from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from tenfold import _native, errors
from tenfold._log import once
from tenfold._session_log import log_of
from tenfold._session_options import SessionOptions

Arguments = Callable[[], _native.ModelArguments]   # what the file declares


class Files:
    """Files in memory, in a folder as long as a session lives."""

    def __init__(self, files: dict[str, Any]) -> None:
        import shutil   # here, for both take long to import
        import tempfile
        self.path = tempfile.mkdtemp(prefix='tenfold')
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        for name, buffer in files.items():
            path = os.path.join(self.path, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as file:
                file.write(buffer)


def build_options(settings: SessionOptions, given: dict[str, Any], disabled: Iterable[str], files: Files | None,
                  declared: Arguments) -> dict[str, Any]:
    settings._refuse_entries()
    if settings._cancelled:
        raise errors.Cancelled('the session is not made: SessionOptions.set_load_cancellation_flag(True) was called')
    options = {**settings._build_options(), **given}
    if passes := [*given.get('disabled_passes', ()), *_passes(disabled)]:
        options['disabled_passes'] = passes
    if log := options.get('log') or log_of(settings):
        options['log'] = log
    if files is not None:
        options['external_data_dirs'] = [*options.get('external_data_dirs', ()), files.path]
    if settings._initializers or settings._external:
        options['initializers'] = {**_initializers(settings, declared()), **options.get('initializers', {})}
    return options


def _passes(disabled: Iterable[str]) -> list[str]:
    """Names of Tenfold's, which are lower case; ONNX Runtime's are in CamelCase."""
    passes = []
    for name in [disabled] if isinstance(disabled, str) else disabled:
        if name.islower():
            passes.append(name)
        else:
            once(f'disabled_optimizers={name!r} has no effect: it is an optimizer of ONNX Runtime\'s; disabled_passes names Tenfold\'s')
    return passes


def _initializers(settings: SessionOptions, declared: _native.ModelArguments) -> dict[str, Any]:
    for name in settings._external:
        if name not in declared.external:
            raise errors.InvalidModel(f'add_external_initializers() has a value for {name!r}, and the model has no initializer of '
                                      'that name whose data lie in another file')
    values = dict(settings._external)
    for name, value in settings._initializers.items():
        if name in declared.initializers:
            values[name] = value
        else:
            once(f'add_initializer({name!r}) has no effect: a model has no initializer of that name')
    return values


def write_model(model: Any, path: str, options: dict[str, Any]) -> None:
    """SessionOptions.optimized_model_filepath."""
    _native.write_model(model, path, {name: options[name] for name in ('external_data_dirs', 'initializers') if name in options})
    once('optimized_model_filepath: what is written is the model with all its weights, which any session runs; what Tenfold optimizes lies '
         'in plans, which cache_dir keeps')
