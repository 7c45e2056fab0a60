#include "sweep/read_ahead.h"

#include <chrono>
#include <utility>

#include "tenfold/internal/interrupts.h"

namespace tenfold::imaging {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr std::chrono::milliseconds kLook{20};   // between looks whether the caller is to end

}  // namespace

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ReadAhead::ask(Region region, std::vector<std::byte> memory) {
  {
    const std::lock_guard lock(mutex_);
    region_ = std::move(region), memory_ = std::move(memory), state_ = State::asked;
  }
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
}

std::vector<std::byte> ReadAhead::take() {
  const Clock::time_point begin = Clock::now();
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLook, [&] { return state_ == State::done; })) {
    lock.unlock();
    throw_if_cancelled();
    lock.lock();
  }
  seconds_.waiting += seconds_since(begin);
  state_ = State::idle;
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  return std::move(memory_);
}

void ReadAhead::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || state_ == State::asked; });
    if (stop_) return;
    lock.unlock();
    const Clock::time_point begin = Clock::now();
    std::exception_ptr error;
    try {
      source_.read(region_.image, region_.begin, region_.extent, memory_.data());
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = std::move(error);
    seconds_.reading += seconds_since(begin);
    state_ = State::done;
    changed_.notify_all();
  }
}

}  // namespace tenfold::imaging
