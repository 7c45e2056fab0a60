"""What the tests of TensorRT's names share: a logger that keeps its lines, and models as networks."""
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


def parsed(logger, proto, flags=0):
    network = trt.Builder(logger).create_network(flags)
    parser = trt.OnnxParser(network, logger)
    assert parser.parse(proto.SerializeToString()), [str(parser.get_error(i)) for i in range(parser.num_errors)]
    return network
