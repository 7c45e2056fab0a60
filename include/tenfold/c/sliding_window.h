/* Sliding windows over images and volumes of any size (tenfold-imaging). tenfold/sliding_window.h explains the options.
 *
 * Images are [image, channel, spatial...] with 1 to 4 spatial axes, dense. */
#ifndef TENFOLD_C_SLIDING_WINDOW_H
#define TENFOLD_C_SLIDING_WINDOW_H

#include "tenfold/c/data.h"
#include "tenfold/c/log.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the windows of an image lie, and what their voxels weigh. Threads may share it. */
typedef struct tenfold_sliding_window tenfold_sliding_window;
/* Lists have one value for all axes or one for each. A null text or list, and a count of 0, mean the default. */
typedef struct {
  size_t struct_size;
  const int64_t* roi;              /* the window; 0 and less: the image's extent */
  const double* overlap;           /* 0.25 */
  const double* sigma_scale;       /* 0.125 */
  const int64_t* halo;
  int32_t roi_count, overlap_count, sigma_scale_count, halo_count;
  const char* mode;                /* "constant", "gaussian" or "halo" */
  const char* placement;           /* "fixed_step" or "even" */
  const char* padding;             /* "constant", "reflect", "replicate" or "circular" */
  const tenfold_data* weights;     /* f32 [roi...], in place of `mode`; shared, not copied; may be null */
  double cval;                     /* the value of constant padding */
} tenfold_sliding_window_options;
/* `image`: its spatial extents, 1 to 4. */
TENFOLD_API tenfold_status tenfold_sliding_window_create(const int64_t* image, int32_t rank,
                                                         const tenfold_sliding_window_options* options,
                                                         tenfold_sliding_window** windows);
TENFOLD_API void tenfold_sliding_window_free(tenfold_sliding_window* windows);
typedef struct {
  size_t struct_size;
  const int64_t *image, *roi, *padded, *pad_before, *pad_after;   /* `rank` extents each */
  int64_t count;                   /* windows of an image */
  int32_t rank;
  int32_t reserved;                /* 0 */
} tenfold_sliding_window_information;
/* Set info->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_sliding_window_info(const tenfold_sliding_window* windows,
                                                       tenfold_sliding_window_information* info);
/* Where windows begin in the padded image along an axis. On entry *count is the room at `starts`, which may be null; on
 * return it is how many there are. */
TENFOLD_API tenfold_status tenfold_sliding_window_starts(const tenfold_sliding_window* windows, int32_t axis,
                                                         int64_t* starts, int32_t* count);
/* Where a window begins in the padded image; `begin` has room for an extent of each axis, the last of which varies
 * fastest. */
TENFOLD_API tenfold_status tenfold_sliding_window_place(const tenfold_sliding_window* windows, int64_t window,
                                                        int64_t* begin);
/* f32 [roi...]; free it by tenfold_data_free(). */
TENFOLD_API tenfold_status tenfold_sliding_window_weights(const tenfold_sliding_window* windows, tenfold_data** weights);
/* Windows `first` to first + count - 1, counted over all images, as [count, channel, roi...] of `dtype` (null: that of
 * the images) at `to`, which has `bytes` bytes. `threads`: 0 takes all. */
TENFOLD_API tenfold_status tenfold_sliding_window_cut(const tenfold_sliding_window* windows, const tenfold_data* images,
                                                      int64_t first, int64_t count, const char* dtype, void* to,
                                                      size_t bytes, int32_t threads);

/* Where images come from: a function, or memory. Functions of sources, sinks and predictors are called by one thread at
 * a time; if one returns anything but TENFOLD_OK, the call ends with that status. */
/* Fills `to` with [channel, extent...] of the region of an image that begins at `begin`, dense and of the source's
 * type; `begin` and `extent` have a value for each spatial axis. */
typedef tenfold_status (*tenfold_read_region_function)(void* user, int64_t image, const int64_t* begin,
                                                       const int64_t* extent, void* to);
typedef struct {
  size_t struct_size;
  const int64_t* shape;            /* [image, channel, spatial...] */
  int32_t rank;                    /* of `shape` */
  int32_t reserved;                /* 0 */
  const char* dtype;               /* "u8", "u16", "i16", "i32", "f16", "bf16", "f32" or "f64" */
  int64_t chunk;                   /* planes of the first spatial axis that are stored together; 0: 1 */
  const void* memory;              /* the whole array where it lies dense in memory; null: `read` gives it */
  tenfold_read_region_function read;
  void* user;
  const void* gpu_memory;          /* the same in the memory of the engine's GPU; beside `read`; may be null */
  const int64_t* chunks;           /* the same as `chunk` for each spatial axis, in place of it; may be null */
  double overhead;                 /* bytes that `read` needs for itself, for each one that it fills */
} tenfold_image_source;

/* Where outputs go, counted from 0. */
/* It learns type and shape of an output before the first plane of it comes. Where it sets *memory, the output is
 * written there, and the function below is not called. */
typedef tenfold_status (*tenfold_open_output_function)(void* user, int32_t output, const char* dtype,
                                                       const int64_t* shape, int32_t rank, void** memory);
/* [channel, extent...] of a region, dense. Regions are whole planes, in ascending order, each once; in bands (`memory`
 * of a sweep) rows of planes, all of a band before the next. */
typedef tenfold_status (*tenfold_write_region_function)(void* user, int32_t output, int64_t image, const int64_t* begin,
                                                        const int64_t* extent, const void* from);
