/* The last rows of streams, and histograms of latencies. tenfold/row_ring.h and latency_recorder.h say more. */
#ifndef TENFOLD_C_LATENCY_H
#define TENFOLD_C_LATENCY_H

#include "tenfold/c/status.h"
#include "tenfold/c/types.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tenfold_row_ring tenfold_row_ring;
TENFOLD_API tenfold_status tenfold_row_ring_create(int64_t rows, int64_t row_bytes, int64_t streams, tenfold_row_ring** ring);
TENFOLD_API void tenfold_row_ring_free(tenfold_row_ring* ring);
/* The window after the push: the last rows in one piece, the oldest first. Null: there is no such stream, or the row is
 * null. */
TENFOLD_API const void* tenfold_row_ring_push(tenfold_row_ring* ring, int64_t stream, const void* row);
TENFOLD_API const void* tenfold_row_ring_window(const tenfold_row_ring* ring, int64_t stream);
TENFOLD_API int64_t tenfold_row_ring_filled(const tenfold_row_ring* ring, int64_t stream);
TENFOLD_API void tenfold_row_ring_clear(tenfold_row_ring* ring, int64_t stream);

typedef struct tenfold_latency_recorder tenfold_latency_recorder;
TENFOLD_API tenfold_status tenfold_latency_recorder_create(tenfold_latency_recorder** recorder);
TENFOLD_API void tenfold_latency_recorder_free(tenfold_latency_recorder* recorder);
TENFOLD_API void tenfold_latency_recorder_record(tenfold_latency_recorder* recorder, int64_t ns);
TENFOLD_API void tenfold_latency_recorder_add(tenfold_latency_recorder* recorder, const tenfold_latency_recorder* other);
TENFOLD_API void tenfold_latency_recorder_clear(tenfold_latency_recorder* recorder);
typedef struct {
  size_t struct_size;
  uint64_t count;
  int64_t min_ns, max_ns;
  double mean_ns, standard_deviation_ns;
} tenfold_latency_summary;
TENFOLD_API tenfold_status tenfold_latency_recorder_summary(const tenfold_latency_recorder* recorder,
                                                            tenfold_latency_summary* summary);
TENFOLD_API int64_t tenfold_latency_recorder_percentile(const tenfold_latency_recorder* recorder, double percent);
TENFOLD_API int64_t tenfold_latency_recorder_bucket_width(int64_t ns);
/* HdrHistogram's texts: an encoded histogram, a percentile distribution, a log with this recorder alone (`tag` may be
 * null). Valid until this thread's next call of one of them. */
TENFOLD_API tenfold_status tenfold_latency_recorder_encode(const tenfold_latency_recorder* recorder, const char** text);
TENFOLD_API tenfold_status tenfold_latency_recorder_distribution(const tenfold_latency_recorder* recorder, const char** text);
TENFOLD_API tenfold_status tenfold_latency_recorder_log(const tenfold_latency_recorder* recorder, const char* tag,
                                                        double began_s, double length_s, const char** text);

#ifdef __cplusplus
}
#endif
#endif
