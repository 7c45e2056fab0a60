/* Sliding windows used from C. Called by imaging_test.cpp. */
#include "imaging_use.h"

#include <stdlib.h>
#include <string.h>

#include "tenfold/c_api.h"

#define EXPECT(condition) do { if (!(condition)) return __LINE__; } while (0)

static const int64_t kImage[4] = {1, 2, kPlanes, kColumns};

static tenfold_status make_windows(const char* mode, tenfold_sliding_window** windows) {
  const int64_t roi[2] = {kRows, kWidth};
  const double overlap = 0.5;
  tenfold_sliding_window_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.roi = roi, options.roi_count = 2, options.overlap = &overlap, options.overlap_count = 1, options.mode = mode;
  return tenfold_sliding_window_create(kImage + 2, 2, &options, windows);
}

int tenfold_windows_from_c(void) {
  const int64_t small[1] = {3}, roi = 6;
  const double cval = 7;
  tenfold_sliding_window* windows;
  tenfold_sliding_window_options options;
  tenfold_sliding_window_information info;
  tenfold_tensor_info weights_info;
  tenfold_data *weights, *images;
  int64_t starts[3], place[2];
  int32_t count = 3;
  const int64_t shape[3] = {1, 1, 3};
  const float voxels[3] = {1, 2, 3};
  float window[6];
  info.struct_size = sizeof info, weights_info.struct_size = sizeof weights_info;
  EXPECT(make_windows("gaussian", &windows) == TENFOLD_OK);
  EXPECT(tenfold_sliding_window_info(windows, &info) == TENFOLD_OK);
  EXPECT(info.rank == 2 && info.image[0] == kPlanes && info.roi[1] == kWidth && info.padded[1] == kColumns && info.pad_before[0] == 0);
  EXPECT(tenfold_sliding_window_starts(windows, 0, starts, &count) == TENFOLD_OK);
  EXPECT(count == 5 && starts[0] == 0 && starts[1] == 2 && starts[2] == 4);   /* of 0, 2, 4, 6, 7 */
  EXPECT(info.count == 15);                                                  /* beside 0, 2, 4 */
  EXPECT(tenfold_sliding_window_starts(windows, 2, NULL, &count) == TENFOLD_INVALID_ARGUMENT);
  EXPECT(tenfold_sliding_window_place(windows, 14, place) == TENFOLD_OK && place[0] == 7 && place[1] == 4);
  EXPECT(tenfold_sliding_window_place(windows, 15, place) == TENFOLD_INVALID_ARGUMENT);
  EXPECT(tenfold_sliding_window_weights(windows, &weights) == TENFOLD_OK);
  EXPECT(tenfold_data_tensor_info(weights, &weights_info) == TENFOLD_OK && weights_info.bytes == kWindow * sizeof(float));
  EXPECT(((const float*)weights_info.data)[0] < ((const float*)weights_info.data)[kWidth + 2]);
  tenfold_sliding_window_free(windows);
  /* Given weights and padding. */
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.roi = &roi, options.roi_count = 1, options.cval = cval, options.weights = weights;
  EXPECT(tenfold_sliding_window_create(small, 1, &options, &windows) == TENFOLD_INVALID_ARGUMENT);   /* weights of another window */
  options.weights = NULL;
  EXPECT(tenfold_sliding_window_create(small, 1, &options, &windows) == TENFOLD_OK);
  EXPECT(tenfold_sliding_window_info(windows, &info) == TENFOLD_OK && info.pad_before[0] == 1 && info.pad_after[0] == 2);
  EXPECT(tenfold_data_tensor("f32", shape, 3, voxels, sizeof voxels, &images) == TENFOLD_OK);
  EXPECT(tenfold_sliding_window_cut(windows, images, 0, 1, NULL, window, sizeof window - 1, 1) == TENFOLD_INVALID_ARGUMENT);
  EXPECT(tenfold_sliding_window_cut(windows, images, 0, 1, NULL, window, sizeof window, 1) == TENFOLD_OK);
  EXPECT(window[0] == 7 && window[1] == 1 && window[3] == 3 && window[5] == 7);
  tenfold_sliding_window_free(windows);
  tenfold_data_free(images);
  tenfold_data_free(weights);
  return 0;
}

/* The image plane by plane, and planes of the output to an array. */
typedef struct {
  const float* image;
  float* output;
  float answer[4 * kWindow];   /* for as many windows as a call has */
  int64_t next_plane, told;
  int opened;
} files;

