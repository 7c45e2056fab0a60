/* 8 bits for plain models, from samples (tenfold-builder). tenfold/quantize.h explains the fields. */
#ifndef TENFOLD_C_QUANTIZE_H
#define TENFOLD_C_QUANTIZE_H

#include "tenfold/c/data.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The sample that a tenfold_sample_function fills. It lives as long as the call. */
typedef struct tenfold_sample tenfold_sample;
/* Gives a sample the value of one input; the data is shared, not copied. */
TENFOLD_API tenfold_status tenfold_sample_set(tenfold_sample* sample, const char* input, const tenfold_data* data);
/* Returns 1 if there is a sample of this index, which it has filled, 0 if there are no more, and less to end the build
 * as cancelled. */
typedef int32_t (*tenfold_sample_function)(void* user, int32_t index, tenfold_sample* sample);
typedef struct {           /* the range of one input; all three shapes have `rank` extents */
  size_t struct_size;
  const char* input;
  int32_t profile, rank;   /* profiles are numbered from 0 without gaps */
  const int64_t *min, *opt, *max;
} tenfold_range;
/* In tenfold_build_config::calibration. A field of 0 or null means the default. */
typedef struct {
  size_t struct_size;
  tenfold_sample_function sample; /* may be null where the cache exists */
  void* sample_user;
  int32_t samples;
  const char* method;             /* "auto", "entropy", "minmax", "mse", "percentile" or "dynamic" */
  const char* cache;              /* a file in the form of TensorRT's caches */
  const char* const* corrections;    /* "equalize", "smooth", "round", "bias": tried in this order */
  int32_t correction_count;           /* 0: all of them; -1: none */
  int32_t profile;                /* whose shapes samples have */
  const char* const* types;       /* "i8", "f8e4m3fn": types that layers may be quantized to, the default first */
  int32_t type_count;             /* 0: i8; -1: none, samples show errors alone */
  int32_t shape_count;            /* 0: samples have the shapes of `profile` */
  const tenfold_range* shapes;    /* the shapes of samples; their `profile` is 0 */
} tenfold_calibration;

/* In tenfold_build_config::budget: how far outputs may be from the f32 model's. The calibration's data shows it. */
typedef struct {
  const char* output;
  double max_error;
} tenfold_output_bound;
/* Answers by sample, as a tenfold_measure_function gets them. They live as long as the call. */
typedef struct tenfold_answers tenfold_answers;
TENFOLD_API int32_t tenfold_answers_samples(const tenfold_answers* answers);
/* An output that is a tensor, by its name; free it by tenfold_data_free(). */
TENFOLD_API tenfold_status tenfold_answers_output(const tenfold_answers* answers, int32_t sample, const char* output,
                                                  tenfold_data** made);
/* The error of answers beside the f32 model's. Returns 0, or anything else to end the build as cancelled. */
typedef int32_t (*tenfold_measure_function)(void* user, const tenfold_answers* reference, const tenfold_answers* candidate,
                                            double* error);
typedef struct {
  size_t struct_size;
  double max_error;               /* of each output that `outputs` does not name; above 0 */
  const tenfold_output_bound* outputs;
  int32_t output_count;
  int32_t reserved;               /* 0 */
  const char* metric;             /* null or "l2", "linf", "cosine", "top1", "top5" */
  double search_seconds;          /* 0: 300 */
  int64_t search_memory;          /* bytes; 0: 2 GiB */
  const int64_t* labels;          /* with top1 and top5: the class of sample 0, 1 and so on, -1: not known; may be null */
  int64_t label_count;
  tenfold_measure_function measure; /* in place of `metric`; may be null */
  void* measure_user;
} tenfold_error_budget;

/* What a calibration did. */
typedef struct {
  size_t struct_size;
  const char* method;
  int32_t samples, values, compared;
  int32_t without_range, errors; /* how many entries the functions below have */
  double seconds;
  int32_t corrections;               /* that were tried */
  int32_t reserved;               /* 0 */
} tenfold_calibration_info;
typedef struct {
  size_t struct_size;
  const char* name;
  double before, after;           /* the relative l2 error of all outputs together */
  int32_t kept;
  int32_t reserved;               /* 0 */
} tenfold_correction;
/* Fails with TENFOLD_INVALID_ARGUMENT where the build had no calibration. Text lives as long as the report. */
TENFOLD_API tenfold_status tenfold_report_calibration(const tenfold_report* report, tenfold_calibration_info* info);
TENFOLD_API tenfold_status tenfold_report_without_range(const tenfold_report* report, int32_t index, const char** value);
TENFOLD_API tenfold_status tenfold_report_correction(const tenfold_report* report, int32_t index, tenfold_correction* correction);
/* What the search within an error budget did. */
typedef struct {
  size_t struct_size;
  int32_t plans, layers;          /* how many entries the two functions below have */
  int32_t samples, met, out_of_time;
  double seconds;
} tenfold_budget_info;
typedef struct {
  size_t struct_size;
  const char* name;
  double error, low, high, milliseconds;   /* milliseconds: of a run, measured; -1: it was not */
  int64_t weight_bytes;
  int32_t within, taken;
  double tuned_milliseconds;      /* -1: nothing was timed */
} tenfold_budget_plan;
typedef struct {
  size_t struct_size;
  const char *layer, *op;
  double error, saved_milliseconds;
  int32_t wide;
  const char *type, *advice;
} tenfold_budget_layer;
/* Fails with TENFOLD_INVALID_ARGUMENT where the build had no budget. */
TENFOLD_API tenfold_status tenfold_report_budget(const tenfold_report* report, tenfold_budget_info* info);
TENFOLD_API tenfold_status tenfold_report_budget_plan(const tenfold_report* report, int32_t index, tenfold_budget_plan* plan);
/* The share of its multiplications that a plan does in a type ("i8", "f32"). */
TENFOLD_API tenfold_status tenfold_report_budget_work(const tenfold_report* report, int32_t plan, const char* dtype, double* share);
TENFOLD_API tenfold_status tenfold_report_budget_layer(const tenfold_report* report, int32_t index, tenfold_budget_layer* layer);
TENFOLD_API tenfold_status tenfold_report_output_error(const tenfold_report* report, int32_t index, const char** output,
                                                       double* relative_l2);

#ifdef __cplusplus
}
#endif
#endif
