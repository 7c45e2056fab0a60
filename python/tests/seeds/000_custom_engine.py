# Custom TensorRT Engine Configuration (000-68 to 000-71).
import tensorrt as trt
from langchain_hana.gpu import TensorRTEmbeddings

class CustomTensorRTEmbeddings(TensorRTEmbeddings):
    def _build_engine(self, engine_path, trt_logger):
        # ... custom engine building logic ...
        
        # Configure builder with custom parameters
        config = builder.create_builder_config()
        config.max_workspace_size = 2 << 30  # 2 GB workspace
        
        # Enable avx2 and sse optimizations
        builder_flag = 1 << int(trt.BuilderFlag.FP16) | 1 << int(trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS)
        config.set_flags(builder_flag)
        
        # ... rest of engine building logic ...
