#include "text/encoders/stage.h"

#include "tenfold/internal/interrupts.h"

namespace tenfold::encoders {
namespace {

constexpr std::size_t kMostWaiting = 4;  // pieces whose tokens' vectors are in memory

}  // namespace

Stage::Stage(Seat& seat, const Wanted& wanted, const Put& put, Board& board, const LogCallback& log)
    : seat_(seat), wanted_(wanted), put_(put), board_(board), log_(log), thread_([this] { run(); }) {}

Stage::~Stage() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Stage::push(std::size_t member, Piece piece, std::vector<float> tokens, double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.size() < kMostWaiting; });
  queue_.push_back({member, std::move(piece), std::move(tokens), seconds});
  changed_.notify_all();
}

void Stage::run() {
  const Interrupts interrupts([this] { return !board_.state().stopped; });
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
    if (!board_.state().stopped) finish(std::move(work));
  }
}

void Stage::finish(Work work) {
  try {
    if (!usable()) return board_.put_back(std::move(work.piece));
    keep_to(seat_.place());
    seat_.pool(work.piece, work.tokens, wanted_, put_);
    board_.done(work.member, work.piece, work.seconds);
  } catch (const Error& e) {
    if (!may_work_elsewhere(e.kind())) return board_.stop(std::current_exception());
    lose(seat_, e, true, log_);
    board_.put_back(std::move(work.piece));
  } catch (...) {
    board_.stop(std::current_exception());
  }
}

}  // namespace tenfold::encoders
