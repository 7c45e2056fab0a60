// ByteBudget: what requests and responses of all connections, of both protocols, may have of memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace tenfold::server {

// Bytes from their arrival until a handler has let them go, or until the client has read them. Thread safe.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes) : total_(bytes) {}
  bool take(std::size_t bytes) {
    if (taken_.fetch_add(bytes) + bytes <= total_) return true;
    taken_.fetch_sub(bytes);
    return false;
  }
  void give_back(std::size_t bytes) { taken_.fetch_sub(bytes); }
  bool has_room(std::size_t bytes) const { return taken_ + bytes <= total_; }
  // For what is there already and cannot be refused, such as a response: it is requests that are refused then.
  void add(std::size_t bytes) { taken_.fetch_add(bytes); }
  std::size_t total() const { return total_; }
  std::size_t taken() const { return taken_; }

 private:
  const std::size_t total_;
  std::atomic<std::size_t> taken_ = 0;
};

// What one owner has taken; gives it back in the end.
class HeldBytes {
 public:
  explicit HeldBytes(std::shared_ptr<ByteBudget> budget) : budget_(std::move(budget)) {}
  ~HeldBytes() { set(0); }
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;
  bool grow_to(std::size_t bytes) {
    if (bytes <= bytes_) return true;
    if (!budget_->take(bytes - bytes_)) return false;
    bytes_ = bytes;
    return true;
  }
  void set(std::size_t bytes) {                  // without asking
    if (bytes > bytes_) budget_->add(bytes - bytes_);
    else budget_->give_back(bytes_ - bytes);
    bytes_ = bytes;
  }

 private:
  std::shared_ptr<ByteBudget> budget_;
  std::size_t bytes_ = 0;
};

}  // namespace tenfold::server
