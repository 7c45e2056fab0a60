# Rows 002-36 to 002-38, as they stand.
import torch_tensorrt

# Post-training quantization with calibration
def calibration_dataloader():
    for batch in representative_data:
        yield batch

optimized = torch_tensorrt.compile(model,
    inputs=[torch_tensorrt.Input(shape=[1, 3, 224, 224])],
    enabled_precisions={torch.int8, torch.float16},
    calibrator=torch_tensorrt.ptq.DataLoaderCalibrator(
        calibration_dataloader(),
        cache_file="calibration.cache",
        algo_type=torch_tensorrt.ptq.CalibrationAlgo.ENTROPY_CALIBRATION_2
    )
)
