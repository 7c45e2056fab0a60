#include "backends/cpu/processors.h"

#include <algorithm>

namespace tenfold::backends::cpu {

std::size_t Processors::freest() const {
  return static_cast<std::size_t>(std::min_element(users_.begin(), users_.end()) - users_.begin());
}

Processors::Lease Processors::take(std::size_t count) {
  std::vector<std::size_t> places;
  auto cpus = std::make_unique<std::vector<int>>();
  if (order_.empty()) return Lease(std::move(cpus));
  places.reserve(count), cpus->reserve(count);
  {
    std::lock_guard lock(mutex_);
    while (places.size() < count) {
      places.push_back(freest());
      cpus->push_back(order_[places.back()]);
      ++users_[places.back()];
    }
  }
  const auto give_back = [this, places = std::move(places)](const std::vector<int>* taken) {   // also where a lease cannot be made
    std::lock_guard lock(mutex_);
    for (const std::size_t place : places) --users_[place];
    delete taken;
  };
  return Lease(cpus.release(), give_back);
}

}  // namespace tenfold::backends::cpu
