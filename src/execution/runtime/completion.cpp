// The thread of a context that runs or waits for what was enqueued, and tells when it is over.
#include "tenfold/completion.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "backends/stream.h"
#include "base/check.h"
#include "base/threads/fork.h"
#include "runtime/bindings/extras.h"
#include "runtime/device/link.h"

namespace tenfold::runtime {

// The thread keeps `Shared`, so that a callback may end the context, and with it the Completer whose thread it is in.
class Completer {
 public:
  explicit Completer(ContextState& context) : shared_(std::make_shared<Shared>(context)) {
    count_forks();
    made_in_ = fork_generation();
    thread_ = std::thread([shared = shared_] { shared->loop(); });
  }
  ~Completer() {
    if (is_of_the_parent()) {   // its thread is there alone, and may have held the lock when this process was forked
      thread_.detach();
      new std::shared_ptr<Shared>(std::move(shared_));
      return;
    }
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->ending = true;
    }
    shared_->changed.notify_all();
    is_this_thread() ? thread_.detach() : thread_.join();
  }
  Completer(const Completer&) = delete;
  Completer& operator=(const Completer&) = delete;

  bool is_of_the_parent() const noexcept { return made_in_ != fork_generation(); }
  bool busy() {
    const std::lock_guard lock(shared_->mutex);
    return shared_->busy;
  }
  // On a CPU the run has begun, so that cancel() meets it; on a GPU it is enqueued. The callback may end all of this before it returns.
  void hand_over(const RunOptions& options, Completion done) {
    const std::shared_ptr<Shared> shared = shared_;
    {
      const std::lock_guard lock(shared->mutex);
      shared->options = options, shared->done = done;
      shared->busy = true;
    }
    shared->changed.notify_all();   // who wakes finds the lock free
  }
  // In its own thread, that is in a callback, there is nothing to wait for, or no end to it.
  Status wait() {
    std::unique_lock lock(shared_->mutex);
    if (is_this_thread()) {
      if (shared_->busy) return {Status::not_ready, -1};
    } else {
      shared_->changed.wait(lock, [&] { return !shared_->busy && !shared_->notifying; });
    }
    return std::exchange(shared_->outcome, Status{});
  }

 private:
  struct Shared {
    explicit Shared(ContextState& c) : context(c) {}
    void loop() noexcept;
    Status finish_enqueued() noexcept;

    ContextState& context;   // not to be touched once `ending` was seen
    std::mutex mutex;
    std::condition_variable changed;
    bool busy = false, notifying = false, ending = false;
    RunOptions options;
    Completion done;
    Status outcome;
  };

  bool is_this_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }

  std::shared_ptr<Shared> shared_;
  std::uint32_t made_in_ = 0;
  std::thread thread_;
};

void Completer::Shared::loop() noexcept {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return busy || ending; });
    if (!busy) return;
    lock.unlock();
    const Status status = context.device ? finish_enqueued() : run_begun(context, &options);
    lock.lock();
    const Completion reported = done;
    options = {}, outcome = status;
    busy = false, notifying = true;   // now the context is the caller's again
    lock.unlock();
    if (reported.call) reported.call(reported.user, status);
    lock.lock();
    notifying = false;
    changed.notify_all();
  }
}

// What the host has to copy is the caller's before it is told.
Status Completer::Shared::finish_enqueued() noexcept {
  backends::CallersStreams* const callers = context.stream->callers();
  const Status status{callers ? callers->wait_end() : Status::ok, -1};
  return status && context.extras ? after_run(context) : status;
}

Status wait_completed(ContextState& c) noexcept {
  return c.completer && !c.completer->is_of_the_parent() ? c.completer->wait() : Status{};
}

}  // namespace tenfold::runtime

namespace tenfold {

Status enqueue_then(ExecutionContext& context, void* stream, const RunOptions& options, Completion done) noexcept {
  runtime::ContextState& c = runtime::ContextAccess::of(context);
  try {
    if (c.completer && c.completer->is_of_the_parent()) c.completer = nullptr;
    if (c.completer && c.completer->busy()) return {Status::not_ready, -1};
    if (!c.completer) c.completer = std::make_shared<runtime::Completer>(c);
    if (c.device) {
      const Status status = runtime::enqueue_context(c, stream, &options, runtime::Launch::enqueue_then);
      if (!status) return status;
    } else {
      if (stream) {
        c.run.last_error = "streams of the caller's belong to GPUs";
        return {Status::failed, -1};
      }
      runtime::begin_run(c);
    }
    c.run.outcome_counts = true;
    c.completer->hand_over(options, done);
    return {};
  } catch (...) {   // no thread, or no memory for it
    return {Status::out_of_memory, -1};
  }
}

}  // namespace tenfold
