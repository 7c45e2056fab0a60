#include "text/encoders/stage.h"

#include "tenfold/internal/interrupts.h"

namespace tenfold::encoders {
namespace {

constexpr std::size_t kMaxWaiting = 4;  // pieces whose tokens' vectors are in memory

}  // namespace

Stage::Stage(DeviceWorker& worker, const OutputRequest& request, const EncodeCall& call, const RowSink& sink,
             serving::WorkQueue<WorkItem>& queue, const LogCallback& log)
    : worker_(worker), request_(request), call_(call), sink_(sink), work_queue_(queue), log_(log), thread_([this] { run(); }) {}

Stage::~Stage() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Stage::push(std::size_t member, WorkItem piece, std::vector<float> tokens, double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.size() < kMaxWaiting; });
  queue_.push_back({member, std::move(piece), std::move(tokens), seconds});
  changed_.notify_all();
}

void Stage::run() {
  const Interrupts interrupts([this] { return !work_queue_.state().stopped; });
  for (;;) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ended_ || !queue_.empty(); });
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
      changed_.notify_all();
    }
    if (!work_queue_.state().stopped) finish(std::move(work));
  }
}

void Stage::finish(Work work) {
  try {
    if (!usable()) return work_queue_.put_back(std::move(work.piece));
    serving::keep_to(worker_.place());
    worker_.pool(work.piece, work.tokens, request_, call_, sink_);
    work_queue_.done(work.member, work.piece, work.seconds);
  } catch (const Error& e) {
    if (!serving::may_work_elsewhere(e.kind())) return work_queue_.stop(std::current_exception());
    serving::lose(worker_, e, true, log_);
    work_queue_.put_back(std::move(work.piece));
  } catch (...) {
    work_queue_.stop(std::current_exception());
  }
}

}  // namespace tenfold::encoders
