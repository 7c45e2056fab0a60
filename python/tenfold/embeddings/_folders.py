"""From a model's name to its folder: a path, or what Hugging Face's cache holds. The network is never asked."""
from __future__ import annotations

import os
from typing import Any

from tenfold.errors import FileError


def _hub(cache_folder: Any) -> str:
    if cache_folder:
        return os.fspath(cache_folder)
    for variable, inside in (('SENTENCE_TRANSFORMERS_HOME', ''), ('HF_HUB_CACHE', ''), ('HF_HOME', 'hub')):
        if os.environ.get(variable):
            return os.path.join(os.path.expanduser(os.environ[variable]), inside)
    cache = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    return os.path.join(cache, 'huggingface', 'hub')


def _snapshot(repository: str, revision: str) -> str | None:
    """The folder of a revision: a commit, or a branch that the cache knows."""
    name = os.path.join(repository, 'refs', revision)
    if os.path.isfile(name):
        with open(name, encoding='utf-8') as file:
            revision = file.read().strip()
    folder = os.path.join(repository, 'snapshots', revision)
    return folder if os.path.isdir(folder) else None


def find_folder(name: Any, cache_folder: Any = None, revision: str | None = None, owner: str = 'sentence-transformers/') -> str:
    """The folder of a model: `name` is one, or the name of a repository in Hugging Face's cache (HF_HOME), of `owner` if it names none."""
    path = os.path.expanduser(os.fspath(name))
    if os.path.isdir(path):
        return path
    hub = _hub(cache_folder)
    for front in (('',) if '/' in path else (owner, '')):
        repository = os.path.join(hub, 'models--' + (front + path).replace('/', '--'))
        found = _snapshot(repository, revision or 'main')
        if found:
            return found
    named = path if '/' in path or path.startswith('.') else owner + path
    fetch = '' if path.startswith(('.', '/')) or path.count('/') > 1 else f'run `hf download {named}`, '
    raise FileError(f"there is no folder '{path}', and the cache '{hub}' has no model of that name; nothing is fetched: {fetch}give "
                    'the folder, or set HF_HOME to where the model was downloaded')
