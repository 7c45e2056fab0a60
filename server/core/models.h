// The models that the server has, each with its queue.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/status.h"
#include "tenfold/serving/request_queue.h"
#include "tenfold/serving/served_encoder.h"
#include "tenfold/serving/served_model.h"

namespace tenfold::server {

struct Instances {
  std::string device;                            // "cpu", "cuda:0"
  int count = 1;
};

struct ModelOptions {
  std::string name, path;                        // a model file, a plan or an encoder's folder
  std::string version = "1";
  ServedModelOptions served;                     // its max_batch: that of the model, -1: chosen by what the file permits
  std::optional<ServedEncoderOptions> encoder;   // of an encoder's folder, in place of `served`, but for max_batch
  QueueOptions queue;                            // its max_batch is the model's
  std::vector<Instances> instances = {{"cpu", 1}};
};

// One version of a model. Thread safe once it is made. Its queue stops with it.
class Model {
 public:
  explicit Model(ModelOptions options);          // opens the file, builds engines. Throws Error
  const std::string& name() const { return options_.name; }
  const std::string& version() const { return options_.version; }
  const ModelOptions& options() const { return options_; }
  const ServedModel& served() const { return *served_; }
  std::shared_ptr<const ServedModel> shared_served() const { return served_; }
  const std::shared_ptr<const ServedEncoder>& encoder() const { return encoder_; }   // null: it takes no text
  std::int64_t max_batch() const { return options_.served.max_batch; }
  const std::string& not_batched() const { return not_batched_; }   // why max_batch is 0 where it was to be chosen
  const std::vector<std::string>& devices() const { return devices_; }   // of its instances
  // Requests that were refused before they came to the queue.
  std::uint64_t refused() const { return refused_; }
  void count_refused() { ++refused_; }
  RequestQueue& queue() { return *queue_; }
  const RequestQueue& queue() const { return *queue_; }

 private:
  void open();
  ModelOptions options_;
  std::string not_batched_;
  std::shared_ptr<ServedModel> served_;
  std::shared_ptr<const ServedEncoder> encoder_;
  std::vector<std::string> devices_;
  std::atomic<std::uint64_t> refused_ = 0;
  std::unique_ptr<RequestQueue> queue_;
};

// Thread safe.
class Models {
 public:
  void add(std::shared_ptr<Model> model);
  // The model that a request names; without a version the highest. Throws RequestError as Triton words it.
  std::shared_ptr<Model> find(const std::string& name, const std::string& version) const;
  std::vector<std::shared_ptr<Model>> all() const;   // by name
  std::vector<std::string> versions(const std::string& name) const;

  // Whether new requests are taken: from the end of loading until the server is told to end.
  bool ready() const { return ready_; }
  void set_ready(bool ready) { ready_ = ready; }
  void stop();                                   // stops all queues: returns when what was accepted is answered

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::int64_t, std::shared_ptr<Model>>> models_;   // by name and version
  std::atomic<bool> ready_ = false;
};

}  // namespace tenfold::server
