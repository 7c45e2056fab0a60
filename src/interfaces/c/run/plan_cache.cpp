// The plan cache from C, as far as it needs no builder.
#include "c/run/common.h"
#include "tenfold/c/plan_cache.h"

using namespace tenfold;
using namespace tenfold::c;

extern "C" tenfold_status tenfold_plan_cache_create(const char* folder, int64_t max_bytes, tenfold_plan_cache** cache) {
  return guarded([&] {
    PlanCacheOptions options{.folder = folder ? folder : ""};
    if (max_bytes != 0) options.max_bytes = max_bytes;
    place(cache, "the place for the cache", [&] { return new tenfold_plan_cache{PlanCache(options)}; });
  });
}
extern "C" void tenfold_plan_cache_free(tenfold_plan_cache* cache) { delete cache; }
extern "C" const char* tenfold_plan_cache_folder(const tenfold_plan_cache* cache) { return cache ? cache->cache.folder().c_str() : ""; }
extern "C" tenfold_status tenfold_plan_cache_path(const tenfold_plan_cache* cache, const char* key, const char* name, const char** path) {
  thread_local std::string last;
  return guarded([&] {
    last = need(cache, "the cache").cache.path(&need(key, "the key"), name ? name : "");
    need(path, "the place for the path") = last.c_str();
  });
}
extern "C" tenfold_status tenfold_plan_cache_find(const tenfold_plan_cache* cache, const char* key, const char* name,
                                                  const tenfold_load_options* options, tenfold_engine** engine) {
  return guarded([&] {
    need(engine, "the place for the engine") = nullptr;
    std::string why;
    std::optional<Engine> found = need(cache, "the cache").cache.find(&need(key, "the key"), options_of(options), name ? name : "", &why);
    if (found) *engine = new tenfold_engine{*found};
    else
      failed(TENFOLD_OK, why.c_str());
  });
}
extern "C" tenfold_status tenfold_plan_cache_store(const tenfold_plan_cache* cache, const char* key, const char* name,
                                                   const tenfold_engine* engine) {
  return guarded([&] { need(cache, "the cache").cache.store(&need(key, "the key"), need(engine, "the engine").engine, name ? name : ""); });
}
extern "C" tenfold_status tenfold_plan_cache_clear(const tenfold_plan_cache* cache, int32_t* removed) {
  return guarded([&] {
    const int count = need(cache, "the cache").cache.clear();
    if (removed) *removed = count;
  });
}
extern "C" tenfold_status tenfold_plan_cache_sizes(const tenfold_plan_cache* cache, int32_t* plans, int64_t* bytes) {
  return guarded([&] {
    const std::vector<PlanCacheEntry> entries = need(cache, "the cache").cache.entries();
    if (plans) *plans = static_cast<int32_t>(entries.size());
    if (bytes) *bytes = 0;
    for (const PlanCacheEntry& e : entries)
      if (bytes) *bytes += e.bytes;
  });
}
extern "C" tenfold_status tenfold_plan_cache_trim(const tenfold_plan_cache* cache, int64_t max_bytes, int32_t* removed) {
  return guarded([&] {
    const int count = need(cache, "the cache").cache.trim(max_bytes);
    if (removed) *removed = count;
  });
}
