// Rows of streams and histograms of latencies from C.
#include "tenfold/c/latency.h"

#include "c/run/common.h"
#include "c/run/row_ring.h"
#include "tenfold/latency_recorder.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_latency_recorder {
  LatencyRecorder recorder;
};

namespace {

// A text that lives until the thread's next.
tenfold_status give_text(const tenfold_latency_recorder* recorder, const char** text, const auto& make) {
  thread_local std::string last;
  return guarded([&] {
    last = make(need(recorder, "the recorder").recorder);
    need(text, "the place for the text") = last.c_str();
  });
}

}  // namespace

extern "C" tenfold_status tenfold_row_ring_create(int64_t rows, int64_t row_bytes, int64_t streams, tenfold_row_ring** ring) {
  return guarded([&] { place(ring, "the place for the ring", [&] { return new tenfold_row_ring{RowRing(rows, row_bytes, streams)}; }); });
}
extern "C" void tenfold_row_ring_free(tenfold_row_ring* ring) { delete ring; }
extern "C" const void* tenfold_row_ring_push(tenfold_row_ring* ring, int64_t stream, const void* row) {
  return ring && row ? ring->ring.push(stream, row) : nullptr;
}
extern "C" const void* tenfold_row_ring_window(const tenfold_row_ring* ring, int64_t stream) {
  return ring ? ring->ring.window(stream) : nullptr;
}
extern "C" int64_t tenfold_row_ring_filled(const tenfold_row_ring* ring, int64_t stream) { return ring ? ring->ring.filled(stream) : 0; }
extern "C" void tenfold_row_ring_clear(tenfold_row_ring* ring, int64_t stream) {
  if (ring) ring->ring.clear(stream);
}

extern "C" tenfold_status tenfold_latency_recorder_create(tenfold_latency_recorder** recorder) {
  return guarded([&] { place(recorder, "the place for the recorder", [] { return new tenfold_latency_recorder; }); });
}
extern "C" void tenfold_latency_recorder_free(tenfold_latency_recorder* recorder) { delete recorder; }
extern "C" void tenfold_latency_recorder_record(tenfold_latency_recorder* recorder, int64_t ns) {
  if (recorder) recorder->recorder.record(ns);
}
extern "C" void tenfold_latency_recorder_add(tenfold_latency_recorder* recorder, const tenfold_latency_recorder* other) {
  if (recorder && other) recorder->recorder.add(other->recorder);
}
extern "C" void tenfold_latency_recorder_clear(tenfold_latency_recorder* recorder) {
  if (recorder) recorder->recorder.clear();
}
extern "C" tenfold_status tenfold_latency_recorder_summary(const tenfold_latency_recorder* recorder, tenfold_latency_summary* summary) {
  return guarded([&] {
    const LatencyRecorder& r = need(recorder, "the recorder").recorder;
    give(summary, {0, r.count(), r.min(), r.max(), r.mean(), r.standard_deviation()}, "the place for the summary");
  });
}
extern "C" int64_t tenfold_latency_recorder_percentile(const tenfold_latency_recorder* recorder, double percent) {
  return recorder ? recorder->recorder.percentile(percent) : 0;
}
extern "C" int64_t tenfold_latency_recorder_bucket_width(int64_t ns) { return LatencyRecorder::bucket_width(ns); }
extern "C" tenfold_status tenfold_latency_recorder_encode(const tenfold_latency_recorder* recorder, const char** text) {
  return give_text(recorder, text, [](const LatencyRecorder& r) { return r.encode(); });
}
extern "C" tenfold_status tenfold_latency_recorder_distribution(const tenfold_latency_recorder* recorder, const char** text) {
  return give_text(recorder, text, [](const LatencyRecorder& r) { return r.percentile_distribution(); });
}
extern "C" tenfold_status tenfold_latency_recorder_log(const tenfold_latency_recorder* recorder, const char* tag, double began_s,
                                                       double length_s, const char** text) {
  return give_text(recorder, text, [&](const LatencyRecorder& r) {
    const HistogramLogEntry entry{tag ? tag : "", &r, 0, length_s};
    return histogram_log(began_s, {&entry, 1});
  });
}
