// Ladders from C; rungs that are models are added by the builder library.
#include "api_run/c_common.h"
#include "tenfold/c/ladder.h"

using namespace tenfold;
using namespace tenfold::c;

extern "C" tenfold_status tenfold_ladder_create(tenfold_ladder** ladder) {
  return guarded([&] { place(ladder, "the place for the ladder", [&] { return new tenfold_ladder{}; }); });
}
extern "C" void tenfold_ladder_free(tenfold_ladder* ladder) { delete ladder; }
extern "C" tenfold_status tenfold_ladder_add_plan(tenfold_ladder* ladder, const char* path, const tenfold_load_options* options) {
  return guarded([&] {
    require(!need(ladder, "the ladder").ladder, ErrorKind::invalid_argument, "a rung comes after the first was opened");
    ladder->rungs.push_back(plan_rung(&need(path, "the path"), "", options_of(options)));
  });
}
extern "C" tenfold_status tenfold_ladder_open(tenfold_ladder* ladder, tenfold_engine** engine, int32_t* rung) {
  return guarded([&] {
    need(engine, "the place for the engine");
    if (!need(ladder, "the ladder").ladder) ladder->ladder.emplace(ladder->rungs);
    *engine = new tenfold_engine{ladder->ladder->engine()};
    if (rung) *rung = ladder->ladder->rung();
  });
}
extern "C" tenfold_status tenfold_ladder_hand_on(tenfold_ladder* ladder, tenfold_status status, const char* why, int32_t* left) {
  return guarded([&] {
    require(need(ladder, "the ladder").ladder.has_value(), ErrorKind::invalid_argument,
            "no engine of the ladder is open that could have failed");
    const bool another = ladder->ladder->hand_on(status >= TENFOLD_RUN_NOT_READY ? ErrorKind::device : kind_of(status), why ? why : "");
    if (left) *left = another;
  });
}
extern "C" tenfold_status tenfold_ladder_restart(tenfold_ladder* ladder) {
  return guarded([&] {
    if (need(ladder, "the ladder").ladder) ladder->ladder->restart();
  });
}
extern "C" int32_t tenfold_ladder_failures(const tenfold_ladder* ladder) {
  return ladder && ladder->ladder ? static_cast<int32_t>(ladder->ladder->failures().size()) : 0;
}
extern "C" tenfold_status tenfold_ladder_failure_info(const tenfold_ladder* ladder, int32_t failure, tenfold_ladder_failure* info) {
  return guarded([&] {
    static const std::vector<Ladder::Failure> none;
    const auto& all = need(ladder, "the ladder").ladder ? ladder->ladder->failures() : none;
    const Ladder::Failure& f = element(all, failure, "failure");
    give(info, {0, f.rung, static_cast<tenfold_status>(f.kind) + 1, f.name.c_str(), f.why.c_str()}, "the place for the information");
  });
}
