"""explain(): what torch.compile(m, backend="tenfold") makes of a module."""
from __future__ import annotations

import dataclasses
from typing import Any

import torch
from tenfold.torch._backend import compiled
from tenfold.torch._options import read_options
from tenfold.torch._report import Report


@dataclasses.dataclass
class Explanation:
    """`graphs` has a report for each graph that torch makes of the module."""
    graphs: list[Report]

    @property
    def engines(self) -> list[str]:
        return [e for g in self.graphs for e in g.engines]

    @property
    def breaks(self) -> list[tuple[str, str]]:
        """Operators that torch computes, and why; also where torch itself breaks the module."""
        return [b for g in self.graphs for b in g.all_breaks()]

    def __str__(self) -> str:
        return f'{len(self.graphs)} graphs, {len(self.engines)} engines\n' + '\n'.join(map(str, self.graphs))


def explain(module: Any, *args: Any, options: Any = None, dynamic: bool | None = None, **keywords: Any) -> Explanation:
    """Compiles a module or function anew for these arguments, runs it once, and tells engines, breaks and reasons."""
    reports: list[Report] = []
    chosen = read_options(options, None)

    def observed(graph: torch.fx.GraphModule, inputs: Any) -> Any:
        return compiled(graph, inputs, chosen, reports)
    torch.compile(module, backend=observed, dynamic=dynamic)(*args, **keywords)
    return Explanation(reports)
