// Opening a model: what the file permits, instances, the queue in front of them.
#include "core/models.h"

#include <algorithm>
#include <charconv>

#include "core/datatype.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

constexpr std::int64_t kDefaultMaxBatch = 4;   // Triton's
constexpr std::int64_t kDefaultTexts = 1024;   // of an encoder, whose batches are bounded by tokens

// The batch that the file permits; 0: it cannot be batched, and `why` says so.
std::int64_t chosen_batch(const ModelOptions& options, std::string& why) {
  ServedModelOptions as_is = options.served;
  as_is.max_batch = 0;
  const std::shared_ptr<ServedModel> file = open_served_model(options.path, std::move(as_is));
  why = why_not_batched(file->bindings());
  if (!why.empty()) return 0;
  return file->max_rows() > 0 ? std::min(file->max_rows(), kDefaultMaxBatch) : kDefaultMaxBatch;
}

[[noreturn]] void not_found(const std::string& name, const std::string& what) {
  throw RequestError(Code::not_found, "Request for unknown model: '" + name + "'" + what);
}

std::int64_t parse_version(const std::string& version) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc() || end != version.data() + version.size() || number < 1)
    throw RequestError(Code::invalid_argument,
                       "failed to get model version from specified version string '" + version + "': expected an integer above 0");
  return number;
}

}  // namespace

Model::Model(ModelOptions options) : options_(std::move(options)) {
  open();
  for (const BindingInfo& b : served_->bindings())
    if (v2_name(b.dtype).empty())
      throw Error(ErrorKind::unsupported, "'" + b.name + "' has the type " + std::string(tenfold::name(b.dtype)) +
                                              ", which the v2 protocol does not have: add a Cast to the model");
  std::vector<std::unique_ptr<ServedInstance>> instances;
  for (const Instances& group : options_.instances)
    for (int i = 0; i < group.count; ++i) {
      instances.push_back(served_->create_instance(group.device));
      devices_.push_back(instances.back()->device());
    }
  queue_ = std::make_unique<RequestQueue>(std::move(instances), options_.queue);
}

void Model::open() {
  std::int64_t& max_batch = options_.served.max_batch;
  if (options_.encoder) {
    if (max_batch < 0) max_batch = kDefaultTexts;
    options_.encoder->max_batch = max_batch;
    const std::shared_ptr<ServedEncoder> encoder = open_served_encoder(options_.path, *options_.encoder);
    served_ = encoder, encoder_ = encoder;
  } else {
    if (max_batch < 0) max_batch = chosen_batch(options_, not_batched_);
    served_ = open_served_model(options_.path, options_.served);
  }
  options_.queue.max_batch = max_batch;
}

void Models::add(std::shared_ptr<Model> model) {
  const std::int64_t version = parse_version(model->version());
  const std::lock_guard lock(mutex_);
  models_[model->name()][version] = std::move(model);
}

std::shared_ptr<Model> Models::find(const std::string& name, const std::string& version) const {
  const std::int64_t number = version.empty() ? -1 : parse_version(version);
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) not_found(name, " is not found");
  if (number < 0) return found->second.rbegin()->second;
  const auto of_version = found->second.find(number);
  if (of_version == found->second.end()) not_found(name, " version " + version + " is not found");
  return of_version->second;
}

std::vector<std::shared_ptr<Model>> Models::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Model>> all;
  for (const auto& [name, versions] : models_)
    for (const auto& [number, model] : versions) all.push_back(model);
  return all;
}

std::vector<std::string> Models::versions(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> versions;
  if (const auto found = models_.find(name); found != models_.end())
    for (const auto& [number, model] : found->second) versions.push_back(model->version());
  return versions;
}

void Models::stop() {
  for (const auto& model : all()) model->queue().stop();
}

}  // namespace tenfold::server
