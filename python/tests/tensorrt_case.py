"""What the tests of TensorRT's names share: a logger that keeps its lines, and models as networks."""
from case import tanh_model

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


def tanh_build(logger, level=0):
    """A builder, the network of tanh_model() and a configuration with its profile."""
    builder = trt.Builder(logger)
    config, profile = builder.create_builder_config(), builder.create_optimization_profile()
    profile.set_shape('x', (1, 6), (4, 6), (8, 6))
    config.add_optimization_profile(profile)
    config.builder_optimization_level = level
    return builder, parsed(logger, tanh_model()), config
