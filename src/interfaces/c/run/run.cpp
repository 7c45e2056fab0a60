// Options of runs from C: tokens, deadlines, completions.
#include "tenfold/c/run.h"

#include "c/run/common.h"
#include "tenfold/completion.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_cancel_token {
  CancelToken token = CancelToken::create();
};

RunOptions tenfold::c::options_of(const tenfold_run_options* given) {
  RunOptions options;
  if (!given) return options;
  const tenfold_run_options o = taken(given, "the run options");
  if (o.token) options.token = o.token->token;
  using Clock = std::chrono::steady_clock;
  if (o.nanoseconds != 0) {   // as many as there are stand for no deadline
    const Clock::time_point now = Clock::now();
    const std::chrono::nanoseconds max = Clock::time_point::max() - now;
    options.deadline = now + std::min(std::chrono::nanoseconds(o.nanoseconds), max);
  }
  return options;
}

namespace {

// act(context, options), whose status is told.
template <class Act>
tenfold_status run(tenfold_context* context, const tenfold_run_options* given, Act act) noexcept {
  tenfold_status status = TENFOLD_OK;
  const tenfold_status arguments = guarded([&] {
    ExecutionContext& own = *need(context, "the context").context;
    status = outcome(own, act(own, options_of(given)));
  });
  return arguments != TENFOLD_OK ? arguments : status;
}

// A callback of C behind one of C++; it goes once it was called.
struct Reported {
  tenfold_completion done;
  void* user;
  static void call(void* self, Status status) {
    const std::unique_ptr<Reported> reported(static_cast<Reported*>(self));
    if (reported->done) reported->done(reported->user, status ? TENFOLD_OK : run_status(status.code));
  }
};

}  // namespace

extern "C" tenfold_status tenfold_cancel_token_create(tenfold_cancel_token** token) {
  return guarded([&] { place(token, "the place for the token", [&] { return new tenfold_cancel_token; }); });
}
extern "C" void tenfold_cancel_token_free(tenfold_cancel_token* token) { delete token; }
extern "C" void tenfold_cancel_token_trip(tenfold_cancel_token* token) {
  if (token) token->token.cancel();
}

extern "C" tenfold_status tenfold_context_run_with(tenfold_context* context, const tenfold_run_options* options) {
  return run(context, options, [](ExecutionContext& c, const RunOptions& o) { return c.run_with(o); });
}
extern "C" tenfold_status tenfold_context_enqueue_with(tenfold_context* context, void* stream, const tenfold_run_options* options) {
  return run(context, options, [&](ExecutionContext& c, const RunOptions& o) { return c.enqueue(stream, o); });
}
extern "C" tenfold_status tenfold_context_enqueue_then(tenfold_context* context, void* stream, const tenfold_run_options* options,
                                                       tenfold_completion done, void* user) {
  return run(context, options, [&](ExecutionContext& c, const RunOptions& o) {
    auto reported = std::make_unique<Reported>(Reported{done, user});
    const Status status = enqueue_then(c, stream, o, {Reported::call, reported.get()});
    if (status) reported.release();
    return status;
  });
}
