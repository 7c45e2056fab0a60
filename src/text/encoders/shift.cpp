#include "text/encoders/shift.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "text/encoders/interrupts.h"

namespace tenfold::encoders {
namespace {

// Devices that work now; all of them are tried again where none does.
std::vector<Board::Member> members_of(const Seats& seats, DeviceStrategy strategy) {
  const bool none = std::all_of(seats.begin(), seats.end(), [](const auto& seat) { return seat->lost(); });
  const auto cpus = static_cast<int>(std::count_if(seats.begin(), seats.end(), [](const auto& seat) { return !seat->place().on_gpu(); }));
  std::vector<Board::Member> members;
  for (const auto& seat : seats) {
    if (none) seat->restore();
    members.push_back({.here = !seat->lost(), .speed = seat->speed()});
    if (strategy == DeviceStrategy::memory && members.back().here) members.back().room = free_bytes(seat->place(), cpus);
  }
  return members;
}

}  // namespace

Error all_lost(const Seats& seats, const Error& last) {
  if (seats.size() == 1) return last;
  std::string text = "no device is left";
  for (const auto& seat : seats) text += "; '" + seat->place().name + "': " + seat->work().lost;
  return {last.kind(), text};
}

Shift::Shift(const Seats& seats, DeviceStrategy strategy, std::size_t turn, const Wanted& wanted, const Put& put, const LogCallback& log,
             Seat* pooler)
    : seats_(seats),
      wanted_(wanted),
      put_(put),
      log_(log),
      board_(strategy, members_of(seats, strategy), turn),
      turn_(turn),
      shared_(strategy == DeviceStrategy::automatic),
      lanes_(seats.size()) {
  if (pooler && !pooler->lost()) stage_ = std::make_unique<Stage>(*pooler, wanted, put, board_, log);
}

Shift::~Shift() {
  board_.stop(nullptr);
  end_lanes();  // which push into the stage
}

void Shift::end_lanes() {
  for (std::thread& one : threads_) one.join();
  threads_.clear();
}

void Shift::add(std::vector<Piece> pieces) {
  board_.add(std::move(pieces));
  start_lanes();
}

// A first lane for each device that has work, then second ones; no more than there are pieces. Calls begin with another
// device each, so that those of one text are spread.
void Shift::start_lanes() {
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < seats_.size(); ++i) waiting.push_back(board_.waiting(i));
  for (int lane = 0; lane < 2; ++lane)
    for (std::size_t n = 0; n < seats_.size(); ++n) {
      const std::size_t i = (turn_ + n) % seats_.size();
      std::size_t& pieces = shared_ ? waiting.front() : waiting[i];
      if (pieces == 0 || lanes_[i] > lane || lane >= seats_[i]->lanes() || !board_.here(i)) continue;
      try {
        threads_.emplace_back([this, i] { work(i); });
        ++lanes_[i], --pieces;
      } catch (const std::system_error&) {  // the system gives no more threads: others do this device's work
        if (lanes_[i] == 0)
          board_.leave(i, std::nullopt, std::make_exception_ptr(Error(ErrorKind::out_of_memory, "the system starts no more threads")));
      }
    }
}

void Shift::compute(std::size_t member, Piece& piece) {
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  if (!stage_ || !stage_->usable()) {
    seats_[member]->run(piece, wanted_, put_);
    return board_.done(member, piece, seconds());
  }
  std::vector<float> tokens;
  const Put keep = [&](std::size_t, std::span<const float> rows) { tokens.insert(tokens.end(), rows.begin(), rows.end()); };
  seats_[member]->run(piece, {.output = Wanted::tokens}, keep);
  stage_->push(member, std::move(piece), std::move(tokens), seconds());
}

void Shift::work(std::size_t member) {
  const Interrupts interrupts([this] { return !board_.state().stopped; });
  Seat& seat = *seats_[member];
  bool placed = false;
  while (std::optional<Piece> piece = board_.take(member)) {
    try {
      if (!placed) keep_to(seat.place()), placed = true;
      compute(member, *piece);
    } catch (const Error& e) {
      if (!may_work_elsewhere(e.kind())) return board_.stop(std::current_exception());
      // Told before the others take the piece, so that whoever sees its rows can see why.
      lose(seat, e, board_.anyone_beside(member), log_);
      board_.leave(member, std::move(*piece), std::current_exception());
    } catch (...) {
      return board_.stop(std::current_exception());
    }
  }
}

void Shift::fail_with_why() {
  end_lanes();
  const bool nobody = !board_.anyone_here();
  try {
    std::rethrow_exception(board_.why());
  } catch (const Error& e) {
    if (!nobody) throw;
    const Error all = all_lost(seats_, e);
    for (const auto& seat : seats_) seat->restore();
    throw all;
  }
}

void Shift::wait(std::size_t open, const Told& told) {
  for (;;) {
    const Board::State now = board_.state();
    if (now.returned != known_.returned) start_lanes();  // a device may have got work that has no thread yet
    const bool more = now.ready != known_.ready;
    known_ = now;
    if (now.stopped) fail_with_why();
    if (more) told(now.ready);
    if (now.open <= open) return;
    ask_whether_to_go_on();
    board_.wait_for_change(known_, kBetweenQuestions);
  }
}

void Shift::finish(const Told& told) {
  board_.close();
  wait(0, told);
  end_lanes();
}

}  // namespace tenfold::encoders
