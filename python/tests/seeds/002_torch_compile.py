# Row 002-15, as it stands.
import torch

model = MyModel().cuda().eval()

# Use TensorRT backend via torch.compile
compiled = torch.compile(model, backend="tensorrt")

# First call builds engine (slow), subsequent calls fast
output = compiled(input)
