// ServedModel: a model as servers need it. Requests of several clients run as one batch, and one copy of the
// weights serves all instances on a device.
//
//   auto model = open_served_model("model.onnx", options);
//   auto instance = model->create_instance("cpu");            // one for each thread that runs batches
//   instance->run(requests);                                  // every request gets its outputs, or an error of its own
//
// It knows neither protocols nor queues: those who call it choose what runs together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tenfold/build.h"
#include "tenfold/model_engines.h"
#include "tenfold/plan_cache.h"
#include "tenfold/serving/served_request.h"

namespace tenfold {

// Requests that had their answers from another engine than the model's own.
struct FallbackCount {
  std::string from, to;                          // "engine", "direct", "cpu"
  std::string reason;                            // "unavailable" (when it was loaded), "device_lost", "device_error", "out_of_memory"
  std::uint64_t requests = 0;
};

struct ServedModelOptions {
  // How engines are built from a model file. Its device is that of the instance. Empty profiles are made from
  // `max_batch` and `input_shapes`, if these leave no other extent open. `overridable` and `input_defaults` name
  // inputs that requests may leave out. For a plan these fields count: threads, cpu_features, runtime, plug-ins, log.
  BuildConfig build;
  // Not set: `now` where one engine serves all requests, else `background`, so that a request of new shapes waits for
  // an untimed build only.
  std::optional<Tune> tune;
  std::optional<PlanCache> cache;
  // The most rows of a batch. Above 0, the first dim of every input and output counts the requests' rows, and requests
  // with otherwise equal shapes are run together. 0: each request is a run of its own.
  std::int64_t max_batch = 0;
  // Shapes that requests may have, by input, with -1 where an extent is open (the batch dim, too). They may fix extents
  // that the model leaves open. Inputs that are not named have the model's.
  std::map<std::string, Shape> input_shapes;
  // An instance whose device cannot be used runs on the CPU; the log says why. false: create_instance() throws instead.
  bool fallback = true;
  // Requests of a run on a GPU that fails with an error of the device are answered by the next of these, and so are those that follow:
  // an untimed engine on the same GPU ("direct"), unless the process has lost it, then one on the CPU ("cpu"), which is made while
  // requests run if one engine serves all shapes. After a while the GPU is tried again, unless it is lost. false: they fail.
  bool fallback_at_runs = true;
  bool isolate_builds = false;                   // ModelEnginesOptions::isolate_builds
};

// Runs batches on one device, with memory of its own. One thread uses it at a time. It keeps its model alive.
class TENFOLD_API ServedInstance {
 public:
  virtual ~ServedInstance();
  virtual const std::string& device() const noexcept = 0;   // where it runs: "cpu", "cuda:0"
  virtual std::int64_t memory_bytes() const noexcept = 0;   // what it holds there now; 0: not known
  // Runs the requests, those together that fit, in as few runs as there can be. It returns when all have finished. A
  // request that is wrong (a name, a type, a shape, an index that its values hold) fails alone. `runs`, if given,
  // receives the runs that succeeded. Throws nothing.
  virtual void run(std::span<ServedRequest* const> requests, std::vector<BatchRun>* runs = nullptr) noexcept = 0;
};

// What servers serve. open_served_model() gives one of a file, open_served_encoder() (served_encoder.h) one that takes
// text. Thread safe.
class TENFOLD_API ServedModel {
 public:
  virtual ~ServedModel();
  virtual const std::vector<BindingInfo>& bindings() const noexcept = 0;   // as requests see them: inputs, then outputs
  // The inputs with extents, other than the batch, that nothing fixes. Their shapes choose the engine, for which the
  // first request of such a shape waits. Empty: one engine, built for the first instance, serves all requests.
  virtual const std::vector<std::string>& open_inputs() const noexcept = 0;
  // The most rows of a batch that the file permits: of a plan, those of its profiles. 0: any number.
  virtual std::int64_t max_rows() const noexcept = 0;
  // Builds the engine of the device, if that is to be one for all requests. Throws what builds and loads throw.
  virtual std::unique_ptr<ServedInstance> create_instance(const std::string& device) = 0;
  virtual std::vector<FallbackCount> fallbacks() const { return {}; }
  virtual BuildCounts builds() const { return {}; }   // of all devices; a plan is neither built nor cached
};

// A model (.onnx) or a plan (any other name). Reads bindings, and builds nothing yet. Throws what model_bindings() and
// Engine::load() throw, and invalid_argument for options that the model cannot follow: a name in `input_shapes`, an
// extent that it fixes otherwise, a batch dim that it does not have.
TENFOLD_API std::shared_ptr<ServedModel> open_served_model(const std::string& path, ServedModelOptions options);

// Why requests to a model cannot be batched along the first dim, by the first input or output that forbids it ("output
// 'y' has the fixed shape 1x10"); empty: they can.
TENFOLD_API std::string why_not_batched(std::span<const BindingInfo> bindings);

}  // namespace tenfold
