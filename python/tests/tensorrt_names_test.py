"""Which of TensorRT's names there are: those that tools use, and that the page of them tells all and no others.

tensorrt_names_test.py --write: writes the page's tables and counts anew.
"""
import enum
import inspect
import pathlib
import re
import sys
import textwrap
import unittest

import tenfold.tensorrt as trt
import tenfold.tensorrt.plugin as trtp

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / 'docs' / 'guides' / 'tensorrt-python.md'

# What tools that compare, convert and run touch by default: 30 names of the module, 54 members of 12 classes.
MODULE = '''__version__ init_libnvinfer_plugins Builder Runtime OnnxParser ILogger IOutputAllocator IDebugListener ICudaEngine BuilderFlag 
    DeviceType MemoryPoolType NetworkDefinitionCreationFlag PreviewFeature ProfilingVerbosity QuantizationFlag TacticSource TensorFormat
    TensorIOMode
    float32 float16 bfloat16 int8 int32 int64 uint8 bool fp8 int4 fp4'''.split()
MEMBERS = dict(
    Builder='create_network create_builder_config create_optimization_profile build_serialized_network',
    IBuilderConfig='''add_optimization_profile num_optimization_profiles get_flag clear_flag get_memory_pool_limit get_preview_feature
        get_quantization_flag get_tactic_sources create_timing_cache set_timing_cache profiling_verbosity default_device_type DLA_core
        engine_capability int8_calibrator''',
    ICudaEngine='''create_execution_context num_io_tensors get_tensor_name get_tensor_mode get_tensor_dtype get_tensor_format
        get_tensor_shape is_shape_inference_io''',
    IExecutionContext='''active_optimization_profile get_tensor_shape get_tensor_address set_tensor_address set_output_allocator
        set_debug_listener set_all_tensors_debug_state execute_async_v3 set_input_shape''',
    INetworkDefinition='__iter__ num_inputs get_input get_flag', ITensor='name shape dtype is_shape_tensor', ILayer='precision_is_set',
    IOptimizationProfile='set_shape __bool__', OnnxParser='parse_from_file num_errors',
    Runtime='deserialize_cuda_engine engine_host_code_allowed')


def classes():
    return {name: value for name in trt.__all__ if inspect.isclass(value := getattr(trt, name)) and value not in (int, bool)}


def members(kind):
    if issubclass(kind, enum.Enum):
        return set(kind.__members__)
    if issubclass(kind, trt.ILayer) and kind is not trt.ILayer:   # what all layers have is told once
        return {name for name in vars(kind) if not name.startswith('_')}
    return {name for name in dir(kind) if not name.startswith('_')} - (set(dir(bytes)) if issubclass(kind, bytes) else set())


def counts():
    enums = [kind for kind in classes().values() if issubclass(kind, enum.Enum)]
    others = [kind for kind in classes().values() if not issubclass(kind, enum.Enum)]
    return [len(trt.__all__), len(enums), *(sum(len(members(kind)) for kind in kinds) for kinds in (enums, others))]


COUNTS = r'(\d+)(\s+names,\s+)(\d+)(\s+of\s+them\s+enumerations\s+with\s+)(\d+)(\s+members,\s+and\s+)(\d+)(\s+members)'


def write():
    """Rows in the order of names; members of an enumeration in that of their values."""
    text = PAGE.read_text()
    for heading, expected in (('Enumerations', True), ('Classes', False)):
        rows = []
        for name, kind in sorted(classes().items(), key=lambda item: item[0].lower()):
            if issubclass(kind, enum.Enum) == expected:
                names = kind.__members__ if expected else sorted(members(kind))
                rows.append(f'| `{name}` | {", ".join(f"`{n}`" for n in names)} |\n')
        text = re.sub(rf'(?s)(## {heading}\n\n.*?\|---\|---\|\n)(?:\|[^\n]*\n)+', lambda m: m.group(1) + ''.join(rows), text)
    rest = sorted(set(trt.__all__) - set(classes()), key=lambda n: (n[0] == '_', n.lower()))
    others = 'Others: ' + ', '.join(f'`{n}`' for n in rest) + '.\n'
    text = re.sub(r'(?s)Others: .*?\.\n', lambda _: textwrap.fill(others, 138, break_long_words=False) + '\n', text)
    new = iter(map(str, counts()))
    text = re.sub(COUNTS, lambda m: ''.join(next(new) if i % 2 == 0 else part for i, part in enumerate(m.groups())), text)
    PAGE.write_text(text)


