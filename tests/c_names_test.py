#!/usr/bin/env python3
"""Whatever the C++ headers offer, C offers too: c_names_test.py INCLUDE_FOLDER

Every free function and every public method of the headers below has a line here: what C has in its place, or why C needs nothing. A new
one fails until it has one. (Fields of structs: src/interfaces/c/build/fields_test.cpp, c/imaging/imaging_test.cpp.)
"""
import pathlib
import re
import sys

# Headers that are C themselves, or C++ over what is C: plug-ins are tables of plugin_abi.h.
LEFT_OUT = {'c_api.h', 'plugin.h', 'plugin_abi.h', 'plugin_adapter.h'}
# In the place of C names: constants of the header, a field of an information struct, or nothing that a C program lacks.
CONSTANT, FIELD, OWN = '(constants)', '(a field)', '(C++ alone)'
NODE = 'tenfold_network_add_node'

FUNCTIONS = {
    'bindings.h': {name: f'tenfold_context_{name}' for name in
                   ('bind_strided', 'copied_at_border', 'bind_state', 'read_state', 'write_state', 'clear_state', 'set_allocator')}
    | {'binding_memory': 'tenfold_engine_binding_memory', 'binding_type': 'tenfold_engine_binding_type',
       'binds_values': 'tenfold_engine_binds_values', 'window_rows': 'tenfold_engine_window_rows',
       'bind_value': 'tenfold_context_bind_value', 'bound_value': 'tenfold_context_bound_value', 'run_values': 'tenfold_context_run'},
    'build.h': {'build_file': 'tenfold_build_file', 'build_bytes': 'tenfold_build_bytes', 'build': 'tenfold_build_network',
                'retune': 'tenfold_retune', 'retune_file': 'tenfold_retune_file', 'load_compatible': 'tenfold_load_compatible_bytes',
                'model_bindings': 'tenfold_model_open_bytes', 'read_weights': 'tenfold_weights_read',
                'supported_operators': 'tenfold_operator'},
    'completion.h': {'enqueue_then': 'tenfold_context_enqueue_then'},
    'decoder.h': {'name': FIELD},
    'evaluate_decoder.h': {'evaluate_decoder': 'tenfold_decoder_evaluate', 'load_for_evaluation': 'tenfold_decoder_load_for_evaluation'},
    'quantize_decoder.h': {'quantize_decoder': 'tenfold_quantize_decoder'},
    'encoder.h': {name: OWN for name in ('example_texts', 'parse_encoder_precision')},   # C has no encoders yet
    'device_strategy.h': {'parse_device_strategy': OWN},
    'device.h': {'devices': 'tenfold_devices_list', 'is_gpu': OWN, 'free_memory': 'tenfold_device_free_memory',
                 'why_no_gpu': 'tenfold_devices_why_no_gpu', 'look_for_libraries_in': 'tenfold_device_look_for_libraries_in',
                 'parse_cpu_features': 'tenfold_device_parse_cpu_features'},
    'device_array.h': {'device_of': 'tenfold_engine_device'},
    'device_stream.h': {'synchronize_stream': 'tenfold_device_stream_synchronize'},
    'device_error.h': {'last_device_error': 'tenfold_device_last_error', 'text': FIELD, 'device_health': 'tenfold_device_health'},
    'dlpack.h': {'dlpack_type': 'tenfold_data_to_dlpack', 'type_of_dlpack': 'tenfold_data_from_dlpack',
                 'to_dlpack': 'tenfold_data_to_dlpack', 'to_dlpack_unversioned': 'tenfold_data_to_dlpack_unversioned',
                 'from_dlpack': 'tenfold_data_from_dlpack',
                 'bind_dlpack': 'tenfold_context_bind_dlpack', 'binding_to_dlpack': 'tenfold_context_dlpack'},
    'error.h': {'name': 'tenfold_status_name'},
    'inspect.h': {'inspect_plan': 'tenfold_inspect_plan', 'plan_version': 'tenfold_plan_version'},
    'fallback_chain.h': {'plan_candidate': 'tenfold_fallback_chain_add_plan',
                         'compatible_candidate': 'tenfold_fallback_chain_add_compatible_plan',
                 'model_candidate': 'tenfold_fallback_chain_add_model'},
    'latency_recorder.h': {'histogram_log': 'tenfold_latency_recorder_log'},
    'machine.h': {name: OWN for name in ('real_time_throttling', 'look_at_machine', 'machine_load', 'allowed_cpus', 'gpu_states', 'text')},
    'model_engines.h': {'end_background_builds': 'tenfold_end_background_builds'},
    'model_error.h': {'text': FIELD, 'check_model': 'tenfold_model_check',
                      'extent_limits': 'tenfold_model_extent_limits', 'model_parts': 'tenfold_problems_supported'},
    'model_metadata.h': {'model_metadata': 'tenfold_metadata_read'},
    'notes.h': {'name': CONSTANT},
    'open_loop.h': {name: OWN for name in ('run_open_loop', 'run_idle_loop', 'run_closed_loop')},
    'plan_cache.h': {'plan_key': 'tenfold_plan_key', 'build_file': 'tenfold_plan_cache_build_file',
                     'build_bytes': 'tenfold_plan_cache_build_bytes'},
    'port_server.h': {'connect_port': 'tenfold_latency_runner_port_connect'},
    'quantize_file.h': {'quantize_file': 'tenfold_quantize_file'},
    'sliding_window.h': {'infer': 'tenfold_infer', 'sweep': 'tenfold_sweep', 'sweep_bands': OWN}
    | {name: 'tenfold_sliding_window_create' for name in ('parse_window_mode', 'parse_window_padding', 'parse_window_placement')}
    | {name: 'tenfold_sweep' for name in
       ('parse_output_activation', 'parse_output_reduction', 'parse_grid_interpolation')},
    'tensor.h': {'name': FIELD, 'dtype_from_name': 'tenfold_dtype_bits', 'bits': 'tenfold_dtype_bits', 'is_float': OWN, 'is_integer': OWN,
                 'byte_size': 'tenfold_dtype_bits', 'element_count': OWN, 'text': OWN},
    'version.h': {'version': 'tenfold_version'},
}
METHODS = {
    'CancelToken': {'create': 'tenfold_cancel_token_create', 'cancel': 'tenfold_cancel_token_trip', 'cancelled': OWN},
    'DeviceAllocator': {name: 'tenfold_runtime_create' for name in ('allocate', 'release')},
    'PinnedMemory': {**{name: 'tenfold_pinned_memory_get_info' for name in ('bytes', 'memory', 'pinned')},
                     'of_callers': 'tenfold_pinned_memory_register'},
    'DeviceArray': {name: 'tenfold_device_array_get_info' for name in ('bytes', 'device', 'dtype', 'memory', 'on_gpu', 'ordinal', 'shape')}
    | {'copy_from': 'tenfold_device_array_copy_from', 'copy_to': 'tenfold_device_array_copy_to', 'defined': OWN},
    'DeviceStream': {'handle': 'tenfold_device_stream_handle'},
    'Engine': {'gpu_bytes': 'tenfold_engine_gpu_bytes', 'arena_bytes': 'tenfold_engine_arena_bytes',
               'binding_index': 'tenfold_engine_find_binding',
               'bindings': 'tenfold_engine_binding', 'create_context': 'tenfold_context_create_in', 'info': 'tenfold_engine_info',
               'inspect': 'tenfold_inspection_text', 'inspect_json': 'tenfold_inspection_json', 'inspection': 'tenfold_inspection_plan',
               'labels': 'tenfold_engine_label', 'load': 'tenfold_engine_load_from', 'profile_shapes': 'tenfold_engine_profile_shape',
               'refit': 'tenfold_engine_refit', 'refittable_weights': 'tenfold_engine_weight', 'save': 'tenfold_engine_save_to',
               'serialize': 'tenfold_engine_save_to'},
    'EngineSlot': {'get': 'tenfold_engine_slot_get', 'replace': 'tenfold_engine_slot_replace'},
    'Error': {'kind': 'tenfold_status_name', 'what': 'tenfold_last_error', 'within': OWN},
    'ExecutionContext': {name: f'tenfold_context_{name}' for name in
                         ('bind', 'cancel', 'device_memory', 'last_times', 'mark_ranges', 'measure_parts', 'prepare', 'replay_runs', 'run',
                          'precompute', 'run_with', 'set_observer', 'set_profile', 'set_profiler', 'set_step_timer', 'shape', 'wait',
                          'wait_how')}
    | {'describe': 'tenfold_last_error', 'enqueue': 'tenfold_context_enqueue_with', 'own_memory': 'tenfold_context_memory',
       'set_input_shape': 'tenfold_context_set_shape'},
    'FallbackChain': {'engine': 'tenfold_fallback_chain_open', 'failures': 'tenfold_fallback_chain_failure_info',
                      'report_failure': 'tenfold_fallback_chain_report_failure',
               'open': 'tenfold_fallback_chain_open', 'restart': 'tenfold_fallback_chain_restart',
                      'candidate': 'tenfold_fallback_chain_open'},
    'Layers': {name: f'tenfold_layers_{name}' for name in
               ('add', 'is_output', 'mark_output', 'option', 'rename', 'rename_result', 'result', 'set', 'set_operand', 'finalize',
                'unmark_output')}
    | {name: 'tenfold_layers_info' for name in ('count', 'name', 'operands')}
    | {'kind': 'tenfold_layers_info', 'kinds': 'tenfold_layers_kind', 'options_of': 'tenfold_layers_option',
       'results': 'tenfold_layers_result'},
    'ModelEngines': {'any_engine': 'tenfold_model_engines_get_any', 'bindings': 'tenfold_model_open',
                     'engine_for': 'tenfold_model_engines_get', 'find': OWN, 'open_inputs': 'tenfold_model_open',
                     'served': 'tenfold_model_engines_list_served', 'wait': 'tenfold_model_engines_wait'}
    | {name: OWN for name in ('builds', 'prepare', 'report_failure', 'restart', 'way')},   # for servers, which are in C++
    'ModelError': {'problems': 'tenfold_last_problems'},
    'Network': {name: NODE for name in
                ('activation', 'add_node', 'cast', 'concatenation', 'convolution', 'deconvolution', 'dequantize', 'elementwise', 'gather',
                 'matrix_multiply', 'normalization', 'pooling', 'quantize', 'reduce', 'resize', 'resize_by', 'select', 'shape', 'shuffle',
                 'slice', 'softmax', 'top_k', 'unary')}
    | {name: 'tenfold_network_value' for name in ('describe', 'dims', 'dtype', 'name', 'producer')}
    | {name: f'tenfold_network_{name}' for name in
       ('constant', 'find', 'input', 'inputs', 'loop', 'node', 'nodes', 'outputs', 'read', 'remove', 'remove_attribute', 'remove_input',
        'remove_output', 'remove_unused', 'replace', 'scan', 'set_attribute', 'set_constant', 'set_input', 'text', 'users')}
    | {'body': 'tenfold_network_node_body', 'constant_value': 'tenfold_network_constant_data', 'if_conditional': 'tenfold_network_if',
       'mark_output': 'tenfold_network_output', 'rename': 'tenfold_network_rename_node'},
    'PlanCache': {'clear': 'tenfold_plan_cache_clear', 'find': 'tenfold_plan_cache_find', 'folder': 'tenfold_plan_cache_folder',
                  'entries': 'tenfold_plan_cache_sizes', 'trim': 'tenfold_plan_cache_trim', 'file_hash': OWN,
                  'get': 'tenfold_plan_cache_build_file', 'path': 'tenfold_plan_cache_path', 'store': 'tenfold_plan_cache_store'},
    'RetiredEngine': {'drained': 'tenfold_engine_slot_replace', 'wait': 'tenfold_engine_slot_replace'},
    'Runtime': {'impl': OWN, 'of_process': 'tenfold_runtime_get_use', 'use': 'tenfold_runtime_get_use',
                'gpu_memory': 'tenfold_runtime_gpu_memory', 'trim_gpu_memory': 'tenfold_runtime_trim_gpu_memory'},
    'RuntimeValue': {name: 'tenfold_data_kind' for name in ('empty', 'is_map', 'is_sequence', 'is_tensor')}
    | {'as_map': 'tenfold_data_keys', 'elements': 'tenfold_data_element', 'map': 'tenfold_data_map', 'sequence': 'tenfold_data_sequence',
       'tensor': 'tenfold_data_tensor_info', 'text': OWN},
    'SlidingWindow': {name: f'tenfold_sliding_window_{name}' for name in ('cut', 'place', 'starts', 'weights')}
    | {name: 'tenfold_sliding_window_info' for name in ('count', 'image', 'pad_after', 'pad_before', 'padded', 'roi')},
    'WindowStitcher': {name: f'tenfold_window_stitcher_{name}' for name in ('add', 'added', 'finish')},
    'ImageSource': {name: OWN for name in ('chunk', 'chunk_along', 'dtype', 'gpu_memory', 'memory', 'overhead', 'read', 'shape')},
    'ImageSink': {name: OWN for name in ('gpu_memory', 'memory', 'open', 'write')},
    'Tensor': {'bytes': 'tenfold_data_tensor_info', 'data': 'tenfold_data_tensor_info', 'dtype': 'tenfold_data_tensor_info',
               'raw': 'tenfold_data_tensor_info', 'rank': 'tenfold_data_tensor_info', 'shape': 'tenfold_data_tensor_info',
               'as_double': OWN, 'as_int': OWN, 'clone': 'tenfold_data_tensor', 'defined': 'tenfold_data_kind', 'mutable_data': OWN,
               'mutable_raw': OWN, 'reshaped': OWN, 'size': OWN, 'string_values': OWN, 'strings': OWN},
    'Decoder': {name: f'tenfold_decoder_{name}' for name in
                ('apply_chat_template', 'chat', 'counts', 'generate', 'generate_ids', 'info', 'load', 'prepare', 'start')}
    | {'engine': 'tenfold_decoder_prepare', 'has_chat_template': 'tenfold_decoder_info', 'tokenizer': 'tenfold_decoder_encode'},
    'DecoderSession': {name: f'tenfold_decoder_session_{name}' for name in ('append', 'append_each', 'fork', 'ids', 'size', 'truncate')},
    'Encoder': {name: OWN for name in
                ('counts', 'devices', 'encode', 'encode_into', 'encode_tokens', 'fingerprint', 'info', 'load', 'prepare', 'score',
                 'token_ids', 'tokenize', 'tokenize_pair', 'tokenizer')},
    'Tokenizer': {name: OWN for name in
                  ('decode', 'encode', 'encode_batch', 'encode_into', 'encode_pair', 'id', 'load', 'parse', 'set_padding',
                   'set_truncation', 'token', 'vocabulary_size')},   # C has no tokenizers yet
    'LatencyRecorder': {name: f'tenfold_latency_recorder_{name}' for name in
                        ('add', 'bucket_width', 'clear', 'encode', 'percentile', 'record')}
    | {name: 'tenfold_latency_recorder_summary' for name in ('count', 'max', 'mean', 'min', 'standard_deviation')}
    | {'percentile_distribution': 'tenfold_latency_recorder_distribution'},
    'MachineHold': {'refused': OWN},
    'RowRing': {name: f'tenfold_row_ring_{name}' for name in ('clear', 'filled', 'push', 'window')}
    | {name: 'tenfold_row_ring_create' for name in ('row_bytes', 'rows', 'streams')},
    'LatencyRunner': {name: f'tenfold_latency_runner_{name}' for name in
               ('backend', 'counts', 'infer', 'keep_warm', 'offset', 'open_port', 'ready', 'precompute', 'candidates', 'swap')}
    | {'bindings': 'tenfold_engine_binding', 'input_bytes': 'tenfold_latency_runner_sizes', 'output_bytes': 'tenfold_latency_runner_sizes',
       'state': OWN}
    | {'window_rows': 'tenfold_engine_window_rows'},
    'RunnerThread': {'id': 'tenfold_latency_runner_thread_id'},
    'RunnerPort': {name: f'tenfold_latency_runner_port_{name}' for name in ('counts', 'offset', 'poll', 'served', 'submit')}
    | {'bindings': 'tenfold_latency_runner_port_binding', 'input_bytes': 'tenfold_latency_runner_port_sizes', 
       'output_bytes': 'tenfold_latency_runner_port_sizes'},
    'PortServer': {'clients': 'tenfold_port_server_clients'},
    'TimingCache': {name: f'tenfold_timing_cache_{name}' for name in ('fastest', 'load', 'merge', 'parse', 'save', 'size', 'text')}
    | {'impl': OWN, 'keys': 'tenfold_timing_cache_fastest'},
}


