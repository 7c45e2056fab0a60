"""Which of TensorRT's names there are: those that tools use, and that the page of them tells all and no others."""
import enum
import inspect
import pathlib
import re
import unittest

import tenfold.tensorrt as trt

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / 'docs' / 'tensorrt-python.md'

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
    return {name for name in dir(kind) if not name.startswith('_')} - (set(dir(bytes)) if issubclass(kind, bytes) else set())


class Names(unittest.TestCase):
    def test_what_tools_use_is_there(self):
        self.assertEqual(len(MODULE), 30)
        self.assertEqual([name for name in MODULE if not hasattr(trt, name)], [])
        missing = [(kind, name) for kind, names in MEMBERS.items() for name in names.split() if not hasattr(getattr(trt, kind), name)]
        self.assertEqual(missing, [])
        memoryview(trt.IHostMemory(b'x'))
        for kind in (trt.ILogger, trt.IOutputAllocator, trt.IDebugListener, trt.IProfiler, trt.IProgressMonitor):
            made = type('Derived', (kind,), {})()
            kind.__init__(made)
            made.of_their_own = 1

    def test_the_page_tells_every_name_and_no_other(self):
        text = PAGE.read_text()
        told = {}
        for name, cell in re.findall(r'^\| `(\w+)` \| (.*) \|$', text, re.M):
            told[name] = set(re.findall(r'`(\w+)`', cell))
        self.assertEqual(set(told), set(classes()))
        for name, kind in classes().items():
            self.assertEqual(told[name], members(kind), name)
        for name in set(trt.__all__) - set(classes()):
            self.assertIn(f'`{name}`', text)

    def test_all_lists_every_public_name(self):
        inner = {'Any', 'annotations', 'need_logger', 'say_once'}
        public = {name for name, value in vars(trt).items() if not name.startswith('_') and not inspect.ismodule(value)} - inner
        self.assertEqual(set(trt.__all__), public | {'__version__'})

    def test_the_counts_are_right(self):
        text = ' '.join(PAGE.read_text().split())
        told = re.search(r'(\d+) names, (\d+) of them enumerations with (\d+) members, and (\d+) members', text)
        enums = [kind for kind in classes().values() if issubclass(kind, enum.Enum)]
        others = [kind for kind in classes().values() if not issubclass(kind, enum.Enum)]
        counted = [len(trt.__all__), len(enums), *(sum(len(members(kind)) for kind in kinds) for kinds in (enums, others))]
        self.assertEqual([int(n) for n in told.groups()], counted)


if __name__ == '__main__':
    unittest.main()