typedef struct {
  size_t struct_size;
  tenfold_open_output_function open;
  tenfold_write_region_function write;   /* may be null where `open` always sets memory */
  void* user;
  int32_t on_gpu;                  /* nonzero: `open` sets memory of the engine's GPU */
  int32_t reserved;                /* 0 */
} tenfold_image_sinks;

/* What becomes of the mean of a voxel. */
typedef struct {
  size_t struct_size;
  const char* activation;          /* null or "none", "sigmoid", "softmax" */
  const char* reduction;           /* null or "none", "argmax", "threshold" */
  const double* threshold;         /* null: 0.5 */
  int32_t threads;                 /* 0: all processors */
  int32_t grid_rank;               /* of `grid`; 0: none */
  const int64_t* grid;             /* spatial extents to which means are resampled before activation and reduction */
  const char* const* interpolation;   /* "linear" or "nearest", one for all axes or one for each; null: linear */
  int32_t interpolation_count;
  int32_t reserved;                /* 0 */
} tenfold_stitch_options;

/* Blends predictions that somebody else computes. One thread at a time. */
typedef struct tenfold_window_stitcher tenfold_window_stitcher;
/* `images`: how many there are. `sinks` is copied, and opened by the first add. `options` may be null. */
TENFOLD_API tenfold_status tenfold_window_stitcher_create(const tenfold_sliding_window* windows, int64_t images,
                                                          const tenfold_image_sinks* sinks,
                                                          const tenfold_stitch_options* options,
                                                          tenfold_window_stitcher** stitcher);
TENFOLD_API void tenfold_window_stitcher_free(tenfold_window_stitcher* stitcher);
/* Predictions of the next windows: `count` outputs [windows, channel, spatial...], dense. `weights`: f32 [roi...] of
 * these windows in place of the usual ones; may be null. */
TENFOLD_API tenfold_status tenfold_window_stitcher_add(tenfold_window_stitcher* stitcher,
                                                       const tenfold_tensor_info* outputs, int32_t count,
                                                       const tenfold_data* weights);
TENFOLD_API int64_t tenfold_window_stitcher_added(const tenfold_window_stitcher* stitcher);   /* windows so far */
/* Fails where windows are missing. */
TENFOLD_API tenfold_status tenfold_window_stitcher_finish(tenfold_window_stitcher* stitcher);

/* What a predictor gives for a batch of windows. It lives as long as the call. */
typedef struct tenfold_predictions tenfold_predictions;
/* The next output, [windows, channel, spatial...]. Its memory is read until the predictor is called again, or the sweep
 * ends. */
TENFOLD_API tenfold_status tenfold_predictions_add(tenfold_predictions* predictions, const tenfold_tensor_info* output);
/* `windows`: [windows, channel, roi...], valid until it returns; `first`: the number of the first of them. */
typedef tenfold_status (*tenfold_predict_function)(void* user, const tenfold_tensor_info* windows, int64_t first,
                                                   tenfold_predictions* predictions);
/* Engines, or a function. Of several engines the mean of their outputs counts. */
typedef struct {
  size_t struct_size;
  const tenfold_engine* const* engines;
  int32_t engine_count;            /* 0: the function predicts */
  int32_t reserved;                /* 0 */
  tenfold_predict_function predict;
  void* user;
} tenfold_window_predictor;

/* Told after each batch, in the caller's thread. Returns 0 to end the sweep as cancelled. */
typedef int32_t (*tenfold_sweep_progress_function)(void* user, int64_t done, int64_t total);
/* What a sweep took in reading its source, and in waiting for that. */
typedef struct { double reading, waiting; } tenfold_sweep_seconds;
typedef struct {
  size_t struct_size;
  const tenfold_stitch_options* stitch;   /* may be null */
  int64_t window_batch;            /* windows of a call; 0: 4 */
  const char* input;               /* the type of windows for a function; null: "f32" */
  tenfold_sweep_progress_function progress;
  void* progress_user;
  int64_t memory;                  /* bytes; beyond them the cross-section is cut into bands; 0: no bound */
  int64_t first_plane, first_row, end_row;   /* a part of the results; 0: all */
  tenfold_log_function log;        /* told of bands, and why a GPU cannot blend; may be null */
  void* log_user;
  tenfold_sweep_seconds* seconds;  /* where they are added up; may be null */
  int32_t on_host;                 /* nonzero: windows are cut and blended by the host, for engines on GPUs, too */
  int32_t axis;                    /* the spatial axis along which slabs pass; for planes and rows it is the first one */
  int32_t devices; /* 1: several engines are one network on several devices; 0: their mean */
} tenfold_sweep_options;
/* Sweeps over images along a spatial axis, from a source to sinks. `options` may be null. */
TENFOLD_API tenfold_status tenfold_sweep(const tenfold_sliding_window* windows, const tenfold_image_source* source,
                                         const tenfold_window_predictor* predictor, const tenfold_image_sinks* sinks,
                                         const tenfold_sweep_options* options);
/* The same in memory. On entry *count is the room at `outputs`; on return it is how many outputs there are, of which as
 * many as fit are given. Free each by tenfold_data_free(). */
TENFOLD_API tenfold_status tenfold_infer(const tenfold_sliding_window* windows, const tenfold_data* images,
                                         const tenfold_window_predictor* predictor, const tenfold_sweep_options* options,
                                         tenfold_data** outputs, int32_t* count);

#ifdef __cplusplus
}
#endif
#endif
