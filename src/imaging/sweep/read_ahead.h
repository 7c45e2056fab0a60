// A thread that reads the next region of a source while the caller computes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "tenfold/sliding_window.h"

namespace tenfold::imaging {

class ReadAhead {
 public:
  struct Region {
    std::int64_t image = 0;
    Shape begin, extent;
  };
  explicit ReadAhead(ImageSource& source) : source_(source) {}
  ~ReadAhead();                        // waits for a read that is under way
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Reads a region into `memory`, as large as it needs. One at a time: take() gives it.
  void ask(Region region, std::vector<std::byte> memory);
  // Waits for the region that was asked for last. Throws what the source threw, and Error(cancelled).
  std::vector<std::byte> take();
  SweepSeconds seconds() const { return seconds_; }   // between take() and ask()

 private:
  void loop();

  ImageSource& source_;
  std::mutex mutex_;
  std::condition_variable changed_;
  enum class State { idle, asked, done } state_ = State::idle;
  bool stop_ = false;
  Region region_;
  std::vector<std::byte> memory_;
  std::exception_ptr error_;
  SweepSeconds seconds_;
  std::thread thread_;                 // with the first region
};

}  // namespace tenfold::imaging
