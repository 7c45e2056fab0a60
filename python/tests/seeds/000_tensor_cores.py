# Tensor Core Optimization (000-64 to 000-66).
from langchain_hana.embeddings import HanaTensorRTMultiGPUEmbeddings
from langchain_hana.gpu import TensorCoreOptimizer

# Create embeddings with Tensor Core optimization
embeddings = HanaTensorRTMultiGPUEmbeddings(
    model_name="sentence-transformers/all-mpnet-base-v2",
    use_fp16=True,
    enable_tensor_cores=True
)

# Verify Tensor Core usage
optimizer = TensorCoreOptimizer()
print(f"Tensor Cores supported: {optimizer.is_supported()}")
