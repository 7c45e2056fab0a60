"""TensorRT's plug-ins on tenfold.plugins: fields and shapes, what users derive from, the registry, and the operators that ask them."""
