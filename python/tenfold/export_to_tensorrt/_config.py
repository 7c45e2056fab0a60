"""A module from a configuration of CytoDL (Hydra's YAML) and its checkpoint."""
from __future__ import annotations

import os
import pathlib
import pickle
from typing import TYPE_CHECKING, Any

import tenfold
from tenfold.export_to_tensorrt._build import with_all_heads

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOTS = ('train.yaml', 'eval.yaml')   # the file that a configuration of a group is composed into


def load_config(path: str, overrides: Sequence[str] = ()) -> Any:
    """A file of a Hydra folder (configs/experiment/im2im/labelfree.yaml, say) composed into its train.yaml, as CytoDL does it; another file
    as it stands. `overrides` are Hydra's: key=value."""
    try:
        import hydra
        from omegaconf import OmegaConf
        from omegaconf.errors import OmegaConfBaseException
    except ModuleNotFoundError as error:
        raise tenfold.Unsupported(f'--config {path} is read by hydra-core and omegaconf, and {error.name} is not installed: '
                                  'pip install hydra-core; --onnx FILE needs none of them') from error
    if not os.path.isfile(path):
        raise tenfold.FileError(f'--config {path}: there is no such file')

    def kv_to_dict(pairs: Any) -> Any:
        """One of CytoDL's: [[key, value] ...] to a mapping."""
        plain = lambda value: OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
        return OmegaConf.create({key: plain(value) for key, value in pairs})
    OmegaConf.register_new_resolver('kv_to_dict', kv_to_dict, replace=True)
    try:
        root = _root_of(path)
        if root is not None:
            return _composed(root, pathlib.Path(path).resolve(), overrides)
        config = OmegaConf.merge(OmegaConf.load(path), OmegaConf.from_dotlist(list(overrides)))
    except (OmegaConfBaseException, hydra.errors.HydraException, OSError, ValueError) as error:
        raise tenfold.InvalidInput(f'--config {path}: {error}') from error
    except Exception as error:
        if type(error).__module__.partition('.')[0] != 'yaml':
            raise
        raise tenfold.InvalidInput(f'--config {path} is no YAML: {error}') from error
    if 'defaults' in config:
        raise tenfold.InvalidInput(f'--config {path} has a list `defaults`, and no folder above it has the {" or ".join(_ROOTS)} that '
                                   'Hydra composes it into; give the file in its folder of configurations')
    return config


def _root_of(path: str) -> pathlib.Path | None:
    """The main file of the Hydra folder in which `path` is a member of a group."""
    for folder in pathlib.Path(path).resolve().parents[1:]:
        for name in _ROOTS:
            if (folder / name).is_file():
                return folder / name
    return None


def _composed(root: pathlib.Path, path: pathlib.Path, overrides: Sequence[str]) -> Any:
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf, open_dict
    group, *rest = path.relative_to(root.parent).with_suffix('').parts
    os.environ.setdefault('PROJECT_ROOT', str(root.parent.parent))   # CytoDL's configurations ask for it
    GlobalHydra.instance().clear()
    with initialize_config_dir(version_base='1.3', config_dir=str(root.parent)):
        config = compose(config_name=root.name, overrides=[f'{group}={"/".join(rest)}', *overrides])
    OmegaConf.set_struct(config, False)
    if 'paths' in config:   # of a run, which there is none of
        with open_dict(config):
            config.paths.update({name: '.' for name in ('output_dir', 'work_dir')})
    return config


def load_module(config: Any, path: str, checkpoint: str, trust: bool) -> Any:
    """The module of `config`, with the weights of a checkpoint, in eval()."""
    import hydra
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    node = config.get('model') if 'model' in config else config
    if node is None or '_target_' not in node:
        raise tenfold.InvalidInput(f'--config {path}: there is neither model._target_ nor _target_, the class of the network')
    try:
        OmegaConf.resolve(node)
    except OmegaConfBaseException as error:
        raise tenfold.InvalidInput(f'--config {path}: {error}') from error
    node.pop('_aux', None)
    target = str(node._target_)
    try:
        # CytoDL's classes make their parts themselves.
        module = hydra.utils.instantiate(node, **({'_recursive_': False} if target.startswith('cyto_dl.') else {}))
    except Exception as error:   # whatever the class raises
        raise tenfold.InvalidInput(f'--config {path}: {target} cannot be made: {error}') from error
    load_weights(module, checkpoint, trust)
    return with_all_heads(module.eval())


def load_weights(module: Any, checkpoint: str, trust: bool) -> None:
    import torch
    if not os.path.isfile(checkpoint):
        raise tenfold.FileError(f'--ckpt {checkpoint}: there is no such file')
    try:
        loaded = torch.load(checkpoint, map_location='cpu', weights_only=not trust)
    except pickle.UnpicklingError as error:
        if trust:
            raise tenfold.InvalidInput(f'--ckpt {checkpoint} is no checkpoint: {error}') from error
        raise tenfold.InvalidInput(f'--ckpt {checkpoint} holds more than tensors, or is no checkpoint ({first_sentence(error)}). '
                                   '--trust-checkpoint loads it, and runs the code that it names: for files whose authors you trust'
                                   ) from error
    except (RuntimeError, EOFError, OSError, ValueError) as error:
        raise tenfold.InvalidInput(f'--ckpt {checkpoint} cannot be read: {error}') from error
    state = loaded.get('state_dict', loaded) if isinstance(loaded, dict) else None
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise tenfold.InvalidInput(f'--ckpt {checkpoint} has no state_dict: expected a checkpoint of Lightning, or the tensors of '
                                   'module.state_dict()')
    try:
        # torch.compile leaves its mark in the names.
        missing, unexpected = module.load_state_dict({name.replace('_orig_mod.', ''): value for name, value in state.items()}, strict=False)
    except RuntimeError as error:   # of another shape
        raise tenfold.InvalidInput(f'--ckpt {checkpoint} does not fit the network of --config: {error}') from error
    for what, names in (('lacks', missing), ('has besides', unexpected)):
        if names:
            raise tenfold.InvalidInput(f'--ckpt {checkpoint} does not fit the network of --config: it {what} {", ".join(names[:3])}'
                                       f'{f" and {len(names) - 3} more" if len(names) > 3 else ""}')


def first_sentence(error: Exception) -> str:
    return str(error).strip().partition('\n')[0].partition('. ')[0]


def shape_of(config: Any) -> tuple[int, ...] | None:
    """[1, channels, patch] as CytoDL's configurations have them: raw_im_channels and data._aux.patch_shape."""
    from omegaconf import OmegaConf
    patch, channels = OmegaConf.select(config, 'data._aux.patch_shape'), OmegaConf.select(config, 'raw_im_channels', default=1)
    return None if patch is None else (1, int(channels), *map(int, patch))
