# A script for ONNX Runtime: options, metadata, run, and the same with an IO binding.
import json

import numpy as np
import onnxruntime as ort

options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
options.intra_op_num_threads = 1
options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
options.log_severity_level = 3
providers = [p for p in ('CUDAExecutionProvider', 'CPUExecutionProvider') if p in ort.get_available_providers()]
session = ort.InferenceSession('model.onnx', sess_options=options, providers=providers)
assert session.get_providers()
meta = session.get_modelmeta()
assert meta.graph_name == 'g' and meta.version == 3
names = json.loads(meta.custom_metadata_map['names'])
assert len(names) == 10
(image,), (scores,) = session.get_inputs(), session.get_outputs()
assert (image.name, image.type, image.shape[1:]) == ('images', 'tensor(float)', [1, 28, 28])
images = np.load('inputs.npz')['images']
found = [session.run([scores.name], {image.name: images[i:i + 2]})[0] for i in range(0, len(images), 2)]

run_options = ort.RunOptions()
run_options.log_severity_level = 3
binding = session.io_binding()
value = ort.OrtValue.ortvalue_from_numpy(images, 'cpu', 0)
binding.bind_ortvalue_input(image.name, value)
binding.bind_output(scores.name, 'cpu')
session.run_with_iobinding(binding, run_options)
(together,) = binding.copy_outputs_to_cpu()
np.savez('results.npz', scores=np.concatenate(found), again=together)
