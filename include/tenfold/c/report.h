/* What a build tried, and how long it took (tenfold-builder). tenfold/build.h explains the fields. */
#ifndef TENFOLD_C_REPORT_H
#define TENFOLD_C_REPORT_H

#include "tenfold/c/engine.h"
#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Put it into tenfold_build_config::report, and the build fills it. */
TENFOLD_API tenfold_status tenfold_report_create(tenfold_report** report);
TENFOLD_API void tenfold_report_free(tenfold_report* report);
typedef struct {
  size_t struct_size;
  double device_s, import_s, passes_s, check_s, tune_s, assemble_s, open_s;
  int32_t timed, cache_hits, timed_again, disturbed, steps;
  double disturbance;
  int32_t overflow_checked_on; /* TENFOLD_CHECKED_*: the inputs that the check of fp16 ran */
  int32_t wide, notes;         /* how many entries tenfold_report_wide() and tenfold_report_note() have */
  double tuned_ms;             /* what all steps take by the tuner's times; -1: nothing was timed */
} tenfold_report_info;
enum { TENFOLD_CHECKED_NOTHING = 0, TENFOLD_CHECKED_RANDOM_INPUTS, TENFOLD_CHECKED_TYPICAL_INPUTS };
TENFOLD_API tenfold_status tenfold_report_get(const tenfold_report* report, tenfold_report_info* info);
typedef struct {
  size_t struct_size;
  const char *node, *problem;
  int32_t tactics;
} tenfold_report_step_info;
TENFOLD_API tenfold_status tenfold_report_step(const tenfold_report* report, int32_t step, tenfold_report_step_info* info);
typedef struct {
  size_t struct_size;
  const char *tactic, *config, *verdict;   /* verdict: why it was not timed; "": it was timed */
  double nanoseconds;                      /* -1: not timed */
  int32_t chosen;
} tenfold_report_tactic_info;
TENFOLD_API tenfold_status tenfold_report_tactic(const tenfold_report* report, int32_t step, int32_t tactic,
                                                 tenfold_report_tactic_info* info);
/* A node whose result stays in f32 in a plan of f16, because it became as large as `largest`. */
typedef struct {
  size_t struct_size;
  const char *node, *op;
  double largest;
} tenfold_wide_info;
TENFOLD_API tenfold_status tenfold_report_wide(const tenfold_report* report, int32_t index, tenfold_wide_info* info);
/* How many layers of the model compute in a type, "f16". */
TENFOLD_API tenfold_status tenfold_report_layers_in(const tenfold_report* report, const char* dtype, int32_t* layers);
/* Gives a note about a request that could not be met, or about what will be slow. */
TENFOLD_API tenfold_status tenfold_report_note(const tenfold_report* report, int32_t index, tenfold_note* note);

#ifdef __cplusplus
}
#endif
#endif
