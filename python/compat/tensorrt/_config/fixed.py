"""Fields of IBuilderConfig that have one value here: another is refused by name, or it is said once that it has no effect."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._enums import (
    DeviceType, EngineCapability, PreviewFeature, ProfilingVerbosity, RuntimePlatform, TilingOptimizationLevel,
)
from tenfold.tensorrt._logger import ILogger, say_once
from tenfold.tensorrt._names import Named, refused
from tenfold.tensorrt._noted import noted


_PREVIEWS = {
    PreviewFeature.PROFILE_SHARING_0806: 'contexts share profiles always',
    PreviewFeature.ALIASED_PLUGIN_IO_10_03: 'results of plug-ins have memory of their own',
    PreviewFeature.RUNTIME_ACTIVATION_RESIZE_10_10: 'contexts take what their largest shapes need',
    PreviewFeature.MULTIDEVICE_RUNTIME_10_16: 'a run uses one device',
    PreviewFeature.FASTER_DYNAMIC_SHAPES_0805: 'kernels for open extents are chosen as timing finds best'}


def _only(name: str, value: Any, why: str) -> property:
    """A field that can be read, and set to what it is."""
    def get(self: Any) -> Any:
        return value

    def put(self: Any, other: Any) -> None:
        if other != value:
            raise refused(f'{name} = {other}', why)
    return property(get, put)


class Fixed(Named):
    _logger: ILogger

    default_device_type = _only('default_device_type', DeviceType.GPU, 'there is no DLA')
    DLA_core = noted('DLA_core', -1, 'there is no DLA')
    engine_capability = _only('engine_capability', EngineCapability.STANDARD,
                              'there is no safety runtime and no DLA')

    max_aux_streams = noted('max_aux_streams', -1, 'a run uses the stream that it is given')
    profile_stream = noted('profile_stream', 0, 'kernels are timed in a stream of the build\'s own')
    min_timing_iterations = noted('min_timing_iterations', 1, 'avg_timing_iterations says how often a kernel is timed')
    tiling_optimization_level = noted('tiling_optimization_level', TilingOptimizationLevel.NONE, 'kernels are cut as timing finds best')
    l2_limit_for_tiling = noted('l2_limit_for_tiling', -1, 'kernels are cut as timing finds best')
    runtime_platform = _only('runtime_platform', RuntimePlatform.SAME_AS_BUILD, 'plans run on the system that they were built for')
    plugins_to_serialize = _only('plugins_to_serialize', [], 'plans never hold libraries')

    def set_device_type(self, layer: Any, device_type: Any) -> None:
        if DeviceType(device_type).name != 'GPU':
            raise refused(str(DeviceType(device_type)), 'there is no DLA')

    def get_device_type(self, layer: Any) -> DeviceType: return DeviceType.GPU
    def is_device_type_set(self, layer: Any) -> bool: return False
    def reset_device_type(self, layer: Any) -> None: pass
    def can_run_on_DLA(self, layer: Any) -> bool: return False

    remote_auto_tuning_config = _only('remote_auto_tuning_config', '', 'tactics are timed on the machine that builds')

    _features: dict[PreviewFeature, bool] = {}   # that were set; never changed in place

    def set_preview_feature(self, feature: Any, enable: bool) -> None:
        """Each permits something, which one line says has no effect; DISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805 takes libraries away."""
        feature = PreviewFeature(feature)
        if bool(enable) != self.get_preview_feature(feature) and feature in _PREVIEWS:
            say_once(self._logger, f'{feature} = {bool(enable)} has no effect in Tenfold: {_PREVIEWS[feature]}')
        self._features = {**self._features, feature: bool(enable)}

    def get_preview_feature(self, feature: Any) -> bool:
        feature = PreviewFeature(feature)
        return bool(self._features.get(feature, feature == PreviewFeature.PROFILE_SHARING_0806))

    @property
    def profiling_verbosity(self) -> Any:
        """Plans tell all of their steps, always."""
        return ProfilingVerbosity.DETAILED

    @profiling_verbosity.setter
    def profiling_verbosity(self, verbosity: Any) -> None:
        if ProfilingVerbosity(verbosity).name != 'DETAILED':
            say_once(self._logger, f'{ProfilingVerbosity(verbosity)} has no effect in Tenfold: plans tell all of their steps, always')
