# pattern_engine/trt_engine.py
class TRTEngine:
    def __init__(self, engine_path: str):
        self.engine = self.load_engine(engine_path)
        self.context = self.engine.create_execution_context()
    
    def infer(self, input_data: np.ndarray) -> np.ndarray:
        # TensorRT inference with CUDA memory management
        return self.execute_inference(input_data)
