# Optimal CUDA memory allocation
class TRTInference:
    def __init__(self):
        self.cuda_ctx = cuda.Device(0).make_context()
        self.stream = cuda.Stream()
        
    def allocate_buffers(self):
        # Pre-allocate GPU memory for consistent latency
        self.d_input = cuda.mem_alloc(input_size)
        self.d_output = cuda.mem_alloc(output_size)
