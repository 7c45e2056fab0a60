// The models that the server has, each with its queue, and which of their versions serve.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model_change.h"
#include "core/reshape.h"
#include "core/status.h"
#include "observe/last_errors.h"
#include "observe/text_counts.h"
#include "tenfold/serving/request_queue.h"
#include "tenfold/serving/served_encoder.h"
#include "tenfold/serving/served_model.h"

namespace inference {
class ModelConfig;                               // protobuf's message, model_config.pb.h
}

namespace tenfold::server {

class ResponseCache;
class SharedMemory;

struct Instances {
  std::string device;                            // "cpu", "cuda:0"
  int count = 1;
};

// What a model is given to compute before it serves.
struct Warmup {
  std::string name;
  int count = 1;
  struct Input {
    std::string name;
    DType dtype = DType::f32;
    Shape shape;
    std::vector<std::byte> bytes;
    std::vector<std::string> strings;            // of DType::string, in place of bytes
  };
  std::vector<Input> inputs;
};

struct ModelOptions {
  std::string name, path;                        // a model file, a plan or an encoder's folder
  std::string version = "1";
  ServedModelOptions served;                     // its max_batch is the model's
  std::optional<ServedEncoderOptions> encoder;   // of an encoder's folder, in place of `served`
  QueueOptions queue;                            // its max_batch: 0 where requests are not put together
  bool cache_responses = false;                  // equal requests are answered from the server's cache, if it has one
  std::vector<Instances> instances = {{"cpu", 1}};
  std::chrono::seconds unload_after{0};          // without a request for so long, its memory is given back; 0: never
  std::string not_batched;                       // why max_batch is 0 where it was to be chosen
  std::shared_ptr<const inference::ModelConfig> config;   // completed, as clients see it
  std::map<std::string, Shape> input_dims;       // as requests have them, without the batch dim; -1: open
  std::map<std::string, Reshape> input_reshapes, output_reshapes;
  std::map<std::string, std::vector<std::string>> labels;  // of classes, by output
  std::vector<Warmup> warmups;
  std::shared_ptr<std::atomic<bool>> from_cache; // whether a plan was found in the cache; null: not known
};

// One version of a model. Thread safe once it is made. Its queue stops with it.
class Model {
 public:
  explicit Model(ModelOptions options);          // opens the file, builds engines, warms up. Throws Error
  ~Model();
  const std::string& name() const { return options_.name; }
  const std::string& version() const { return options_.version; }
  const ModelOptions& options() const { return options_; }
  const inference::ModelConfig& config() const { return *options_.config; }
  const ServedModel& served() const { return *served_; }
  std::shared_ptr<const ServedModel> shared_served() const { return served_; }
  const std::shared_ptr<const ServedEncoder>& encoder() const { return encoder_; }   // null: it takes no text
  std::int64_t max_batch() const { return options_.served.max_batch; }
  const std::string& not_batched() const { return options_.not_batched; }
  const std::vector<std::string>& devices() const { return devices_; }   // of its instances
  std::uint64_t load_number() const { return load_number_; }   // of no other model since the process began
  // Requests that were refused before they came to the queue.
  std::uint64_t refused() const { return refused_; }
  void count_refused(std::string_view why = {}) { ++refused_, errors_.add(why); }
  LastErrors& errors() const { return errors_; }
  const std::shared_ptr<TextCounts>& texts() const { return texts_; }
  RequestQueue& queue() { return *queue_; }
  const RequestQueue& queue() const { return *queue_; }

