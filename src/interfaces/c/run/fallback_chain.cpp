// FallbackChains from C; candidates that are models are added by the builder library.
#include "c/run/common.h"
#include "tenfold/c/fallback_chain.h"

using namespace tenfold;
using namespace tenfold::c;

extern "C" tenfold_status tenfold_fallback_chain_create(tenfold_fallback_chain** fallback_chain) {
  return guarded([&] { place(fallback_chain, "the place for the fallback_chain", [&] { return new tenfold_fallback_chain{}; }); });
}
extern "C" void tenfold_fallback_chain_free(tenfold_fallback_chain* fallback_chain) { delete fallback_chain; }
extern "C" tenfold_status tenfold_fallback_chain_add_plan(tenfold_fallback_chain* fallback_chain, const char* path,
                                                          const tenfold_load_options* options) {
  return guarded([&] {
    require(!need(fallback_chain, "the fallback chain").fallback_chain, ErrorKind::invalid_argument,
            "a candidate comes after the first was opened");
    fallback_chain->candidates.push_back(plan_candidate(&need(path, "the path"), "", options_of(options)));
  });
}
extern "C" tenfold_status tenfold_fallback_chain_open(tenfold_fallback_chain* fallback_chain, tenfold_engine** engine, int32_t* candidate) {
  return guarded([&] {
    need(engine, "the place for the engine");
    if (!need(fallback_chain, "the fallback chain").fallback_chain) fallback_chain->fallback_chain.emplace(fallback_chain->candidates);
    *engine = new tenfold_engine{fallback_chain->fallback_chain->engine()};
    if (candidate) *candidate = fallback_chain->fallback_chain->candidate();
  });
}
extern "C" tenfold_status tenfold_fallback_chain_report_failure(tenfold_fallback_chain* fallback_chain, tenfold_status status,
                                                                const char* why, int32_t* left) {
  return guarded([&] {
    require(need(fallback_chain, "the fallback chain").fallback_chain.has_value(), ErrorKind::invalid_argument,
            "no engine of the fallback chain is open that could have failed");
    const bool another = fallback_chain->fallback_chain->report_failure(
        status >= TENFOLD_RUN_NOT_READY ? ErrorKind::device : kind_of(status), why ? why : "");
    if (left) *left = another;
  });
}
extern "C" tenfold_status tenfold_fallback_chain_restart(tenfold_fallback_chain* fallback_chain) {
  return guarded([&] {
    if (need(fallback_chain, "the fallback chain").fallback_chain) fallback_chain->fallback_chain->restart();
  });
}
extern "C" int32_t tenfold_fallback_chain_failures(const tenfold_fallback_chain* fallback_chain) {
  return fallback_chain && fallback_chain->fallback_chain ? static_cast<int32_t>(fallback_chain->fallback_chain->failures().size()) : 0;
}
extern "C" tenfold_status tenfold_fallback_chain_failure_info(const tenfold_fallback_chain* fallback_chain, int32_t failure,
                                                              tenfold_fallback_chain_failure* info) {
  return guarded([&] {
    static const std::vector<FallbackChain::Failure> none;
    const auto& all = need(fallback_chain, "the fallback chain").fallback_chain ? fallback_chain->fallback_chain->failures() : none;
    const FallbackChain::Failure& f = element(all, failure, "failure");
    give(info, {0, f.candidate, static_cast<tenfold_status>(f.kind) + 1, f.name.c_str(), f.why.c_str()}, "the place for the information");
  });
}
