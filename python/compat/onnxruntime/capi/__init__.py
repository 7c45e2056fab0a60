"""Where scripts look for ONNX Runtime's errors, and for its native names."""
