"""Ray: models in the pipelines of Ray Data, and behind Ray Serve.

    vectors = texts.map_batches(tenfold.ray.Embedder, fn_constructor_kwargs={'folder': 'all-MiniLM-L6-v2', 'column': 'text'},
                                batch_format='pyarrow', compute=ray.data.ActorPoolStrategy(size=2))

docs/guides/ray.md tells the rest. No other part of tenfold imports ray.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenfold._repr import give_reprs as _give_reprs
from tenfold.ray._installed import need_ray as _need_ray

_need_ray()
from tenfold.ray._embedder import Embedder  # noqa: E402 (it asks Ray where it runs)
from tenfold.ray._predictor import Predictor  # noqa: E402
from tenfold.ray._service import Service  # noqa: E402

if TYPE_CHECKING:
    Deployment: Any

__all__ = ['Deployment', 'Embedder', 'Predictor', 'Service']
_give_reprs(globals())


def __getattr__(name: str) -> Any:
    if name == 'Deployment':   # Ray Data alone needs nothing of Ray Serve
        from tenfold.ray._deployment import deployment
        return deployment()
    raise AttributeError(f'module tenfold.ray has no attribute {name!r}')
