#include "text/encoders/device_pool.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <set>
#include <thread>

#include "tenfold/runtime.h"
#include "text/fail.h"

namespace tenfold::encoders {

using tokenizing::fail;

namespace {

constexpr std::size_t kWindow = 16384;  // texts whose ids are held, and sorted, at once

void report_progress(const EncodeCall& call, std::size_t ready, std::size_t texts) {
  throw_if_cancelled();
  if (call.progress && !call.progress(ready, texts)) fail(ErrorKind::cancelled, "encoding was cancelled by its progress callback");
}

}  // namespace

DevicePool::DevicePool(const std::shared_ptr<const Model>& model, const EncoderOptions& options, int max_tokens,
                       std::shared_ptr<const Tokens> samples)
    : strategy_(options.strategy == DeviceStrategy::pipeline ? DeviceStrategy::automatic : options.strategy),
      log_(options.build.log),
      max_tokens_(max_tokens) {
  const std::vector<std::string> names = options.devices.empty() ? std::vector<std::string>{options.build.device} : options.devices;
  if (!(options.min_cosine > 0 && options.min_cosine <= 1))
    fail(ErrorKind::invalid_argument, "min_cosine is " + std::to_string(options.min_cosine) + "; it is above 0 and at most 1");
  const PrecisionWish precision{options.precision, std::move(samples), options.min_cosine};
  const auto cache = std::make_shared<EngineCache>();
  for (serving::DevicePlace& place : serving::places_of(names, options.build.threads)) {
    EncoderOptions own = options;
    own.build.device = place.device;
    own.build.threads = place.threads;
    own.calibration_texts.clear();
    // Workers inherit the processors of the thread that makes them, so that they are nobody else's.
    if (!place.processors.empty())
      own.build.runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = place.threads, .log = options.build.log});
    workers_.push_back(std::make_unique<DeviceWorker>(std::move(place), model, std::move(own), max_tokens, precision, cache));
    item_tokens_ = std::max(item_tokens_, workers_.back()->batch_tokens());
  }
  if (options.strategy != DeviceStrategy::pipeline) return;
  if (workers_.size() < 2)
    fail(ErrorKind::invalid_argument,
         "the strategy pipeline needs two devices or more: the last one makes vectors of what the others compute");
  pooler_ = std::move(workers_.back());
  workers_.pop_back();
}

std::vector<WorkItem> DevicePool::items_of_window(const std::shared_ptr<const Window>& window, bool packed) const {
  packed = packed && window->tokens.size() > 1;
  return pieces_of(
      window, [&](std::int64_t length) { return texts_in_a_run(length, max_tokens_, item_tokens_, packed); }, packed);
}

bool DevicePool::packs(const OutputRequest& request) const {
  return !pooler_ && std::all_of(workers_.begin(), workers_.end(), [&](const auto& worker) { return worker->packs(request); });
}

// While devices compute one window, the next one is read. What one device that takes any thread does in one piece, or one after the other,
// the caller's thread does without others.
void DevicePool::compute(std::size_t texts, const OutputRequest& request, const EncodeCall& call, const Read& read, const RowSink& sink) {
  const bool packed = packs(request);
  std::optional<EncoderRun> parallel;
  std::size_t open = 0, ready = 0;  // pieces of the last window; texts
  for (std::size_t at = 0; at < texts; at += kWindow) {
    if (parallel) parallel->wait(open, [&](std::size_t done) { report_progress(call, done, texts); });
    const auto window = std::make_shared<Window>();
    window->first = at;
    read(at, std::min(kWindow, texts - at), window->tokens);
    std::vector<WorkItem> pieces = items_of_window(window, packed);
    if (is_one() && (workers_.front()->lanes() == 1 || (pieces.size() == 1 && texts <= kWindow))) {
      for (const WorkItem& piece : pieces) {
        workers_.front()->run(piece, request, call, sink);
        report_progress(call, ready += piece.texts.size(), texts);
      }
      continue;
    }
    if (!parallel)
      parallel.emplace(workers_, strategy_, turn_++, request, call, sink, log_,
                       request.output == OutputRequest::vectors ? pooler_.get() : nullptr);
    open = pieces.size();
    parallel->add(std::move(pieces));
  }
  if (parallel) parallel->finish([&](std::size_t done) { report_progress(call, done, texts); });
}

bool DevicePool::is_one() const { return !pooler_ && workers_.size() == 1 && workers_.front()->place().processors.empty(); }

namespace {

// In a thread of the device's own, from which workers of its engines take the processors.
void prepare_aside(DeviceWorker& worker, const OutputRequest& request) {
  throw_if_cancelled();
  std::atomic<bool> goes_on{true};
  std::packaged_task<void()> work([&] {
    const Interrupts interrupts([&goes_on] { return goes_on.load(); });
    serving::keep_to(worker.place());
    worker.prepare(request);
  });
  std::future<void> done = work.get_future();
  std::thread aside(std::ref(work));
  while (done.wait_for(serving::kBetweenQuestions) != std::future_status::ready)
    if (interrupted()) goes_on = false;
  aside.join();
  done.get();
}

}  // namespace

void DevicePool::prepare(const OutputRequest& request) {
  if (is_one()) return workers_.front()->prepare(request);
  const bool staged = pooler_ && request.output == OutputRequest::vectors;
  if (staged) try {
      prepare_aside(*pooler_, {.output = OutputRequest::pooling, .skipped = request.skipped});
    } catch (const Error& e) {
      if (!serving::may_work_elsewhere(e.kind())) throw;
      serving::lose(*pooler_, e, true, log_);
    }
  std::optional<Error> last;
  std::size_t ready = 0;
  for (std::size_t i = 0; i < workers_.size(); ++i) try {
      prepare_aside(*workers_[i], staged && !pooler_->lost() ? OutputRequest{.output = OutputRequest::tokens} : request);
      ++ready;
    } catch (const Error& e) {
      if (!serving::may_work_elsewhere(e.kind())) throw;
      last = e;
      serving::lose(*workers_[i], e, ready > 0 || i + 1 < workers_.size(), log_);
    }
  if (ready > 0) return;
  throw serving::all_lost(devices_of(workers_), *last);
}

std::string DevicePool::fingerprint() {
  std::set<std::string> all;
  for (const auto& worker : workers_) all.insert(worker->fingerprint());
  std::string text;
  for (const std::string& one : all) text += one + "\n";
  return pooler_ ? text + "pipeline\n" + pooler_->fingerprint() : text;
}

std::vector<DeviceWork> DevicePool::work() const {
  std::vector<DeviceWork> all;
  for (const auto& worker : workers_) all.push_back(worker->work());
  if (pooler_) all.push_back(pooler_->work());
  return all;
}

// A pipeline's last device sees the texts of all others again.
EncoderCounts DevicePool::counts() const {
  EncoderCounts all;
  for (const DeviceWork& one : work()) all.runs += one.runs;
  for (const auto& worker : workers_) {
    const DeviceWork one = worker->work();
    all.texts += one.texts, all.tokens += one.tokens;
  }
  return all;
}

}  // namespace tenfold::encoders
