#include "text/encoders/parallel_call.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "text/encoders/interrupts.h"

namespace tenfold::encoders {
namespace {

// Devices that work now; all of them are tried again where none does.
std::vector<WorkQueue::Member> members_of(const DeviceWorkers& workers, DeviceStrategy strategy) {
  const bool none = std::all_of(workers.begin(), workers.end(), [](const auto& worker) { return worker->lost(); });
  const auto cpus =
      static_cast<int>(std::count_if(workers.begin(), workers.end(), [](const auto& worker) { return !worker->place().on_gpu(); }));
  std::vector<WorkQueue::Member> members;
  for (const auto& worker : workers) {
    if (none) worker->restore();
    members.push_back({.here = !worker->lost(), .speed = worker->speed()});
    if (strategy == DeviceStrategy::memory && members.back().here) members.back().room = free_bytes(worker->place(), cpus);
  }
  return members;
}

}  // namespace

Error all_lost(const DeviceWorkers& workers, const Error& last) {
  if (workers.size() == 1) return last;
  std::string text = "no device is left";
  for (const auto& worker : workers) text += "; '" + worker->place().name + "': " + worker->work().lost;
  return {last.kind(), text};
}

ParallelCall::ParallelCall(const DeviceWorkers& workers, DeviceStrategy strategy, std::size_t turn, const OutputRequest& request,
                           const RowSink& sink, const LogCallback& log, DeviceWorker* pooler)
    : workers_(workers),
      request_(request),
      sink_(sink),
      log_(log),
      queue_(strategy, members_of(workers, strategy), turn),
      turn_(turn),
      shared_(strategy == DeviceStrategy::automatic),
      lanes_(workers.size()) {
  if (pooler && !pooler->lost()) stage_ = std::make_unique<Stage>(*pooler, request, sink, queue_, log);
}

ParallelCall::~ParallelCall() {
  queue_.stop(nullptr);
  end_lanes();  // which push into the stage
}

void ParallelCall::end_lanes() {
  for (std::thread& one : threads_) one.join();
  threads_.clear();
}

void ParallelCall::add(std::vector<WorkItem> pieces) {
  queue_.add(std::move(pieces));
  start_lanes();
}

// A first lane for each device that has work, then second ones; no more than there are pieces. Calls begin with another
// device each, so that those of one text are spread.
void ParallelCall::start_lanes() {
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < workers_.size(); ++i) waiting.push_back(queue_.waiting(i));
  for (int lane = 0; lane < 2; ++lane)
    for (std::size_t n = 0; n < workers_.size(); ++n) {
      const std::size_t i = (turn_ + n) % workers_.size();
      std::size_t& pieces = shared_ ? waiting.front() : waiting[i];
      if (pieces == 0 || lanes_[i] > lane || lane >= workers_[i]->lanes() || !queue_.here(i)) continue;
      try {
        threads_.emplace_back([this, i] { work(i); });
        ++lanes_[i], --pieces;
      } catch (const std::system_error&) {  // the system gives no more threads: others do this device's work
        if (lanes_[i] == 0)
          queue_.leave(i, std::nullopt, std::make_exception_ptr(Error(ErrorKind::out_of_memory, "the system starts no more threads")));
      }
    }
}

void ParallelCall::compute(std::size_t member, WorkItem& piece) {
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  if (!stage_ || !stage_->usable()) {
    workers_[member]->run(piece, request_, sink_);
    return queue_.done(member, piece, seconds());
  }
  std::vector<float> tokens;
  const RowSink keep = [&](std::size_t, std::span<const float> rows) { tokens.insert(tokens.end(), rows.begin(), rows.end()); };
  workers_[member]->run(piece, {.output = OutputRequest::tokens}, keep);
  stage_->push(member, std::move(piece), std::move(tokens), seconds());
}

void ParallelCall::work(std::size_t member) {
  const Interrupts interrupts([this] { return !queue_.state().stopped; });
  DeviceWorker& worker = *workers_[member];
  bool placed = false;
  while (std::optional<WorkItem> piece = queue_.take(member)) {
    try {
      if (!placed) keep_to(worker.place()), placed = true;
      compute(member, *piece);
    } catch (const Error& e) {
      if (!may_work_elsewhere(e.kind())) return queue_.stop(std::current_exception());
      // Progress before the others take the piece, so that whoever sees its rows can see why.
      lose(worker, e, queue_.anyone_beside(member), log_);
      queue_.leave(member, std::move(*piece), std::current_exception());
    } catch (...) {
      return queue_.stop(std::current_exception());
    }
  }
}

void ParallelCall::fail_with_why() {
  end_lanes();
  const bool nobody = !queue_.anyone_here();
  try {
    std::rethrow_exception(queue_.why());
  } catch (const Error& e) {
    if (!nobody) throw;
    const Error all = all_lost(workers_, e);
    for (const auto& worker : workers_) worker->restore();
    throw all;
  }
}

void ParallelCall::wait(std::size_t open, const Progress& reported) {
  for (;;) {
    const WorkQueue::State now = queue_.state();
    if (now.returned != known_.returned) start_lanes();  // a device may have got work that has no thread yet
    const bool more = now.ready != known_.ready;
    known_ = now;
    if (now.stopped) fail_with_why();
    if (more) reported(now.ready);
    if (now.open <= open) return;
    ask_whether_to_go_on();
    queue_.wait_for_change(known_, kBetweenQuestions);
  }
}

void ParallelCall::finish(const Progress& reported) {
  queue_.close();
  wait(0, reported);
  end_lanes();
}

}  // namespace tenfold::encoders
