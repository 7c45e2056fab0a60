"""Networks as TensorRT has them: tensors, layers of each kind, loops and conditionals, and what is marked in them."""
