# Latency measurement
import time
import numpy as np

def benchmark_inference(engine, num_iterations=1000):
    latencies = []
    for _ in range(num_iterations):
        start = time.perf_counter()
        output = engine.infer(input_data)
        end = time.perf_counter()
        latencies.append((end - start) * 1000)  # Convert to ms
    
    return {
        'mean_latency_ms': np.mean(latencies),
        'p95_latency_ms': np.percentile(latencies, 95),
        'p99_latency_ms': np.percentile(latencies, 99)
    }
