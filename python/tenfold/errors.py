"""What goes wrong, by kind: each class is also the built-in one that fits, so that `except ValueError` finds it, too."""
from __future__ import annotations

from typing import Any

from tenfold import _native


class Error(Exception):
    """What Tenfold raises. The attributes tell what it concerns; None where that is not known."""

    kind = 'internal'
    node: str | None = None      # of the model
    op: str | None = None
    opset: int | None = None
    hint: str | None = None      # what may mend it
    step: str | None = None      # of a plan, that a run failed in
    problems: list[Any] = []     # of a model: all of them (ModelProblem)


class InvalidArgument(Error, ValueError):
    """The caller passed something wrong: a shape, a name, an array."""

    kind = 'invalid_argument'


class InvalidInput(InvalidArgument):
    """A value in the data of a run is none that a step can compute with: a negative size, an axis that is not there."""


class BadIndex(InvalidInput, IndexError):
    """Data of a run pointed outside a tensor."""


class InvalidModel(Error, ValueError):
    """The model breaks the ONNX standard or contradicts itself."""

    kind = 'invalid_model'


class Unsupported(Error, NotImplementedError):
    """Legal, but Tenfold has no implementation."""

    kind = 'unsupported'


class OutOfMemory(Error, MemoryError):
    """There is not enough memory, of the host or of a GPU."""

    kind = 'out_of_memory'


class PlanRefused(Error, ValueError):
    """The plan is damaged, of another version, or for another machine."""

    kind = 'plan_refused'


class FileError(Error, OSError):
    """A file could not be read or written."""

    kind = 'io'


class DeviceError(Error, RuntimeError):
    """The device failed, or there is none."""

    kind = 'device'


class Cancelled(Error, RuntimeError):
    """A callback or another thread asked to stop."""

    kind = 'cancelled'


class DeadlinePassed(Cancelled, TimeoutError):
    """The run's timeout passed before its last step."""


class Internal(Error, RuntimeError):
    """A bug in Tenfold, or a kernel that failed."""


_native.set_error_classes({
    **{c.kind: c for c in (InvalidArgument, InvalidModel, Unsupported, OutOfMemory, PlanRefused, FileError, DeviceError, Cancelled,
                           Internal)},
    'invalid_input': InvalidInput, 'bad_index': BadIndex, 'deadline': DeadlinePassed,
})
