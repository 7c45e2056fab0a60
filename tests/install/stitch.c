/* An image through windows that overlap, from C by an installed imaging library: every voxel is negated. */
#include <stdio.h>

#include "tenfold/c_api.h"

static tenfold_status negate(void* user, const tenfold_tensor_info* windows, int64_t first, tenfold_predictions* predictions) {
  static float answer[4 * 16];   /* as many windows as a call has */
  const float* const x = windows->data;
  tenfold_tensor_info output = *windows;
  size_t i;
  (void)user, (void)first;
  if (windows->bytes > sizeof answer) return TENFOLD_INVALID_ARGUMENT;
  for (i = 0; i < windows->bytes / sizeof(float); ++i) answer[i] = -x[i];
  output.data = answer;
  return tenfold_predictions_add(predictions, &output);
}

int main(void) {
  const int64_t shape[4] = {1, 1, 9, 7}, roi = 4;
  const tenfold_sliding_window_options options = {.struct_size = sizeof options, .roi = &roi, .roi_count = 1, .mode = "gaussian"};
  const tenfold_window_predictor predictor = {.struct_size = sizeof predictor, .predict = negate};
  tenfold_sliding_window* windows = NULL;
  tenfold_data *image = NULL, *result = NULL;
  tenfold_tensor_info info = {.struct_size = sizeof info};
  float voxels[63];
  int32_t count = 1;
  int i, right;
  for (i = 0; i < 63; ++i) voxels[i] = (float)i;
  if (tenfold_sliding_window_create(shape + 2, 2, &options, &windows) ||
      tenfold_data_tensor("f32", shape, 4, voxels, sizeof voxels, &image) ||
      tenfold_infer(windows, image, &predictor, NULL, &result, &count) || tenfold_data_tensor_info(result, &info))
    return fprintf(stderr, "%s\n", tenfold_last_error()), 1;
  right = count == 1 && info.bytes == sizeof voxels;
  for (i = 0; right && i < 63; ++i) {
    const float off = ((const float*)info.data)[i] + (float)i;
    right = -1e-4f < off && off < 1e-4f;
  }
  tenfold_data_free(result), tenfold_data_free(image), tenfold_sliding_window_free(windows);
  puts(right ? "right" : "wrong");
  return 0;
}
