#include "native/call/async_runs.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "native/call/call.h"
#include "native/errors.h"

namespace tenfold::python {

struct AsyncRun {
  AsyncRun(std::shared_ptr<SharedEngine> s, nb::object f, CancelToken t)
      : state(std::move(s)), future(std::move(f)), token(std::move(t)), call(*state->slots) {}
  std::shared_ptr<SharedEngine> state;
  nb::object future;
  CancelToken token;
  Call call;
  std::unique_ptr<BoundContext> runner;
};

namespace {

std::uint32_t process = 1;  // counts forks
bool closing = false;       // the interpreter ends
std::thread::id closer;     // whose thread ends it
thread_local bool notifying = false;   // this thread is a context's, and functions of a future may be called in it

// Begun and not yet told, in this process.
class Count {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void drop() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  bool none() {
    const std::lock_guard lock(mutex_);
    return count_ == 0;
  }
  void wait_for_none() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [&] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  int count_ = 0;
};
Count* all_runs = new Count;  // threads may outlive statics

// What is the use of more? The processors are busy then, or the GPU.
int max_at_once(const SharedEngine& state) {
  constexpr int kOnAGpu = 4;
  static const int processors = static_cast<int>(std::thread::hardware_concurrency());   // a question to the system
  return state.slots->on_gpu ? kOnAGpu : std::max(2, processors / std::max(state.engine.info().threads, 1) + 1);
}

void deliver(AsyncRun& run, nb::handle result, nb::handle error) {
  try {
    run.future.attr("_finish")(result.is_valid() ? result : nb::none(), error.is_valid() ? error : nb::none());
  } catch (nb::python_error& e) {  // of a callback that is no Exception: Ctrl-C, sys.exit()
    e.discard_as_unraisable("the future of a run");
  }
}

// The result, or null and the exception.
nb::object outcome_of(AsyncRun& run, Status status, nb::object& error) {
  nb::object result;
  const auto take = [&] {
    if (!status) run.runner->refuse(status);
    result = result_of(run.call, *run.runner);
  };
  return goes_well(take, error) ? result : nb::object();
}

// Called by the context's thread.
void ended(void* user, Status status) {
  if (leaving()) return;   // nobody can be told; the process ends
  stay_known();
  {
    const Locked locked;
    notifying = true;
    const std::unique_ptr<AsyncRun> run(static_cast<AsyncRun*>(user));
    const std::shared_ptr<SharedEngine> state = run->state;
    nb::object error;
    const nb::object result = outcome_of(*run, status, error);
    run->runner->ended(), run->runner->forget();
    state->runs.one_ended();
    deliver(*run, result, error);
    state->give(std::move(run->runner));   // not before: its next run would need this thread, where the callback may wait for it
  }
  all_runs->drop();
}

// Takes the run over once it is under way.
void launch(std::unique_ptr<AsyncRun>& run) {
  Borrowed runner(*run->state, run->call.on);
  runner->synchronize(run->call.on);
  bind_call(run->call, *runner, true);
  BoundContext& its = *runner;
  run->runner = runner.keep();
  AsyncRun* const handed = run.release();   // it may have ended, and gone, before begin() returns
  try {
    its.begin(handed->call.on, {.token = handed->token, .deadline = {}}, {ended, handed});
  } catch (...) {
    run.reset(handed);
    its.forget();
    run->state->give(std::move(run->runner));
    throw;
  }
}

void begin(std::unique_ptr<AsyncRun> run) {
  if (closing) {
    if (!notifying && std::this_thread::get_id() != closer) {   // it would take the interpreter's lock from the callbacks
      const Unlocked unlocked;
      stand_still();
    }
    PyErr_SetString(PyExc_RuntimeError, "no run can begin any more: the interpreter ends");
    throw nb::python_error();
  }
  SharedEngine& state = *run->state;
  state.runs.begin(std::move(run));
}

}  // namespace

AsyncRuns::AsyncRuns() : process_(process) {}
AsyncRuns::~AsyncRuns() = default;

// The parent's runs end there.
void AsyncRuns::forget_the_parents() {
  if (process_ == process) return;
  for (std::unique_ptr<AsyncRun>& run : waiting_) static_cast<void>(run.release());
  waiting_.clear(), under_way_ = 0, process_ = process;
}

void AsyncRuns::begin(std::unique_ptr<AsyncRun> run) {
  forget_the_parents();
  SharedEngine& state = *run->state;
  if (under_way_ >= max_at_once(state)) {
    waiting_.push_back(std::move(run));
    return all_runs->add();
  }
  all_runs->add(), ++under_way_;
  try {
    launch(run);
  } catch (...) {
    all_runs->drop(), one_ended();   // others may have begun to wait meanwhile
    throw;
  }
}

void AsyncRuns::one_ended() {
  --under_way_;
  while (!waiting_.empty()) {
    std::unique_ptr<AsyncRun> run = std::move(waiting_.front());
    waiting_.pop_front();
    nb::object error;
    ++under_way_;
    if (!run->token.cancelled() && goes_well([&] { launch(run); }, error)) return;
    --under_way_;
    deliver(*run, {}, error);
    run.reset();
    all_runs->drop();
  }
}

void start_call(std::shared_ptr<SharedEngine> state, nb::object future, CancelToken token, nb::handle args, nb::handle keywords) {
  auto run = std::make_unique<AsyncRun>(std::move(state), std::move(future), std::move(token));
  read_call(run->call, args, keywords);
  begin(std::move(run));
}

void start_feed(std::shared_ptr<SharedEngine> state, nb::object future, CancelToken token, nb::handle names, nb::handle feed) {
  auto run = std::make_unique<AsyncRun>(std::move(state), std::move(future), std::move(token));
  read_feed(run->call, names, feed);
  begin(std::move(run));
}

void finish_runs() {
  closer = std::this_thread::get_id(), closing = true;
  if (all_runs->none()) return;   // daemon threads need not run once more
  const Unlocked unlocked;
  all_runs->wait_for_none();
}

void forget_runs() {
  ++process;
  all_runs = new Count;   // the lock of the other may be held by a thread that is not here
}

}  // namespace tenfold::python
