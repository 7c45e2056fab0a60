// What clients load and unload at other workers of the supervisor, while this one starts or after: it does the same.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/models.h"

namespace tenfold::server {

// Thread safe.
class OtherWorkers {
 public:
  explicit OtherWorkers(std::shared_ptr<Models> models) : models_(std::move(models)) {}
  void take(const std::vector<ModelChange>& changes);
  // Once the models of the start are loaded: does what came until now, and returns when that is done.
  void follow();

 private:
  const std::shared_ptr<Models> models_;
  std::mutex mutex_;
  bool follows_ = false;
  std::vector<ModelChange> waiting_;
};

}  // namespace tenfold::server
