"""AutoTuneCombination: which element types a quick plug-in takes, and its tactics for these."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenfold.tensorrt._enums import DataType

_NAMES = {'FP32': 'FLOAT', 'FP16': 'HALF'}


class AutoTuneCombination:
    """`io_types`: one word for each operand and result, "FP32|FP16, FP32|FP16, INT32". Words with | change together: all take their first
    type, or all their second; words with * change by themselves. `layouts` likewise, "LINEAR" for all. `tactics`: numbers above 0."""

    def __init__(self, io_types: str | None = None, layouts: str = 'LINEAR', tactics: Iterable[int] | None = None) -> None:
        words = [w.strip() for w in (io_types or '').split(',')] if io_types else []
        formats = [w.strip() for w in layouts.split(',')]
        if len(formats) not in (1, len(words)) and words:
            raise ValueError(f'layouts has {len(formats)} words, io_types {len(words)}')
        self._rows: dict[int, tuple[str, str]] = {i: (w, formats[i if len(formats) > 1 else 0]) for i, w in enumerate(words)}
        self._tactics = list(tactics or ())

    def pos(self, pos: int | Iterable[int], io_types: str, layouts: str = 'LINEAR') -> None:
        """The words of some operands and results."""
        for place in (pos,) if isinstance(pos, int) else pos:
            if place in self._rows:
                raise ValueError(f'types of place {place} are told twice')
            self._rows[place] = io_types.strip(), layouts.strip()

    def tactics(self, tactics: Iterable[int]) -> None: self._tactics = list(tactics)

    def takes(self, types: Sequence[DataType]) -> bool:
        """In LINEAR formats."""
        if sorted(self._rows) != list(range(len(types))):
            raise ValueError(f'a combination tells types of the places {sorted(self._rows)}, there are {len(types)}')
        return (_fits([self._rows[i][0] for i in range(len(types))], [DataType(t).name for t in types])
                and _fits([self._rows[i][1] for i in range(len(types))], ['LINEAR'] * len(types)))


def _fits(words: list[str], given: list[str]) -> bool:
    together: set[int] | None = None
    for word, requested in zip(words, given):
        options = [_NAMES.get(o.strip(), o.strip()) for o in word.replace('*', '|').split('|')]
        places = {i for i, option in enumerate(options) if option == requested}
        if not places:
            return False
        if '|' in word:
            together = places if together is None else together & places
    return together is None or bool(together)
