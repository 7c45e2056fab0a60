// Reports of builds and timing caches from C.
#include "c/build/builder.h"
#include "tenfold/c/report.h"
#include "tenfold/c/timing_cache.h"

using namespace tenfold;
using namespace tenfold::c;

extern "C" tenfold_status tenfold_report_create(tenfold_report** report) {
  return guarded([&] { place(report, "the place for the report", [&] { return new tenfold_report{}; }); });
}
extern "C" void tenfold_report_free(tenfold_report* report) { delete report; }
extern "C" tenfold_status tenfold_report_get(const tenfold_report* report, tenfold_report_info* info) {
  return guarded([&] {
    const BuildReport& r = need(report, "the report").report;
    give(info,
         {0, r.device_s, r.import_s, r.passes_s, r.check_s, r.tune_s, r.assemble_s, r.open_s, r.timed, r.cache_hits, r.timed_again,
          r.disturbed, static_cast<std::int32_t>(r.steps.size()), r.disturbance, static_cast<std::int32_t>(r.overflow_checked_on),
          static_cast<std::int32_t>(r.kept_in_f32.size()), static_cast<std::int32_t>(r.notes.size()), r.tuned_ms},
         "the place for the information");
  });
}
static_assert(static_cast<int>(CheckedOn::typical_inputs) == TENFOLD_CHECKED_TYPICAL_INPUTS);
extern "C" tenfold_status tenfold_report_wide(const tenfold_report* report, int32_t index, tenfold_wide_info* info) {
  return guarded([&] {
    const WideReport& w = element(need(report, "the report").report.kept_in_f32, index, "node that stays in f32");
    give(info, {0, w.node.c_str(), w.op.c_str(), w.largest}, "the place for the information");
  });
}
extern "C" tenfold_status tenfold_report_layers_in(const tenfold_report* report, const char* dtype, int32_t* layers) {
  return guarded([&] {
    const std::map<DType, int>& counts = need(report, "the report").report.layers_by_type;
    const auto at = counts.find(dtype_of(&need(dtype, "the type")));
    need(layers, "the place for the number") = at == counts.end() ? 0 : at->second;
  });
}
extern "C" tenfold_status tenfold_report_note(const tenfold_report* report, int32_t index, tenfold_note* note) {
  return guarded(
      [&] { give(note, information(element(need(report, "the report").report.notes, index, "note")), "the place for the note"); });
}
extern "C" tenfold_status tenfold_report_step(const tenfold_report* report, int32_t step, tenfold_report_step_info* info) {
  return guarded([&] {
    const StepReport& s = element(need(report, "the report").report.steps, step, "step");
    give(info, {0, s.node.c_str(), s.problem.c_str(), static_cast<std::int32_t>(s.tried.size())}, "the place for the information");
  });
}
extern "C" tenfold_status tenfold_report_tactic(const tenfold_report* report, int32_t step, int32_t tactic,
                                                tenfold_report_tactic_info* info) {
  return guarded([&] {
    const TacticReport& t = element(element(need(report, "the report").report.steps, step, "step").tried, tactic, "tactic");
    give(info, {0, t.tactic.c_str(), t.config.c_str(), t.verdict.c_str(), t.nanoseconds, t.chosen}, "the place for the information");
  });
}

extern "C" tenfold_status tenfold_timing_cache_create(tenfold_timing_cache** cache) {
  return guarded([&] {
    place(cache, "the place for the cache",
          [&] { return new tenfold_timing_cache{std::make_shared<TimingCache>()}; });
  });
}
extern "C" tenfold_status tenfold_timing_cache_load(const char* path, tenfold_timing_cache** cache) {
  return guarded([&] {
    place(cache, "the place for the cache",
          [&] { return new tenfold_timing_cache{TimingCache::load(&need(path, "the path"))}; });
  });
}
extern "C" tenfold_status tenfold_timing_cache_parse(const char* text, size_t bytes, tenfold_timing_cache** cache) {
  return guarded([&] {
    place(cache, "the place for the cache", [&] { return new tenfold_timing_cache{TimingCache::parse({&need(text, "the text"), bytes})}; });
  });
}
extern "C" void tenfold_timing_cache_free(tenfold_timing_cache* cache) { delete cache; }
extern "C" tenfold_status tenfold_timing_cache_save(tenfold_timing_cache* cache, const char* path) {
  return guarded([&] { need(cache, "the cache").cache->save(&need(path, "the path")); });
}
extern "C" tenfold_status tenfold_timing_cache_merge(tenfold_timing_cache* cache, const tenfold_timing_cache* other) {
  return guarded([&] { need(cache, "the cache").cache->merge(*need(other, "the other cache").cache); });
}
extern "C" tenfold_status tenfold_timing_cache_fastest(tenfold_timing_cache* cache, int32_t index, tenfold_fastest_tactic* fastest) {
  return guarded([&] {
    tenfold_timing_cache& c = need(cache, "the cache");
    const std::vector<std::string> keys = c.cache->keys();
    c.key = element(keys, index, "key");
    c.fastest = c.cache->fastest(c.key).value();
    give(fastest, {0, c.key.c_str(), c.fastest.tactic.c_str(), c.fastest.config.c_str(), c.fastest.nanoseconds},
         "the place for the tactic");
  });
}
extern "C" int64_t tenfold_timing_cache_size(const tenfold_timing_cache* cache) {
  return cache ? static_cast<int64_t>(cache->cache->size()) : 0;
}
extern "C" tenfold_status tenfold_timing_cache_text(tenfold_timing_cache* cache, const char** text, size_t* bytes) {
  return guarded([&] {
    tenfold_timing_cache& c = need(cache, "the cache");   // before it is looked into
    c.text = c.cache->text();
    need(text, "the place for the text") = c.text.c_str();
    if (bytes) *bytes = c.text.size();
  });
}
