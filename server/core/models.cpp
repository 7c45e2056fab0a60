// Which versions serve, and what becomes of those that do not any more.
#include "core/models.h"

#include <charconv>
#include <condition_variable>
#include <thread>

namespace tenfold::server {
namespace {

[[noreturn]] void unknown(Code code, const std::string& what) { throw RequestError(code, "Request for unknown model: '" + what); }

}  // namespace

// Models that do not serve any more. Requests that found one before may still come to its queue, so it stays until nobody holds it; then
// its queue stops, and it is freed here, in no thread of the network's.
class Models::Retired {
 public:
  Retired() : thread_([this] { work(); }) {}
  ~Retired() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  void take(std::shared_ptr<Model> model, std::function<void()> done) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({std::move(model), std::move(done)});
    }
    wake_.notify_all();
  }
  std::vector<std::shared_ptr<Model>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Model>> models;
    for (const One& one : waiting_) models.push_back(one.model);
    return models;
  }

 private:
  struct One {
    std::shared_ptr<Model> model;
    std::function<void()> done;
  };
  void work() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      if (waiting_.empty()) wake_.wait(lock);
      else wake_.wait_for(lock, std::chrono::milliseconds(2));
      std::vector<One> free;
      for (std::size_t i = waiting_.size(); i-- > 0;)
        if (waiting_[i].model.use_count() == 1) {
          free.push_back(std::move(waiting_[i]));
          waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
        }
      lock.unlock();
      for (One& one : free) {
        one.model->queue().stop();
        one.model.reset();
        one.done();
      }
      lock.lock();
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<One> waiting_;
  bool ended_ = false;
  std::thread thread_;
};

std::string_view name(ModelState state) {
  constexpr std::string_view kNames[] = {"", "LOADING", "READY", "UNLOADING", "UNAVAILABLE"};
  return kNames[static_cast<std::size_t>(state)];
}

std::vector<IndexRow> model_index(const Models& models, bool ready_only) {
  if (models.control()) return models.control()->index(ready_only);
  std::vector<IndexRow> rows = models.index();   // of one file
  if (ready_only) std::erase_if(rows, [](const IndexRow& row) { return row.state != ModelState::ready; });
  return rows;
}

ModelControl& model_control(const Models& models) {
  if (!models.control())
    throw RequestError(Code::unavailable, "explicit model load / unload is not allowed: this server has no repository; start it with "
                                          "--model-repository=DIR --model-control-mode=explicit");
  return *models.control();
}

std::int64_t parse_version(const std::string& version) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc() || end != version.data() + version.size() || number < 1)
    throw RequestError(Code::invalid_argument,
                       "failed to get model version from specified version string '" + version + "': expected an integer above 0");
  return number;
}

Models::Models() : retired_(std::make_unique<Retired>()) {}
Models::~Models() {
  control_.reset();                              // its threads call this
  retired_.reset();
}

void Models::add(std::shared_ptr<Model> model) {
  const std::int64_t version = parse_version(model->version());
  const std::lock_guard lock(mutex_);
  models_[model->name()].versions[version] = {model, ModelState::ready, ""};
}

void Models::publish(const std::string& name, Versions versions) {
  std::vector<std::shared_ptr<Model>> old;
  {
    const std::lock_guard lock(mutex_);
    if (versions.empty() && !models_.contains(name)) return;
    Entry& entry = models_[name];
    for (auto& [number, version] : entry.versions) {
      const auto same = versions.find(number);
      if (same == versions.end()) version.state = version.model ? ModelState::unloading : ModelState::unavailable;
      if (same == versions.end() && !version.model && version.reason.empty()) version.reason = "unloaded";
      if (version.model && (same == versions.end() || same->second != version.model)) old.push_back(std::move(version.model));
    }
    const bool unloaded = versions.empty();
    for (auto& [number, model] : versions) entry.versions[number] = {std::move(model), ModelState::ready, ""};
    entry.reason = unloaded ? "unloaded" : "";
    if (unloaded) entry.required = false;
  }
  for (std::shared_ptr<Model>& model : old) {
    const std::int64_t number = parse_version(model->version());
    retired_->take(std::move(model), [this, name, number] {
      const std::lock_guard lock(mutex_);
      const auto entry = models_.find(name);
      if (entry == models_.end()) return;
      const auto version = entry->second.versions.find(number);
      if (version != entry->second.versions.end() && version->second.state == ModelState::unloading)
        version->second.state = ModelState::unavailable, version->second.reason = "unloaded";
    });
  }
}

void Models::set_state(const std::string& name, std::int64_t number, ModelState state, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  Version& version = models_[name].versions[number];
  version.reason = reason;
  if (!version.model) version.state = state;     // one that serves stays ready
}

void Models::set_failed(const std::string& name, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  Entry& entry = models_[name];
  entry.reason = reason;
  for (auto& [number, version] : entry.versions)
    if (version.state == ModelState::loading) version.state = ModelState::unavailable, version.reason = reason;
}

std::shared_ptr<Model> Models::find(const std::string& name, const std::string& version) const {
  const std::int64_t number = version.empty() ? -1 : parse_version(version);
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) unknown(Code::not_found, name + "' is not found");
  const auto& versions = found->second.versions;
  if (number < 0) {
    for (auto it = versions.rbegin(); it != versions.rend(); ++it)
      if (it->second.model) return it->second.model;
    unknown(Code::not_found, name + "' has no available versions");
  }
  const auto of_version = versions.find(number);
  if (of_version == versions.end()) unknown(Code::not_found, name + "' version " + version + " is not found");
  if (!of_version->second.model) unknown(Code::unavailable, name + "' version " + version + " is not at ready state");
  return of_version->second.model;
}

std::vector<std::shared_ptr<Model>> Models::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Model>> all;
  for (const auto& [name, entry] : models_)
    for (const auto& [number, version] : entry.versions)
      if (version.model) all.push_back(version.model);
  return all;
}

Models::Versions Models::serving(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  Versions serving;
  if (const auto found = models_.find(name); found != models_.end())
    for (const auto& [number, version] : found->second.versions)
      if (version.model) serving[number] = version.model;
  return serving;
}

std::vector<std::string> Models::versions(const std::string& name) const {
  std::vector<std::string> versions;
  for (const auto& [number, model] : serving(name)) versions.push_back(std::to_string(number));
  return versions;
}

std::vector<IndexRow> Models::index() const {
  const std::lock_guard lock(mutex_);
  std::vector<IndexRow> rows;
  for (const auto& [name, entry] : models_) {
    for (const auto& [number, version] : entry.versions) rows.push_back({name, std::to_string(number), version.state, version.reason});
    if (entry.versions.empty() && !entry.reason.empty()) rows.push_back({name, "", ModelState::unavailable, entry.reason});
  }
  return rows;
}

void Models::require(const std::string& name) {
  const std::lock_guard lock(mutex_);
  models_[name].required = true;
}

bool Models::all_ready() const {
  if (!ready_) return false;
  if (!strict_) return true;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, entry] : models_) {
    if (!entry.required) continue;
    bool serves = false;
    for (const auto& [number, version] : entry.versions) serves = serves || version.model;
    if (!serves) return false;
  }
  return true;
}

void Models::stop() {
  for (const auto& model : all()) model->queue().stop();
  for (const auto& model : retired_->all()) model->queue().stop();
}

}  // namespace tenfold::server