static tenfold_status read_planes(void* user, int64_t image, const int64_t* begin, const int64_t* extent, void* to) {
  const files* own = user;
  int c;
  if (image != 0 || begin[1] != 0 || extent[1] != kColumns) return TENFOLD_IO;
  for (c = 0; c < 2; ++c)
    memcpy((float*)to + c * extent[0] * kColumns, own->image + c * kVoxels + begin[0] * kColumns,
           (size_t)extent[0] * kColumns * sizeof(float));
  return TENFOLD_OK;
}
static tenfold_status open_output(void* user, int32_t output, const char* dtype, const int64_t* shape, int32_t rank, void** memory) {
  files* own = user;
  if (output != 0 || strcmp(dtype, "f32") != 0 || rank != 4 || shape[1] != 1 || *memory) return TENFOLD_INVALID_ARGUMENT;
  ++own->opened;
  return TENFOLD_OK;
}
static tenfold_status write_planes(void* user, int32_t output, int64_t image, const int64_t* begin, const int64_t* extent,
                                   const void* from) {
  files* own = user;
  if (output != 0 || image != 0 || begin[0] != own->next_plane) return TENFOLD_IO;
  memcpy(own->output + begin[0] * kColumns, from, (size_t)extent[0] * kColumns * sizeof(float));
  own->next_plane += extent[0];
  return TENFOLD_OK;
}
static void answer_windows(const float* x, int64_t count, int64_t first, float* y) {
  int64_t w;
  int i;
  for (w = 0; w < count; ++w)
    for (i = 0; i < kWindow; ++i) y[w * kWindow + i] = (x[w * 2 * kWindow + i] + (float)(first + w) / 8) * (float)(1 + i);
}
static tenfold_status predict(void* user, const tenfold_tensor_info* windows, int64_t first, tenfold_predictions* predictions) {
  files* own = user;
  const int64_t shape[4] = {windows->shape[0], 1, kRows, kWidth};
  tenfold_tensor_info output;
  if (windows->rank != 4 || windows->shape[0] > 4 || strcmp(windows->dtype, "f32") != 0) return TENFOLD_INVALID_ARGUMENT;
  answer_windows(windows->data, shape[0], first, own->answer);
  output.struct_size = sizeof output, output.dtype = "f32", output.shape = shape, output.rank = 4;
  output.data = own->answer, output.bytes = (size_t)shape[0] * kWindow * sizeof(float);
  return tenfold_predictions_add(predictions, &output);
}
static int32_t progress(void* user, int64_t done, int64_t total) {
  files* own = user;
  own->told = done;
  return done <= total;
}

static tenfold_image_sinks sinks_of(files* own) {
  tenfold_image_sinks sinks;
  sinks.struct_size = sizeof sinks, sinks.open = open_output, sinks.write = write_planes, sinks.user = own;
  return sinks;
}
static tenfold_window_predictor predictor_of(files* own) {
  tenfold_window_predictor predictor;
  memset(&predictor, 0, sizeof predictor);
  predictor.struct_size = sizeof predictor, predictor.predict = predict, predictor.user = own;
  return predictor;
}
static tenfold_image_source source_of(files* own) {
  tenfold_image_source source;
  memset(&source, 0, sizeof source);
  source.struct_size = sizeof source, source.shape = kImage, source.rank = 4, source.dtype = "f32", source.chunk = 3;
  source.read = read_planes, source.user = own;
  return source;
}

static int sweep(const tenfold_sliding_window* windows, files* own) {
  const tenfold_image_sinks sinks = sinks_of(own);
  const tenfold_window_predictor predictor = predictor_of(own);
  const tenfold_image_source source = source_of(own);
  tenfold_sweep_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options, options.window_batch = 2, options.progress = progress, options.progress_user = own;
  EXPECT(tenfold_sweep(windows, &source, &predictor, &sinks, &options) == TENFOLD_OK);
  EXPECT(own->opened == 1 && own->next_plane == kPlanes && own->told == 15);
  return 0;
}

