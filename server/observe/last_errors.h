// The last errors of a model, for people who look at its page. Equal ones, one after the other, are one with a count.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::server {

// Thread safe.
class LastErrors {
 public:
  struct Row {
    std::string message;
    std::uint64_t count = 0;
    std::chrono::system_clock::time_point last;
  };
  void add(std::string_view message) noexcept;
  std::vector<Row> get() const;  // the newest first

 private:
  static constexpr std::size_t kRows = 8, kLength = 300;
  mutable std::mutex mutex_;
  std::deque<Row> rows_;
};

}  // namespace tenfold::server
