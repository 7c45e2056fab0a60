// Few: an array of a size that a call knows, which seldom needs memory of its own.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace tenfold::python {

template <class T, std::size_t kRoom = 8>
class Few {
 public:
  explicit Few(int size) : size_(static_cast<std::size_t>(size)), more_(size_ > kRoom ? size_ : 0) {}
  T& operator[](int i) { return items()[static_cast<std::size_t>(i)]; }
  std::span<T> items() { return {more_.empty() ? few_.data() : more_.data(), size_}; }
  int size() const { return static_cast<int>(size_); }

 private:
  std::size_t size_;
  std::array<T, kRoom> few_{};
  std::vector<T> more_;
};

}  // namespace tenfold::python
