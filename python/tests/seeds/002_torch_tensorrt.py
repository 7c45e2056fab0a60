# Rows 002-16 to 002-19, as they stand.
import torch_tensorrt

model = MyModel().cuda().eval()

# Compile with explicit settings
optimized = torch_tensorrt.compile(model,
    inputs=[torch_tensorrt.Input(
        min_shape=[1, 3, 224, 224],
        opt_shape=[8, 3, 224, 224],
        max_shape=[32, 3, 224, 224],
        dtype=torch.float16
    )],
    enabled_precisions={torch.float16},
    workspace_size=1 << 30,  # 1GB workspace
)

# Save for deployment
torch.jit.save(optimized, "model_trt.ts")
