"""What runs a plan: Runtime, ICudaEngine and IExecutionContext, with the memory, streams and weights that callers give."""
