// The threads of one call: those of each device take pieces until all are done.
#pragma once

#include <thread>

#include "text/encoders/stage.h"

namespace tenfold::encoders {

using Seats = std::vector<std::unique_ptr<Seat>>;

// What is thrown where every device is lost: the one's own error, or all reasons with the kind of the last.
Error all_lost(const Seats& seats, const Error& last);

class Shift {
 public:
  using Told = std::function<void(std::size_t ready)>;  // how many texts are done
  // `pooler`: the device that makes vectors of tokens' vectors; null: each makes its own. `turn`: the device that is the first to get
  // a piece, counted round. All that is given outlives the shift.
  Shift(const Seats& seats, DeviceStrategy strategy, std::size_t turn, const Wanted& wanted, const Put& put, const LogCallback& log,
        Seat* pooler = nullptr);
  ~Shift();  // stops what still runs
  Shift(const Shift&) = delete;
  Shift& operator=(const Shift&) = delete;

  void add(std::vector<Piece> pieces);
  // Returns once at most `open` pieces are not done. Throws what stopped the work.
  void wait(std::size_t open, const Told& told);
  void finish(const Told& told);

 private:
  void start_lanes();
  void end_lanes();
  void compute(std::size_t member, Piece& piece);
  void work(std::size_t member);
  [[noreturn]] void fail_with_why();
  const Seats& seats_;
  const Wanted& wanted_;
  const Put& put_;
  const LogCallback& log_;
  Board board_;
  const std::size_t turn_;
  const bool shared_;             // all devices take from one queue
  std::unique_ptr<Stage> stage_;  // ends behind the threads that push into it
  Board::State known_;            // what wait() has seen and dealt with
  std::vector<int> lanes_;        // that were started, of each device
  std::vector<std::thread> threads_;
};

}  // namespace tenfold::encoders
