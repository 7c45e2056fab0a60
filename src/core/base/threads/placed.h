// Placed: another Parallel's work, with the calling thread kept on one CPU from its first call on.
#pragma once

#include <memory>
#include <utility>

#include "base/threads/cpu_places.h"
#include "base/threads/parallel.h"

namespace tenfold {

class Placed final : public Parallel {
 public:
  Placed(std::shared_ptr<Parallel> inner, int cpu) : inner_(std::move(inner)), cpu_{cpu} {}
  void run(std::int64_t parts, Function function, void* context) noexcept override {
    thread_local int stays_on = -1;
    if (stays_on != cpu_[0]) stays_on = stay_on(cpu_) ? cpu_[0] : -1;
    inner_->run(parts, function, context);
  }
  int workers() const noexcept override { return inner_->workers(); }

 private:
  std::shared_ptr<Parallel> inner_;
  std::vector<int> cpu_;
};

}  // namespace tenfold
