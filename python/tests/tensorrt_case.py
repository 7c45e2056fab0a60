"""What the tests of TensorRT's names share: a logger that keeps its lines."""
import tenfold.tensorrt as trt


class Lines(trt.ILogger):
    def __init__(self):
        trt.ILogger.__init__(self)
        self.lines = []

    def log(self, severity, msg):
        self.lines.append((severity, msg))

    def of(self, kind):
        return [line for severity, line in self.lines if severity == kind]

    @property
    def errors(self):
        return self.of(trt.ILogger.ERROR)

    @property
    def warnings(self):
        return self.of(trt.ILogger.WARNING)