def facts():
    """(form, name, bases, members) of each line of tensorrt_names.txt."""
    for line in (pathlib.Path(__file__).parent / 'tensorrt_names.txt').read_text().splitlines():
        if line.startswith('#'):
            continue
        form, name, *rest = line.split(' ')
        text = line[len(form) + 1:]
        bases = []
        if form == 'class':
            name, inner, after = re.fullmatch(r'(\w+)\((.*?)\)(.*)', text).groups()
            bases, rest = [b for b in inner.split(', ') if b], after.split()
        yield form, name, bases, rest


class EveryName(unittest.TestCase):
    """Of the 10.16 module: tensorrt_names.txt is what its own dir() tells."""

    def test_enumerations_have_its_members_and_values(self):
        found = [(name, rest) for form, name, _, rest in facts() if form == 'enum']
        self.assertEqual(len(found), 63)
        for name, rest in found:
            for member in rest:
                key, _, value = member.partition('=')
                self.assertEqual(int(getattr(trt, name)[key]), int(value), f'{name}.{key}')

    def test_classes_have_its_bases_and_members(self):
        found = [(name, bases, rest) for form, name, bases, rest in facts() if form == 'class']
        self.assertEqual(len(found), 149)
        missing = [name for name, _, _ in found if not hasattr(trt, name)]
        self.assertEqual(missing, [])
        lacks = {name: [m for m in rest if not hasattr(getattr(trt, name), m)] for name, _, rest in found}
        self.assertEqual({name: names for name, names in lacks.items() if names}, {})
        for name, bases, _ in found:
            for base in bases:
                self.assertTrue(issubclass(getattr(trt, name), getattr(trt, base)), f'{name} of {base}')

    def test_functions_and_types_are_there(self):
        self.assertEqual([name for form, name, _, _ in facts() if form == 'other' and not hasattr(trt, name)], [])

    def test_quick_plug_ins_have_theirs(self):
        found = [name for form, name, _, _ in facts() if form == 'plugin']
        self.assertEqual(len(found), 24)
        self.assertEqual([name for name in found if not hasattr(trtp, name)], [])

    def test_a_name_that_is_missing_would_be_told(self):
        self.assertFalse(hasattr(trt, 'IConvolutionLayers'))
        self.assertFalse(hasattr(trt.IConvolutionLayer, 'kernels'))


class Names(unittest.TestCase):
    def test_what_tools_use_is_there(self):
        self.assertEqual(len(MODULE), 30)
        self.assertEqual([name for name in MODULE if not hasattr(trt, name)], [])
        missing = [(kind, name) for kind, names in MEMBERS.items() for name in names.split() if not hasattr(getattr(trt, kind), name)]
        self.assertEqual(missing, [])
        memoryview(trt.IHostMemory(b'x'))
        for kind in (trt.ILogger, trt.IOutputAllocator, trt.IDebugListener, trt.IProfiler, trt.IProgressMonitor, trt.IInt8Calibrator):
            made = type('Derived', (kind,), {})()
            kind.__init__(made)
            made.of_their_own = 1

    def test_the_page_tells_every_name_and_no_other(self):
        text = PAGE.read_text()
        reported = {}
        for name, cell in re.findall(r'^\| `(\w+)` \| (.*) \|$', text, re.M):
            reported[name] = set(re.findall(r'`(\w+)`', cell))
        self.assertEqual(set(reported), set(classes()))
        for name, kind in classes().items():
            self.assertEqual(reported[name], members(kind), name)
        for name in set(trt.__all__) - set(classes()):
            self.assertIn(f'`{name}`', text)

    def test_all_lists_every_public_name(self):
        inner = {'Any', 'annotations', 'need_logger', 'say_once'}
        public = {name for name, value in vars(trt).items() if not name.startswith('_') and not inspect.ismodule(value)} - inner
        self.assertEqual(set(trt.__all__), public | {'__version__', 'KernelLaunchParams'})   # which is imported where it is used

    def test_the_counts_are_right(self):
        reported = re.search(COUNTS, PAGE.read_text())
        self.assertEqual([int(n) for n in reported.groups()[::2]], counts())


if __name__ == '__main__':
    write() if sys.argv[1:] == ['--write'] else unittest.main()
