"""What all classes of this module share: attributes that are not there say what is, none is made by a slip, and `with` blocks."""
from __future__ import annotations

from typing import Any

from tenfold.errors import Unsupported


def refused(what: str, why: str) -> Unsupported:
    """What cannot have an effect is refused, so that nobody believes it had one."""
    return Unsupported(f'tenfold.tensorrt refuses {what}: {why}')


def public(of: Any) -> str:
    return ', '.join(name for name in dir(of) if not name.startswith('_'))


class Named:
    def __getattr__(self, name: str) -> Any:
        for kind in type(self).__mro__:
            found = vars(kind).get(name)
            if isinstance(found, property) and found.fget is not None:   # which raised an AttributeError itself: that is the one to tell
                return found.fget(self)
        raise AttributeError(f"{type(self).__name__} of tenfold.tensorrt has no {name!r}; it has {public(type(self))}")

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith('_') and not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} of tenfold.tensorrt has no {name!r} to set; it has {public(type(self))}")
        super().__setattr__(name, value)

    def __enter__(self) -> Any: return self
    def __exit__(self, *_: object) -> None: pass
