"""Service as a deployment of Ray Serve."""
from __future__ import annotations

import functools
from typing import Any

from tenfold.ray._installed import need_ray
from tenfold.ray._service import Service


@functools.cache
def deployment() -> Any:
    """For `serve.run(tenfold.ray.Deployment.options(...).bind('all-MiniLM-L6-v2'))`."""
    return need_ray('serve').deployment(Service, name='tenfold')
