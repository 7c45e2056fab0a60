"""IVersionedInterface: what TensorRT's callbacks tell of themselves."""
from __future__ import annotations

from tenfold.tensorrt._enums import APILanguage


class InterfaceInfo:
    """The name and version of an interface."""

    kind, major, minor = '', 1, 0

    def __init__(self, kind: str = '', major: int = 1, minor: int = 0) -> None:
        self.kind, self.major, self.minor = kind, major, minor

    def __repr__(self) -> str: return f'<InterfaceInfo {self.kind} {self.major}.{self.minor}>'


class IVersionedInterface:
    """Classes that users derive from in Python."""

    @property
    def api_language(self) -> APILanguage: return APILanguage.PYTHON

    @property
    def interface_info(self) -> InterfaceInfo:
        return InterfaceInfo(next((c.__name__ for c in type(self).__mro__ if c.__module__.startswith('tenfold.')), type(self).__name__))