static int stitch(const tenfold_sliding_window* windows, const tenfold_data* images, files* own) {
  const tenfold_image_sinks sinks = sinks_of(own);
  const int64_t shape[4] = {1, 1, kRows, kWidth};
  tenfold_window_stitcher* stitcher;
  tenfold_tensor_info output;
  float window[2 * kWindow];
  int64_t w;
  EXPECT(tenfold_window_stitcher_create(windows, 1, &sinks, NULL, &stitcher) == TENFOLD_OK);
  output.struct_size = sizeof output, output.dtype = "f32", output.shape = shape, output.rank = 4;
  output.data = own->answer, output.bytes = kWindow * sizeof(float);
  for (w = 0; w < 15; ++w) {
    EXPECT(tenfold_window_stitcher_finish(stitcher) == TENFOLD_INVALID_ARGUMENT);   /* windows are missing */
    EXPECT(tenfold_sliding_window_cut(windows, images, w, 1, "f32", window, sizeof window, 0) == TENFOLD_OK);
    answer_windows(window, 1, w, own->answer);
    EXPECT(tenfold_window_stitcher_add(stitcher, &output, 1, NULL) == TENFOLD_OK);
    EXPECT(tenfold_window_stitcher_added(stitcher) == w + 1);
  }
  EXPECT(tenfold_window_stitcher_add(stitcher, &output, 1, NULL) == TENFOLD_INVALID_ARGUMENT);
  EXPECT(tenfold_window_stitcher_finish(stitcher) == TENFOLD_OK);
  tenfold_window_stitcher_free(stitcher);
  return 0;
}

/* The one output of infer(). */
static int infer(const tenfold_sliding_window* windows, const tenfold_data* images, const tenfold_window_predictor* predictor, float* to) {
  tenfold_data* output = NULL;
  tenfold_tensor_info info;
  int32_t count = 1;
  info.struct_size = sizeof info;
  EXPECT(tenfold_infer(windows, images, predictor, NULL, &output, &count) == TENFOLD_OK && count == 1);
  EXPECT(tenfold_data_tensor_info(output, &info) == TENFOLD_OK && strcmp(info.dtype, "f32") == 0);
  memcpy(to, info.data, info.bytes);
  tenfold_data_free(output);
  return 0;
}

int tenfold_sweep_from_c(const float* image, float* swept, float* inferred, float* stitched) {
  tenfold_sliding_window* windows;
  tenfold_data* images;
  tenfold_window_predictor predictor;
  files own;
  int line;
  memset(&own, 0, sizeof own);
  own.image = image, own.output = swept;
  predictor = predictor_of(&own);
  EXPECT(make_windows("gaussian", &windows) == TENFOLD_OK);
  EXPECT(tenfold_data_tensor("f32", kImage, 4, image, 2 * kVoxels * sizeof(float), &images) == TENFOLD_OK);
  if ((line = sweep(windows, &own)) || (line = infer(windows, images, &predictor, inferred))) return line;
  own.output = stitched, own.next_plane = 0;
  if ((line = stitch(windows, images, &own))) return line;
  tenfold_data_free(images);
  tenfold_sliding_window_free(windows);
  return 0;
}

/* y = x * (scale + place in the window) */
static int build_ramp(float scale, tenfold_engine** engine) {
  const int64_t dims[4] = {-1, 2, kRows, kWidth}, least[4] = {1, 2, kRows, kWidth}, most[4] = {4, 2, kRows, kWidth};
  const char* const names[4] = {"n", NULL, NULL, NULL};
  float ramp[kWindow];
  tenfold_network* net;
  tenfold_value pair[2], y;
  tenfold_build_config config;
  tenfold_range range;
  int i;
  for (i = 0; i < kWindow; ++i) ramp[i] = scale + (float)i;
  EXPECT(tenfold_network_create("ramp", &net) == TENFOLD_OK);
  EXPECT(tenfold_network_input(net, "x", "f32", dims, names, 4, &pair[0]) == TENFOLD_OK);
  EXPECT(tenfold_network_constant(net, NULL, "f32", dims + 2, 2, ramp, sizeof ramp, &pair[1]) == TENFOLD_OK);
  EXPECT(tenfold_network_add_node(net, "Mul", NULL, pair, 2, NULL, 0, &y, 1) == TENFOLD_OK);
  EXPECT(tenfold_network_output(net, y, "y") == TENFOLD_OK);
  memset(&config, 0, sizeof config);
  memset(&range, 0, sizeof range);
  range.struct_size = sizeof range, range.input = "x", range.rank = 4, range.min = least, range.opt = range.max = most;
  config.struct_size = sizeof config, config.threads = 1, config.optimization_level = TENFOLD_LEVEL_UNTIMED;
  config.ranges = &range, config.range_count = 1;
  EXPECT(tenfold_build_network(net, &config, engine) == TENFOLD_OK);
  tenfold_network_free(net);
  return 0;
}

