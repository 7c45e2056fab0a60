#include "process/other_workers.h"

#include <future>

namespace tenfold::server {

void OtherWorkers::take(const std::vector<ModelChange>& changes) {
  const std::lock_guard lock(mutex_);
  if (!follows_) return void(waiting_.insert(waiting_.end(), changes.begin(), changes.end()));
  for (const ModelChange& change : changes) models_->control()->follow(change, [] {});
}

void OtherWorkers::follow() {
  if (!models_->control()) return;               // clients cannot load any
  std::vector<std::promise<void>> done;
  {
    const std::lock_guard lock(mutex_);
    follows_ = true;
    done.resize(waiting_.size());
    for (std::size_t i = 0; i < done.size(); ++i) models_->control()->follow(waiting_[i], [&one = done[i]] { one.set_value(); });
  }
  for (std::promise<void>& one : done) one.get_future().wait();
}

}  // namespace tenfold::server
