#include "core/unloading.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

using Clock = std::chrono::steady_clock;

// The model that is open, if it is, and the instances that runs have made of it. Instances share it.
struct Shared {
  std::function<std::shared_ptr<ServedModel>()> open;
  std::mutex mutex;                              // of what follows; held while the model opens
  std::shared_ptr<ServedModel> model;
  Clock::time_point last = Clock::now();

  std::shared_ptr<ServedModel> opened() {
    const std::lock_guard lock(mutex);
    last = Clock::now();
    if (!model) model = open();
    return model;
  }
  void used() {
    const std::lock_guard lock(mutex);
    last = Clock::now();
  }
};

class Instance final : public ServedInstance {
 public:
  Instance(std::shared_ptr<Shared> shared, const std::string& device)
      : shared_(std::move(shared)),
        configured_(device),
        instance_(shared_->opened()->create_instance(device)),
        device_(instance_->device()) {}
  const std::string& device() const noexcept override { return device_; }
  std::int64_t memory_bytes() const noexcept override {
    const std::lock_guard lock(mutex_);
    return instance_ ? instance_->memory_bytes() : 0;
  }
  void run(std::span<ServedRequest* const> requests, std::vector<BatchRun>* runs) noexcept override {
    const std::lock_guard lock(mutex_);
    try {
      if (!instance_) instance_ = shared_->opened()->create_instance(configured_);
    } catch (const Error& error) {
      return refuse(requests, error);
    } catch (const std::exception& error) {
      return refuse(requests, Error(ErrorKind::internal, error.what()));
    }
    shared_->used();
    instance_->run(requests, runs);
    shared_->used();
  }
  // Whether it holds nothing now. One that runs does.
  bool let_go() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return false;
    instance_.reset();
    return true;
  }

 private:
  static void refuse(std::span<ServedRequest* const> requests, const Error& error) {
    RequestOutcome outcome;
    outcome.error = &error;
    for (ServedRequest* request : requests) request->finish(outcome);
  }
  const std::shared_ptr<Shared> shared_;
  const std::string configured_;
  mutable std::mutex mutex_;
  std::unique_ptr<ServedInstance> instance_;
  const std::string device_;
};

// What queues own. The model keeps the instance itself, to let go what it holds.
class Handle final : public ServedInstance {
 public:
  explicit Handle(std::shared_ptr<Instance> instance) : instance_(std::move(instance)) {}
  const std::string& device() const noexcept override { return instance_->device(); }
  std::int64_t memory_bytes() const noexcept override { return instance_->memory_bytes(); }
  void run(std::span<ServedRequest* const> requests, std::vector<BatchRun>* runs) noexcept override { instance_->run(requests, runs); }

 private:
  const std::shared_ptr<Instance> instance_;
};

class UnloadingModel final : public ServedModel {
 public:
  UnloadingModel(std::function<std::shared_ptr<ServedModel>()> open, std::chrono::seconds after)
      : shared_(std::make_shared<Shared>()), after_(after) {
    shared_->open = std::move(open);
    const std::shared_ptr<ServedModel> model = shared_->opened();
    bindings_ = model->bindings(), open_inputs_ = model->open_inputs(), max_rows_ = model->max_rows();
    watcher_ = std::thread([this] { watch(); });
  }
  ~UnloadingModel() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    watcher_.join();
  }
  const std::vector<BindingInfo>& bindings() const noexcept override { return bindings_; }
  const std::vector<std::string>& open_inputs() const noexcept override { return open_inputs_; }
  std::int64_t max_rows() const noexcept override { return max_rows_; }
  std::vector<FallbackCount> fallbacks() const override {   // since the model was opened last
    const std::unique_lock shared(shared_->mutex, std::try_to_lock);   // it is held while the model opens
    return shared && shared_->model ? shared_->model->fallbacks() : std::vector<FallbackCount>();
  }
  std::unique_ptr<ServedInstance> create_instance(const std::string& device) override {
    auto instance = std::make_shared<Instance>(shared_, device);
    const std::lock_guard lock(mutex_);
    instances_.push_back(instance);
    return std::make_unique<Handle>(std::move(instance));
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    const auto step = std::clamp<Clock::duration>(after_ / 10, std::chrono::milliseconds(50), std::chrono::seconds(1));
    while (!wake_.wait_for(lock, step, [&] { return ended_; })) {
      std::shared_ptr<ServedModel> unused;       // freed without the locks
      {
        const std::lock_guard shared(shared_->mutex);
        if (Clock::now() - shared_->last < after_) continue;
        unused = std::move(shared_->model);
      }
      for (const auto& weak : instances_)
        if (const auto instance = weak.lock()) instance->let_go();
    }
  }

  const std::shared_ptr<Shared> shared_;
  const std::chrono::seconds after_;
  std::vector<BindingInfo> bindings_;
  std::vector<std::string> open_inputs_;
  std::int64_t max_rows_ = 0;
  std::mutex mutex_;                             // of what follows
  std::condition_variable wake_;
  std::vector<std::weak_ptr<Instance>> instances_;
  bool ended_ = false;
  std::thread watcher_;
};

}  // namespace

std::shared_ptr<ServedModel> open_unloading(std::function<std::shared_ptr<ServedModel>()> open, std::chrono::seconds after) {
  return std::make_shared<UnloadingModel>(std::move(open), after);
}

}  // namespace tenfold::server
