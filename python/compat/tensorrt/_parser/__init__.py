"""From ONNX files: OnnxParser, what is wrong with a model, which parts of it are supported, and weights for a refit."""
