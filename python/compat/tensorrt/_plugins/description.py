"""Which plug-in a node means, as a plan keeps it: its creator, and what the creator makes it from."""
from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any

from tenfold.tensorrt._plugins.fields import (
    PluginFieldCollection, QuickPluginCreationRequest, TensorRTPhase, fields_from_json, fields_to_json,
)
from tenfold.tensorrt._plugins.interfaces import IPluginCreator, IPluginCreatorV3Quick, IPluginV2DynamicExt, IPluginV3
from tenfold.tensorrt._plugins.registry import get_plugin_registry


@dataclasses.dataclass(frozen=True)
class Description:
    name: str
    version: str
    namespace: str
    fields: PluginFieldCollection = dataclasses.field(default_factory=PluginFieldCollection)
    state: bytes | None = None            # of 8.x's form: what serialize() gave
    shape_inputs: int = 0                 # the last of the operands, whose contents decide shapes and which enqueue() does not get
    request: str = 'UNKNOWN'              # of quick plug-ins: QuickPluginCreationRequest

    def text(self) -> str:
        words: dict[str, Any] = {'name': self.name, 'version': self.version, 'namespace': self.namespace,
                                 'fields': fields_to_json(self.fields), 'shape_inputs': self.shape_inputs, 'request': self.request}
        if self.state is not None:
            words['state'] = base64.b64encode(self.state).decode()
        return json.dumps(words)

    @staticmethod
    def of_text(text: str) -> Description:
        words = json.loads(text)
        state = base64.b64decode(words['state']) if 'state' in words else None
        return Description(words['name'], words['version'], words['namespace'], fields_from_json(words['fields']), state,
                           int(words['shape_inputs']), words['request'])

    def create(self, phase: TensorRTPhase) -> Any:
        """A new plug-in. ValueError: there is no creator, or it makes none."""
        creator = get_plugin_registry().get_creator(self.name, self.version, self.namespace)
        what = f"plug-in '{self.name}' version '{self.version}' of namespace '{self.namespace}'"
        if creator is None:
            known = ', '.join(f"'{c.name}' version '{c.plugin_version}'" for c in get_plugin_registry().all_creators) or 'none'
            raise ValueError(f'{what} has no creator: trt.get_plugin_registry().register_creator(...) before the model is read, built or '
                             f'loaded; there are {known}')
        made = self._ask(creator, phase)
        if not isinstance(made, (IPluginV3, IPluginV2DynamicExt)):
            raise ValueError(f'{what}: its creator made {type(made).__name__}, not an IPluginV3 or IPluginV2DynamicExt')
        return made

    def _ask(self, creator: Any, phase: TensorRTPhase) -> Any:
        fields = PluginFieldCollection(self.fields)
        if isinstance(creator, IPluginCreatorV3Quick):
            return creator.create_plugin(self.name, self.namespace, fields, phase, QuickPluginCreationRequest[self.request])
        if not isinstance(creator, IPluginCreator):
            return creator.create_plugin(self.name, fields, phase)
        if self.state is None:
            return creator.create_plugin(self.name, fields)
        return creator.deserialize_plugin(self.name, self.state)
