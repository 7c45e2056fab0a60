# Enable verbose logging
import tensorrt as trt
logger = trt.Logger(trt.Logger.VERBOSE)
