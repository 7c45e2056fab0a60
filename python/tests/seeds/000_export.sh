# ONNX Export with TRT Deployment (000-75, 000-76).
# Export model to ONNX
python -m langchain_hana.gpu.export_onnx \
  --model sentence-transformers/all-mpnet-base-v2 \
  --output model.onnx

# Convert ONNX to TensorRT
trtexec --onnx=model.onnx \
  --saveEngine=model.engine \
  --fp16 \
  --workspace=1024
