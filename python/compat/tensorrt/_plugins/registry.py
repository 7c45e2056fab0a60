"""IPluginRegistry: the creators of this process, by name, version and namespace; and what plug-ins share."""
from __future__ import annotations

import threading
from typing import Any

from tenfold import plugins
from tenfold.tensorrt._names import Named
from tenfold.tensorrt._plugins.interfaces import IPluginCreator, IPluginCreatorInterface, IPluginResource

_Key = tuple[str, str, str]


class IPluginRegistry(Named):
    """One for the process: get_plugin_registry(). Any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._creators: dict[_Key, IPluginCreatorInterface] = {}
        self._resources: dict[str, tuple[IPluginResource, int]] = {}
        self._recorder: Any = None

    @property
    def all_creators(self) -> list[IPluginCreatorInterface]:
        with self._lock:
            return list(self._creators.values())

    @property
    def all_creators_recursive(self) -> list[IPluginCreatorInterface]: return self.all_creators
    @property
    def plugin_creator_list(self) -> list[IPluginCreator]: return [c for c in self.all_creators if isinstance(c, IPluginCreator)]
    @property
    def error_recorder(self) -> Any: return self._recorder

    @error_recorder.setter
    def error_recorder(self, recorder: Any) -> None: self._recorder = recorder

    @property
    def parent_search_enabled(self) -> bool: return True

    def register_creator(self, creator: IPluginCreatorInterface, plugin_namespace: str = '') -> bool:
        """False: there is one of that name, version and namespace."""
        if not isinstance(creator, IPluginCreatorInterface):
            raise TypeError(f'a creator derives from trt.IPluginCreator or IPluginCreatorV3One, got {type(creator).__name__}')
        if not creator.name:
            raise ValueError(f'{type(creator).__name__} has no name: set self.name to what its plug-ins are called')
        creator.plugin_namespace = plugin_namespace or creator.plugin_namespace
        with self._lock:
            return self._creators.setdefault(self._key(creator), creator) is creator

    def deregister_creator(self, creator: IPluginCreatorInterface) -> bool:
        """False: it is not registered. Engines that have plug-ins of it keep them; plans that need it are refused from now on."""
        with self._lock:
            return self._creators.pop(self._key(creator), None) is not None

    @staticmethod
    def _key(creator: IPluginCreatorInterface) -> _Key: return creator.name, str(creator.plugin_version), creator.plugin_namespace

    def get_creator(self, type: str, version: str, plugin_namespace: str = '') -> IPluginCreatorInterface | None:
        """None: there is none."""
        with self._lock:
            return self._creators.get((type, str(version), plugin_namespace))

    def get_plugin_creator(self, type: str, version: str, plugin_namespace: str = '') -> IPluginCreatorInterface | None:
        """8.x's name of get_creator()."""
        return self.get_creator(type, version, plugin_namespace)

    def load_library(self, plugin_path: str) -> str:
        """A library of operators in Tenfold's form (tenfold/plugin_abi.h); TensorRT's are not: their classes have its C++ interfaces."""
        plugins.load(plugin_path)
        return str(plugin_path)

    def deregister_library(self, handle: str) -> None: plugins.forget(handle)

    def acquire_plugin_resource(self, key: str, resource: IPluginResource) -> IPluginResource:
        """The one that all who name the key share; the first is asked to acquire()."""
        with self._lock:
            shared, count = self._resources.get(key, (resource, 0))
            if count == 0:
                shared = resource.clone()
                shared.acquire()
            self._resources[key] = shared, count + 1
            return shared

    def release_plugin_resource(self, key: str) -> int:
        """How many still use it. KeyError: there is none."""
        with self._lock:
            shared, count = self._resources[key]
            if count > 1:
                self._resources[key] = shared, count - 1
            else:
                shared.release()
                del self._resources[key]
            return count - 1


_registry = IPluginRegistry()


def get_plugin_registry() -> IPluginRegistry: return _registry
