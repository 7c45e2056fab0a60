// The thread of a context that runs or waits for what was enqueued, and tells when it is over.
#include "tenfold/completion.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "runtime/extras.h"
#include "runtime/state.h"

namespace tenfold::runtime {

class Completer {
 public:
  explicit Completer(ContextState& context) : context_(context), thread_([this] { loop(); }) {}
  ~Completer() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Completer(const Completer&) = delete;
  Completer& operator=(const Completer&) = delete;

  bool busy() {
    const std::lock_guard lock(mutex_);
    return busy_;
  }
  // On a CPU the run has begun, so that cancel() meets it; on a GPU it is enqueued.
  void hand_over(const RunOptions& options, Completion done) {
    const std::lock_guard lock(mutex_);
    options_ = options, done_ = done;
    busy_ = true;
    changed_.notify_all();
  }
  Status wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !busy_ && !telling_; });
    return std::exchange(outcome_, Status{});
  }

 private:
  void loop() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return busy_ || ending_; });
      if (!busy_) return;
      lock.unlock();
      const Status status = is_staged(*context_.engine) ? finish_enqueued() : run_begun(context_, &options_);
      lock.lock();
      const Completion done = done_;
      outcome_ = status;
      busy_ = false, telling_ = true;   // now the context is the caller's again
      lock.unlock();
      if (done.call) done.call(done.user, status);
      lock.lock();
      telling_ = false;
      changed_.notify_all();
    }
  }

  // What the host has to copy is the caller's before it is told.
  Status finish_enqueued() noexcept {
    const Status status{context_.stream->wait_end(), -1};
    return status && context_.extras ? after_run(context_) : status;
  }

  ContextState& context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false, telling_ = false, ending_ = false;
  RunOptions options_;
  Completion done_;
  Status outcome_;
  std::thread thread_;   // last: it uses all the others
};

Status wait_completed(ContextState& c) noexcept { return c.completer ? c.completer->wait() : Status{}; }

}  // namespace tenfold::runtime

namespace tenfold {

Status enqueue_then(ExecutionContext& context, void* stream, const RunOptions& options, Completion done) noexcept {
  runtime::ContextState& c = runtime::ContextAccess::of(context);
  try {
    if (c.completer && c.completer->busy()) return {Status::not_ready, -1};
    if (!c.completer) c.completer = std::make_shared<runtime::Completer>(c);
    if (runtime::is_staged(*c.engine)) {
      c.notes_end = true;
      const Status status = runtime::enqueue_context(c, stream, &options);
      c.notes_end = false;
      if (!status) return status;
    } else {
      if (stream) {
        c.last_error = "streams of the caller's belong to GPUs";
        return {Status::failed, -1};
      }
      runtime::begin_run(c);
    }
    c.completer->hand_over(options, done);
    c.outcome_counts = true;
    return {};
  } catch (...) {   // no thread, or no memory for it
    return {Status::out_of_memory, -1};
  }
}

}  // namespace tenfold