def code_of(header):
    text = re.sub(r'//[^\n]*|/\*.*?\*/', '', header.read_text(), flags=re.S)
    return re.sub(r'^#[^\n]*', '', text, flags=re.M)


def free_functions(text):
    marked = (d for d in re.findall(r'TENFOLD_API\s+([^;{]*)', text) if not re.match(r'class|struct', d))
    return {re.search(r'(\w+)\s*\(', d).group(1) for d in marked if '(' in d}


def methods(text):
    """{class: names of its public methods}, constructors left out."""
    found = {}
    for name, body in re.findall(r'(?<!enum )class\s+(?:TENFOLD_API\s+)?(\w+)[^;{]*\{(.*?)\n\};', text, flags=re.S):
        public = body.split('\n private:')[0]
        names = re.findall(r'^\s+(?:static |explicit |template <class T> )?[\w:<>&*,\s]*?\b(~?\w+)\s*\(', public, flags=re.M)
        bases = {'Error'} if name == 'ModelError' else set()   # of its constructor's initializer
        own = {n for n in names if n.lstrip('~') != name and n not in bases and n != 'if'}
        if own:
            found[name] = own
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    c = set(re.findall(r'\b(tenfold_\w+)\s*\(', ''.join(code_of(h) for h in (folder / 'c').glob('*.h'))))
    problems, checked = [], 0

    def compare(where, names, table):
        nonlocal checked
        checked += len(names)
        problems.extend(f'{where}: {n} has no line in tests/c_names_test.py: what has C in its place?' for n in sorted(names - set(table)))
        problems.extend(f'{where}: there is no {n} any more' for n in sorted(set(table) - names))
        problems.extend(f'{where}: C has no {table[n]} for {n}' for n in sorted(names & set(table))
                        if not table[n].startswith('(') and table[n] not in c)

    for header in sorted(folder.glob('*.h')):
        if header.name in LEFT_OUT:
            continue
        text = code_of(header)
        compare(header.name, free_functions(text), FUNCTIONS.get(header.name, {}))
        for name, own in methods(text).items():
            compare(f'{header.name}, {name}', own, METHODS.get(name, {}))
    if checked < 150:
        problems.append(f'only {checked} names were found in {folder}: the headers are no longer read as they are written')
    print('\n'.join(problems) or f'C has all of it: {checked} functions and methods compared')
    sys.exit(bool(problems))


if __name__ == '__main__':
    main()
