"""Builds as 7.x wrote them: switches on the builder itself, and build_cuda_engine()."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._config.config import IBuilderConfig
from tenfold.tensorrt._enums import BuilderFlag
from tenfold.tensorrt._recorder import Recording


def _switch(flag: BuilderFlag) -> property:
    """A field that is a flag of the configuration."""
    def get(self: Any) -> bool:
        return bool(self._old_config().get_flag(flag))

    def put(self: Any, on: bool) -> None:
        self._old_config().set_flag(flag) if on else self._old_config().clear_flag(flag)
    return property(get, put)


def _field(name: str) -> property:
    """A field that the configuration has under the same or another name."""
    def get(self: Any) -> Any:
        return getattr(self._old_config(), name)

    def put(self: Any, value: Any) -> None:
        setattr(self._old_config(), name, value)
    return property(get, put)


class Builder7(Recording):
    _old: IBuilderConfig | None = None

    fp16_mode, int8_mode = _switch(BuilderFlag.FP16), _switch(BuilderFlag.INT8)
    strict_type_constraints, refittable = _switch(BuilderFlag.STRICT_TYPES), _switch(BuilderFlag.REFIT)
    max_workspace_size, int8_calibrator = _field('max_workspace_size'), _field('int8_calibrator')
    average_find_iterations, min_find_iterations = _field('avg_timing_iterations'), _field('min_timing_iterations')
    default_device_type = _field('default_device_type')

    def _old_config(self) -> IBuilderConfig:
        if self._old is None:
            self._old = IBuilderConfig(self._logger)
        return self._old

    def build_engine_with_config(self, network: Any, config: IBuilderConfig) -> Any: raise NotImplementedError

    def build_cuda_engine(self, network: Any) -> Any:
        """With the builder's own switches; None: the logger tells why there is no engine."""
        return self.build_engine_with_config(network, self._old_config())
