"""torch.compile(m, backend="tenfold"): modules of torch as engines; export() and load(), with plans that need no torch; plugin().

docs/guides/torch.md tells all of it.
"""
from __future__ import annotations

from tenfold.torch._version import check_version as _check_version

_check_version()
from tenfold.torch._backend import backend  # noqa: E402
from tenfold.torch._explain import Explanation, explain  # noqa: E402
from tenfold.torch._export import export, load  # noqa: E402
from tenfold.torch._plugin import plugin  # noqa: E402

__all__ = ['Explanation', 'backend', 'explain', 'export', 'load', 'plugin']
