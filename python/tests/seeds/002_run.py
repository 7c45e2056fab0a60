# Rows 002-30 and 002-31, as they stand.
# 3. Run inference
runtime = trt.Runtime(logger)
engine = runtime.deserialize_cuda_engine(open("model.engine", "rb").read())
context = engine.create_execution_context()

# Allocate buffers and run
# (Usually use higher-level wrapper)
