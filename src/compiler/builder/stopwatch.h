// Seconds since the last question.
#pragma once

#include <chrono>
#include <utility>

namespace tenfold::builder {

class Stopwatch {
 public:
  double seconds() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(start_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tenfold::builder
