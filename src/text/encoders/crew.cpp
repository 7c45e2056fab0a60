#include "text/encoders/crew.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <set>
#include <thread>

#include "tenfold/runtime.h"
#include "text/encoders/interrupts.h"
#include "text/fail.h"

namespace tenfold::encoders {

using tokenizing::fail;

namespace {

constexpr std::size_t kWindow = 16384;  // texts whose ids are held, and sorted, at once

void tell(const EncodeCall& call, std::size_t ready, std::size_t texts) {
  ask_whether_to_go_on();
  if (call.progress && !call.progress(ready, texts)) fail(ErrorKind::cancelled, "encoding was cancelled by its progress callback");
}

}  // namespace

Crew::Crew(const std::shared_ptr<const Model>& model, const EncoderOptions& options, int max_tokens, std::shared_ptr<const Tokens> samples)
    : strategy_(options.strategy == DeviceStrategy::pipeline ? DeviceStrategy::automatic : options.strategy),
      log_(options.build.log),
      max_tokens_(max_tokens) {
  const std::vector<std::string> names = options.devices.empty() ? std::vector<std::string>{options.build.device} : options.devices;
  if (!(options.least_cosine > 0 && options.least_cosine <= 1))
    fail(ErrorKind::invalid_argument, "least_cosine is " + std::to_string(options.least_cosine) + "; it is above 0 and at most 1");
  const PrecisionWish precision{options.precision, std::move(samples), options.least_cosine};
  const auto shelf = std::make_shared<Shelf>();
  for (DevicePlace& place : places_of(names, options.build.threads)) {
    EncoderOptions own = options;
    own.build.device = place.device;
    own.build.threads = place.threads;
    own.calibration_texts.clear();
    // Workers inherit the processors of the thread that makes them, so that they are nobody else's.
    if (!place.processors.empty())
      own.build.runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = place.threads, .log = options.build.log});
    seats_.push_back(std::make_unique<Seat>(std::move(place), model, std::move(own), max_tokens, precision, shelf));
    piece_tokens_ = std::max(piece_tokens_, seats_.back()->batch_tokens());
  }
  if (options.strategy != DeviceStrategy::pipeline) return;
  if (seats_.size() < 2)
    fail(ErrorKind::invalid_argument,
         "the strategy pipeline needs two devices or more: the last one makes vectors of what the others compute");
  pooler_ = std::move(seats_.back());
  seats_.pop_back();
}

std::vector<Piece> Crew::pieces_of_window(const std::shared_ptr<const Window>& window, bool packed) const {
  packed = packed && window->tokens.size() > 1;
  return pieces_of(
      window, [&](std::int64_t length) { return texts_in_a_run(length, max_tokens_, piece_tokens_, packed); }, packed);
}

bool Crew::packs(const Wanted& wanted) const {
  return !pooler_ && std::all_of(seats_.begin(), seats_.end(), [&](const auto& seat) { return seat->packs(wanted); });
}

// While devices compute one window, the next one is read. What one device that takes any thread does in one piece, or one after the other,
// the caller's thread does without others.
void Crew::compute(std::size_t texts, const Wanted& wanted, const EncodeCall& call, const Read& read, const Put& put) {
  const bool packed = packs(wanted);
  std::optional<Shift> shift;
  std::size_t open = 0, ready = 0;  // pieces of the last window; texts
  for (std::size_t at = 0; at < texts; at += kWindow) {
    if (shift) shift->wait(open, [&](std::size_t done) { tell(call, done, texts); });
    const auto window = std::make_shared<Window>();
    window->first = at;
    read(at, std::min(kWindow, texts - at), window->tokens);
    std::vector<Piece> pieces = pieces_of_window(window, packed);
    if (is_one() && (seats_.front()->lanes() == 1 || (pieces.size() == 1 && texts <= kWindow))) {
      for (const Piece& piece : pieces) {
        seats_.front()->run(piece, wanted, put);
        tell(call, ready += piece.texts.size(), texts);
      }
      continue;
    }
    if (!shift) shift.emplace(seats_, strategy_, turn_++, wanted, put, log_, wanted.output == Wanted::vectors ? pooler_.get() : nullptr);
    open = pieces.size();
    shift->add(std::move(pieces));
  }
  if (shift) shift->finish([&](std::size_t done) { tell(call, done, texts); });
}

bool Crew::is_one() const { return !pooler_ && seats_.size() == 1 && seats_.front()->place().processors.empty(); }

namespace {

// In a thread of the device's own, from which workers of its engines take the processors.
void prepare_aside(Seat& seat, const Wanted& wanted) {
  ask_whether_to_go_on();
  std::atomic<bool> goes_on{true};
  std::packaged_task<void()> work([&] {
    const Interrupts interrupts([&goes_on] { return goes_on.load(); });
    keep_to(seat.place());
    seat.prepare(wanted);
  });
  std::future<void> done = work.get_future();
  std::thread aside(std::ref(work));
  while (done.wait_for(kBetweenQuestions) != std::future_status::ready)
    if (interrupted()) goes_on = false;
  aside.join();
  done.get();
}

}  // namespace

void Crew::prepare(const Wanted& wanted) {
  if (is_one()) return seats_.front()->prepare(wanted);
  const bool staged = pooler_ && wanted.output == Wanted::vectors;
  if (staged) try {
      prepare_aside(*pooler_, {.output = Wanted::pooling, .skipped = wanted.skipped});
    } catch (const Error& e) {
      if (!may_work_elsewhere(e.kind())) throw;
      lose(*pooler_, e, true, log_);
    }
  std::optional<Error> last;
  std::size_t ready = 0;
  for (std::size_t i = 0; i < seats_.size(); ++i) try {
      prepare_aside(*seats_[i], staged && !pooler_->lost() ? Wanted{.output = Wanted::tokens} : wanted);
      ++ready;
    } catch (const Error& e) {
      if (!may_work_elsewhere(e.kind())) throw;
      last = e;
      lose(*seats_[i], e, ready > 0 || i + 1 < seats_.size(), log_);
    }
  if (ready > 0) return;
  const Error all = all_lost(seats_, *last);
  for (const auto& seat : seats_) seat->restore();
  throw all;
}

std::string Crew::fingerprint() {
  std::set<std::string> all;
  for (const auto& seat : seats_) all.insert(seat->fingerprint());
  std::string text;
  for (const std::string& one : all) text += one + "\n";
  return pooler_ ? text + "pipeline\n" + pooler_->fingerprint() : text;
}

std::vector<DeviceWork> Crew::work() const {
  std::vector<DeviceWork> all;
  for (const auto& seat : seats_) all.push_back(seat->work());
  if (pooler_) all.push_back(pooler_->work());
  return all;
}

// A pipeline's last device sees the texts of all others again.
EncoderCounts Crew::counts() const {
  EncoderCounts all;
  for (const DeviceWork& one : work()) all.runs += one.runs;
  for (const auto& seat : seats_) {
    const DeviceWork one = seat->work();
    all.texts += one.texts, all.tokens += one.tokens;
  }
  return all;
}

}  // namespace tenfold::encoders
