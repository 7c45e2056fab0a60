// The threads of one call: those of each device take pieces until all are done. A device that fails leaves its pieces to the others.
#pragma once

#include <functional>
#include <memory>
#include <system_error>
#include <thread>

#include "device_pool/pool_device.h"
#include "device_pool/wait.h"

namespace tenfold::serving {

template <class Piece>
class ParallelCall {
 public:
  using Devices = std::vector<PoolDevice*>;
  // Computes a piece on a member, in one of its threads, which keep to its place. True: it is done. False: whoever has it now tells the
  // queue. Throws what devices throw.
  using Compute = std::function<bool(std::size_t member, Piece& piece)>;
  using Progress = std::function<void(std::size_t ready)>;  // how many units are done

  // `turn`: the device that is the first to get a piece, counted round. All that is given outlives the call.
  ParallelCall(Devices devices, WorkQueue<Piece>& queue, std::size_t turn, Compute compute, const LogCallback& log)
      : devices_(std::move(devices)), queue_(queue), turn_(turn), compute_(std::move(compute)), log_(log), lanes_(devices_.size()) {}
  ~ParallelCall() {   // stops what still runs
    queue_.stop(nullptr);
    end_lanes();
  }
  ParallelCall(const ParallelCall&) = delete;
  ParallelCall& operator=(const ParallelCall&) = delete;

  void add(std::vector<Piece> pieces) {
    queue_.add(std::move(pieces));
    start_lanes();
  }
  // Returns once at most `open` pieces are not done. Throws what stopped the work.
  void wait(std::size_t open, const Progress& progress);
  void finish(const Progress& progress) {
    queue_.close();
    wait(0, progress);
    end_lanes();
  }

 private:
  void start_lanes();
  void end_lanes() {
    for (std::thread& one : threads_) one.join();
    threads_.clear();
  }
  void work(std::size_t member);
  [[noreturn]] void fail_with_why();
  const Devices devices_;
  WorkQueue<Piece>& queue_;
  const std::size_t turn_;
  const Compute compute_;
  const LogCallback& log_;
  WorkState known_;               // what wait() has seen and dealt with
  std::vector<int> lanes_;        // that were started, of each device
  std::vector<std::thread> threads_;
};

// A first lane for each device that has work, then second ones; no more than there are pieces. Calls begin with another
// device each, so that those of one piece are spread.
template <class Piece>
void ParallelCall<Piece>::start_lanes() {
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < devices_.size(); ++i) waiting.push_back(queue_.waiting(i));
  for (int lane = 0; lane < 2; ++lane)
    for (std::size_t n = 0; n < devices_.size(); ++n) {
      const std::size_t i = (turn_ + n) % devices_.size();
      std::size_t& pieces = queue_.shared() ? waiting.front() : waiting[i];
      if (pieces == 0 || lanes_[i] > lane || lane >= devices_[i]->lanes() || !queue_.here(i)) continue;
      try {
        threads_.emplace_back([this, i] { work(i); });
        ++lanes_[i], --pieces;
      } catch (const std::system_error&) {  // the system gives no more threads: others do this device's work
        if (lanes_[i] == 0)
          queue_.leave(i, std::nullopt, std::make_exception_ptr(Error(ErrorKind::out_of_memory, "the system starts no more threads")));
      }
    }
}

template <class Piece>
void ParallelCall<Piece>::work(std::size_t member) {
  const Interrupts interrupts([this] { return !queue_.state().stopped; });
  PoolDevice& device = *devices_[member];
  bool placed = false;
  while (std::optional<Piece> piece = queue_.take(member)) {
    try {
      if (!placed) keep_to(device.place()), placed = true;
      const auto begin = std::chrono::steady_clock::now();
      if (compute_(member, *piece))
        queue_.done(member, *piece, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    } catch (const Error& e) {
      if (!may_work_elsewhere(e.kind())) return queue_.stop(std::current_exception());
      // Logged before the others take the piece, so that whoever sees its rows can see why.
      lose(device, e, queue_.anyone_beside(member), log_);
      queue_.leave(member, std::move(*piece), std::current_exception());
    } catch (...) {
      return queue_.stop(std::current_exception());
    }
  }
}

template <class Piece>
void ParallelCall<Piece>::fail_with_why() {
  end_lanes();
  const bool nobody = !queue_.anyone_here();
  try {
    std::rethrow_exception(queue_.why());
  } catch (const Error& e) {
    if (!nobody) throw;
    throw all_lost(devices_, e);
  }
}

template <class Piece>
void ParallelCall<Piece>::wait(std::size_t open, const Progress& progress) {
  for (;;) {
    const WorkState now = queue_.state();
    if (now.returned != known_.returned) start_lanes();  // a device may have got work that has no thread yet
    const bool more = now.ready != known_.ready;
    known_ = now;
    if (now.stopped) fail_with_why();
    if (more) progress(now.ready);
    if (now.open <= open) return;
    throw_if_cancelled();
    queue_.wait_for_change(known_, kBetweenQuestions);
  }
}

}  // namespace tenfold::serving
