"""Names of the forms that tensorrt.plugin's functions have inside TensorRT. Here decorators make them: none is derived from."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._names import refused
from tenfold.tensorrt._plugins.fields import PluginArgDataType, PluginArgType
from tenfold.tensorrt._plugins.interfaces import IPluginCapability


class _Quick(IPluginCapability):
    def __init__(self) -> None:
        raise refused(type(self).__name__, "plug-ins of this form are functions: tensorrt.plugin's register(), impl() and aot_impl()")


class IPluginV3QuickCore(_Quick):
    plugin_name, plugin_version, plugin_namespace = '', '1', ''


class IPluginV3QuickBuild(_Quick):
    pass


class IPluginV3QuickAOTBuild(IPluginV3QuickBuild):
    pass


class IPluginV3QuickRuntime(_Quick):
    pass


class ISymExpr:
    type, dtype, expr = PluginArgType.INT, PluginArgDataType.INT32, None

    def __init__(self, *_: Any) -> None:
        raise refused(type(self).__name__, "aot_impl returns tensorrt.plugin's SymInt32 and SymExprs")


class ISymExprs(ISymExpr):
    nbSymExprs = 0