int tenfold_engines_from_c(const float* image, float* first, float* second, float* mean) {
  tenfold_engine *ramp[2], *pair[2];
  tenfold_sliding_window* windows;
  tenfold_data* images;
  tenfold_window_predictor predictor;
  float* const to[2] = {first, second};
  int i, line;
  memset(&predictor, 0, sizeof predictor);
  predictor.struct_size = sizeof predictor, predictor.engines = (const tenfold_engine* const*)pair, predictor.engine_count = 1;
  EXPECT(make_windows("gaussian", &windows) == TENFOLD_OK);
  EXPECT(tenfold_data_tensor("f32", kImage, 4, image, 2 * kVoxels * sizeof(float), &images) == TENFOLD_OK);
  for (i = 0; i < 2; ++i) {
    if ((line = build_ramp((float)(5 - 8 * i), &ramp[i]))) return line;
    pair[0] = ramp[i];
    if ((line = infer(windows, images, &predictor, to[i]))) return line;
  }
  pair[0] = ramp[0], pair[1] = ramp[1], predictor.engine_count = 2;
  if ((line = infer(windows, images, &predictor, mean))) return line;
  for (i = 0; i < 2; ++i) tenfold_engine_free(ramp[i]);
  tenfold_data_free(images);
  tenfold_sliding_window_free(windows);
  return 0;
}

static tenfold_status refuse_to_read(void* user, int64_t image, const int64_t* begin, const int64_t* extent, void* to) {
  (void)user, (void)image, (void)begin, (void)extent, (void)to;
  return TENFOLD_IO;
}
static int32_t stop_at_once(void* user, int64_t done, int64_t total) {
  (void)user, (void)done, (void)total;
  return 0;
}

int tenfold_faults_from_c(const float* image) {
  tenfold_sliding_window *windows, *none = NULL;
  tenfold_sweep_options options;
  tenfold_stitch_options stitch;
  tenfold_image_source source;
  tenfold_image_sinks sinks;
  tenfold_window_predictor predictor;
  float output[kVoxels];
  files own;
  memset(&own, 0, sizeof own);
  memset(&options, 0, sizeof options);
  memset(&stitch, 0, sizeof stitch);
  own.image = image, own.output = output;
  source = source_of(&own), sinks = sinks_of(&own), predictor = predictor_of(&own);
  options.struct_size = sizeof options, stitch.struct_size = sizeof stitch;
  EXPECT(make_windows("round", &none) == TENFOLD_INVALID_ARGUMENT && none == NULL);
  EXPECT(strstr(tenfold_last_error(), "mode 'round': expected constant, gaussian or halo") != NULL);
  EXPECT(make_windows(NULL, &windows) == TENFOLD_OK);
  source.read = refuse_to_read;
  EXPECT(tenfold_sweep(windows, &source, &predictor, &sinks, NULL) == TENFOLD_IO);
  EXPECT(strstr(tenfold_last_error(), "reading image 0 from plane 0") != NULL);
  source.read = NULL;
  EXPECT(tenfold_sweep(windows, &source, &predictor, &sinks, NULL) == TENFOLD_INVALID_ARGUMENT);
  source.read = read_planes, options.progress = stop_at_once;
  EXPECT(tenfold_sweep(windows, &source, &predictor, &sinks, &options) == TENFOLD_CANCELLED);
  options.progress = NULL, options.stitch = &stitch, stitch.reduction = "median";
  EXPECT(tenfold_sweep(windows, &source, &predictor, &sinks, &options) == TENFOLD_INVALID_ARGUMENT);
  EXPECT(strstr(tenfold_last_error(), "'median': expected none, argmax or threshold") != NULL);
  stitch.reduction = NULL, options.window_batch = 5;   /* the predictor has room for 4 */
  EXPECT(tenfold_sweep(windows, &source, &predictor, &sinks, &options) == TENFOLD_INVALID_ARGUMENT);
  EXPECT(strstr(tenfold_last_error(), "the predictor gave the status 1 for the windows from 0") != NULL);
  options.window_batch = 4, predictor.predict = NULL;
  EXPECT(tenfold_sweep(windows, &source, &predictor, &sinks, &options) == TENFOLD_INVALID_ARGUMENT);
  tenfold_sliding_window_free(windows);
  return 0;
}
