# Performance Benchmarking (000-51 to 000-57).
from langchain_hana.gpu import TensorRTEmbeddings

# Create embeddings with TensorRT
embeddings = TensorRTEmbeddings(
    model_name="sentence-transformers/all-mpnet-base-v2",
    precision="fp16"
)

# Run benchmark
results = embeddings.benchmark(
    batch_sizes=[1, 8, 16, 32, 64, 128],
    iterations=100
)

# Compare precision modes
comparison = embeddings.benchmark_precision_comparison()

print(f"Single query latency: {results['single_query']['mean_latency_ms']:.2f} ms")
print(f"Batch 32 throughput: {results['batch_sizes']['32']['throughput_samples_per_second']:.2f} docs/s")

# FP16 vs FP32 speedup
if "fp16_vs_fp32_speedup" in comparison:
    print(f"FP16 speedup: {comparison['fp16_vs_fp32_speedup']:.2f}x")

# INT8 vs FP32 speedup
if "int8_vs_fp32_speedup" in comparison:
    print(f"INT8 speedup: {comparison['int8_vs_fp32_speedup']:.2f}x")