 private:
  void open();
  ModelOptions options_;
  std::shared_ptr<ServedModel> served_;
  std::shared_ptr<const ServedEncoder> encoder_;
  std::vector<std::string> devices_;
  static inline std::atomic<std::uint64_t> loads_ = 0;
  const std::uint64_t load_number_ = ++loads_;
  std::atomic<std::uint64_t> refused_ = 0;
  mutable LastErrors errors_;
  const std::shared_ptr<TextCounts> texts_ = std::make_shared<TextCounts>();
  std::unique_ptr<RequestQueue> queue_;
};

enum class ModelState : std::uint8_t { unknown, loading, ready, unloading, unavailable };
std::string_view name(ModelState state);         // as Triton's index has it; empty: unknown

struct IndexRow {
  std::string name, version;                     // without a version: the model was never loaded
  ModelState state = ModelState::unknown;
  std::string reason;
};

// Loads and unloads models when clients ask for it.
class ModelControl {
 public:
  virtual ~ModelControl() = default;
  virtual std::vector<IndexRow> index(bool ready_only) = 0;
  // `done` is called once, maybe in another thread, with what became of it. `config`: JSON in place of the file config.pbtxt, or empty.
  virtual void load(const std::string& name, const std::string& config, std::function<void(Status)> done) = 0;
  virtual void unload(const std::string& name, std::function<void(Status)> done) = 0;
  // Does what clients had done by another process. `done` as above.
  virtual void follow(const ModelChange& change, std::function<void()> done) = 0;
};

// Thread safe.
class Models {
 public:
  Models();
  ~Models();
  using Versions = std::map<std::int64_t, std::shared_ptr<Model>>;
  // Set before there are models. Null: responses are not cached.
  void set_cache(std::shared_ptr<ResponseCache> cache) { cache_ = std::move(cache); }
  const std::shared_ptr<ResponseCache>& cache() const { return cache_; }
  // Clients' regions. Set before requests come.
  void set_shared_memory(std::shared_ptr<SharedMemory> memory) { shared_memory_ = std::move(memory); }
  const std::shared_ptr<SharedMemory>& shared_memory() const { return shared_memory_; }
  void add(std::shared_ptr<Model> model);        // one version of a model, which is ready then
  // From now on these versions of a model serve, and no others. Those that served until now finish what they have accepted.
  void publish(const std::string& name, Versions versions);
  // What the index tells of a version that does not serve.
  void set_state(const std::string& name, std::int64_t version, ModelState state, const std::string& reason = "");
  // A load has failed: versions that were loading are unavailable, and a model without versions has this reason.
  void set_failed(const std::string& name, const std::string& reason);

  // The model that a request names; without a version the highest. Throws RequestError as Triton words it.
  std::shared_ptr<Model> find(const std::string& name, const std::string& version) const;
  std::vector<std::shared_ptr<Model>> all() const;   // by name
  Versions serving(const std::string& name) const;
  std::vector<std::string> versions(const std::string& name) const;   // that serve
  std::vector<IndexRow> index() const;           // by name and version

  // Whether new requests are taken: from the end of loading until the server ends.
  bool accepting() const { return accepting_; }
  // Whether clients should send them: until the server is told to end.
  bool ready() const { return ready_; }
  void set_ready(bool ready) { accepting_ = ready, ready_ = ready; }
  void set_leaving() { ready_ = false; }         // requests are taken until those who send them have seen it
  // Whether probes are told so: also, if it is strict, all models that the start was to load serve, or were unloaded since.
  bool all_ready() const;
  void require(const std::string& name);         // one of those
  void set_strict(bool strict) { strict_ = strict; }
  void stop();                                   // stops all queues: returns when what was accepted is answered

  // Null: models are those of the start.
  ModelControl* control() const { return control_.get(); }
  void set_control(std::shared_ptr<ModelControl> control) { control_ = std::move(control); }

 private:
  struct Version {
    std::shared_ptr<Model> model;                // null: it does not serve
    ModelState state = ModelState::unknown;
    std::string reason;
  };
  struct Entry {
    std::map<std::int64_t, Version> versions;
    std::string reason;                          // why it has no versions
    bool required = false;
  };
  class Retired;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> models_;
  std::atomic<bool> accepting_ = false, ready_ = false, strict_ = true;
  std::shared_ptr<ResponseCache> cache_;
  std::shared_ptr<SharedMemory> shared_memory_;
  std::unique_ptr<Retired> retired_;
  std::shared_ptr<ModelControl> control_;
};

// What both protocols answer. Throws RequestError where there is no repository.
std::vector<IndexRow> model_index(const Models& models, bool ready_only);
ModelControl& model_control(const Models& models);
// A version as requests have it. Throws RequestError.
std::int64_t parse_version(const std::string& version);

}  // namespace tenfold::server
