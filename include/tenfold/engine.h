// Running: an Engine is a loaded plan, immutable and shared by threads; an ExecutionContext runs it, one per thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/device.h"
#include "tenfold/error.h"
#include "tenfold/export.h"
#include "tenfold/log.h"
#include "tenfold/notes.h"
#include "tenfold/run_options.h"
#include "tenfold/tensor.h"

namespace tenfold {

// An input or output. Extents are -1 where they depend on the shapes set; names[i] says which symbol ("batch").
struct BindingInfo {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::string> names;
  bool is_input = true;
  bool has_default = false;  // an input that need not be bound (BuildConfig::overridable, input_defaults)
};

// A named weight of the model that a plan was made from.
struct WeightInfo {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::string fixed;                   // why refit() refuses another value; empty: it may change
};

class Plugins;                         // tenfold/plugin.h
class Runtime;                         // tenfold/runtime.h

// automatic: copy 16 MiB and more for a CPU if there is memory for it, else map. map: the file's own pages, which processes
// share and the system may drop; small pages cost up to a tenth of the speed. copy: into huge pages, while loading. lock: copy, and lock
// in memory.
enum class WeightsMode : std::uint8_t { automatic, copy, lock, map };
struct LoadOptions {
  WeightsMode weights = WeightsMode::automatic;
  bool verify_weights = true;          // one pass over the weights' checksum
  std::uint32_t cpu_features = 0;      // restrict to these; 0: all the machine has
  std::string device;                  // "cuda:1"; empty: the first of the kind that the plan was built for
  int threads = 0;                     // workers of each context; 0: from affinity mask and cgroup quota
  // Each context of a CPU has workers of its own, and all its threads keep one processor each, a core to each thread while there are
  // enough: the workers, and the thread that calls run(), from its first call on. For processes that have the machine to themselves.
  // A context gives its processors back when it goes. A thread that has called it stays on its processor, and threads and unpinned
  // engines that it makes later inherit that: build, load and start threads before. GPUs ignore it.
  bool pin_threads = false;
  std::shared_ptr<const Plugins> plugins = {};   // operators that the plan may use beside the built-in ones
  LogCallback log;                     // null: the runtime's
  std::shared_ptr<Runtime> runtime = {};         // that the engine belongs to; null: the process's own
  bool device_code = true;             // run GPU binaries that the plan carries; false: compile them again from its description
};

struct EngineInfo {
  std::string model_name, device, builder;
  std::int64_t weight_bytes = 0;       // constants as stored, packed
  std::int64_t arena_bytes = 0;        // of the largest profile
  std::int64_t scratch_bytes = 0;      // that a context has beside its arena, for its workers
  std::int64_t arena_live_bytes = 0;   // the largest sum of live activations: what arena_bytes is measured against
  std::int64_t library_workspace_bytes = 0;   // of arena_bytes: the most that a step in cuBLASLt, cuDNN or oneDNN works in
  std::int64_t workspace_bytes = 0;    // of arena_bytes: the most that any step works in
  std::int64_t binding_bytes = 0;      // on a GPU: a context's copies of inputs and outputs there, at the largest shapes
  std::int64_t pinned_bytes = 0;       // on a GPU: memory of the host that a context keeps for steps on the host, at the largest shapes
  int profiles = 1, steps = 0, threads = 1;
  bool on_gpu = false;
  bool waits_in_run = false;           // on a GPU: steps run on the host or decide there, so enqueue() waits for them
  bool allocates_in_run = false;       // sequences, strings, steps that run on reference kernels or in oneDNN
  std::vector<Note> notes;             // of the build, if this engine comes from one, then of the load; a log callback hears them, too
};

// Memory of the caller's for a context: for results of steps and scratch of workers. Of the engine's device, aligned to 256 bytes; it
// outlives the context, and belongs to contexts that never run at the same time.
struct ContextOptions {
  void* memory = nullptr;              // null: the context's own
  std::int64_t bytes = 0;              // Engine::arena_bytes() of the shapes that it is to run; at others run() returns out_of_memory
};

// Receives a plan's bytes, one piece after the other; what it throws ends the saving.
using PlanWriter = std::function<void(std::span<const std::byte>)>;
// A plan that lies elsewhere: its size, and what fills `to` with its bytes from `offset` on, or throws.
struct PlanReader {
  std::uint64_t bytes = 0;
  std::function<void(std::uint64_t offset, std::span<std::byte> to)> read;
};
struct PlanInspection;                 // tenfold/inspect.h

class ExecutionContext;
namespace runtime { struct EngineState; struct ContextState; struct EngineAccess; struct ContextAccess; }

class TENFOLD_API Engine {
 public:
  static Engine load(const std::string& plan_path, const LoadOptions& options = {});   // throws plan_refused, io
  static Engine load(std::span<const std::byte> plan, const LoadOptions& options = {});   // copies the weights
  static Engine load(const PlanReader& plan, const LoadOptions& options = {});   // weights are read to where they stay
  void save(const std::string& plan_path) const;       // atomic: the old file stays whole until the new one is complete
  void save(const PlanWriter& write) const;            // the same bytes, without a copy of the weights
  std::vector<std::byte> serialize() const;

  const std::vector<BindingInfo>& bindings() const;    // inputs, then outputs
  int binding_index(std::string_view name) const;      // throws invalid_argument listing the names
  const EngineInfo& info() const;
  // GPU memory that this engine and its contexts have now, in bytes; 0 on CPUs. Weights that engines share count where they were loaded
  // first, an engine and what was refitted from it count together.
  std::int64_t gpu_bytes() const;
  // min, opt and max shape of an input in a profile.
  struct ProfileShapes { Shape min, opt, max; };
  ProfileShapes profile_shapes(int profile, std::string_view input) const;
  // The plan in words: `detail` -1 no steps, 0 one line per step, 1 with operands; or as JSON in trtexec's layer-information form.
  std::string inspect(int detail = 1) const;
  std::string inspect_json() const;
  PlanInspection inspection() const;                   // the same as data
  const std::map<std::string, std::string>& labels() const;   // BuildConfig::labels of the build

  // A new engine with other values for named weights (BuildConfig::refittable), folded and packed as the old ones were; shares
  // everything that did not change. Running contexts keep the old one. Throws invalid_argument for an unknown name or another type,
  // unsupported for a weight whose value is fixed in the plan; equal values are always accepted.
  Engine refit(const std::vector<std::pair<std::string, Tensor>>& weights) const;
  std::vector<WeightInfo> refittable_weights() const;  // in the model's order, fixed ones included; empty if the plan is not refittable

  std::unique_ptr<ExecutionContext> create_context() const;
  std::unique_ptr<ExecutionContext> create_context(const ContextOptions& options) const;   // throws invalid_argument, out_of_memory
  // Bytes that ContextOptions::memory needs for these shapes of the inputs; without shapes: for the largest. Profile -1: the first that
  // fits, as a context takes it. Offsets are fixed when a plan is built, so smaller shapes save only what lies at the end.
  std::int64_t arena_bytes(int profile = -1, const std::vector<Shape>& inputs = {}) const;

 private:
  friend struct runtime::EngineAccess;
  explicit Engine(std::shared_ptr<runtime::EngineState> state) : state_(std::move(state)) {}
  std::shared_ptr<runtime::EngineState> state_;
};

// Where the time of the last run went, by the device's clock; enqueue_ms: how long the host took to ask for the computing, by its own. On
// CPUs nothing is copied, and asking is computing.
struct RunTimes { double host_to_device_ms = 0, compute_ms = 0, device_to_host_ms = 0, enqueue_ms = 0; };

// Milliseconds spent in one step, for a profiler.
using ProfilerCallback = std::function<void(std::string_view step, double milliseconds)>;
// The same, and when the step began: milliseconds since the run did. On a GPU by the host's clock, which waits for each step.
struct StepTime { std::string_view name; double start_ms = 0, ms = 0; };
using StepTimeCallback = std::function<void(const StepTime& step)>;
// A result of one step, copied to row-major order, under the name that the model gives it: to compare engines layer by layer.
using ObserverCallback = std::function<void(std::string_view step, std::string_view value, const Tensor& result)>;

// Not thread safe: one per thread. After set-up, run() neither allocates, locks nor throws.
class TENFOLD_API ExecutionContext {
 public:
  ~ExecutionContext();
  ExecutionContext(const ExecutionContext&) = delete;
  ExecutionContext& operator=(const ExecutionContext&) = delete;

  Status set_profile(int profile) noexcept;                       // default: the first that fits the shapes
  // Shapes must be set for inputs with dynamic dims; setting inside the profile allocates nothing.
  Status set_input_shape(int binding, std::span<const std::int64_t> shape) noexcept;
  // The shape of any binding for the shapes set; extents that depend on data are -1 until run() has finished.
  Status shape(int binding, std::span<std::int64_t> out, int& rank) const noexcept;
  Shape shape(int binding) const;                                 // the same; throws
  // Caller's memory, dense row major, at least the size for the shapes set. Null: back to the context's own memory. With a GPU it may
  // be the GPU's own (nothing is copied then), or the host's. An input with a default that is not bound has it: the context's own memory
  // holds the default until the caller writes there.
  Status bind(int binding, void* memory, std::int64_t bytes) noexcept;
  // Allocated to the profile's largest shape on first use. Where an output's size has no bound, run() makes it larger: ask again
  // for its address then.
  void* own_memory(int binding);
  Status prepare() noexcept;                                      // does all that the first run at these shapes would do
  Status run() noexcept;
  Status run_with(const RunOptions& options) noexcept;            // a token that may stop it, a deadline

  // Starts a run on a stream of the caller's (a CUstream or cudaStream_t of the engine's GPU; null: the context's own) and returns
  // without waiting for it, if prepare() was called at these shapes and bindings lie on the GPU or in pinned memory, and no step
  // runs on the host (EngineInfo::waits_in_run). Work that the caller puts on the stream before and after comes in that order. Before
  // another stream is used, before bindings move to another kind of memory, and for the answer whether an index lay outside a tensor:
  // wait(). On CPUs it is run(), and a stream is refused.
  //
  // A stream that is being captured takes the steps into the caller's graph, one by one; each launch of that graph is a run. prepare() has
  // to be called before the capture begins, bindings lie on the GPU or in pinned memory, and context and bindings stay what and where they
  // are as long as the graph is used; one run of a context at a time, here too. `not_ready` without prepare(), `failed` (describe() says
  // why) where the host has a part in the run: then nothing was enqueued. wait() does not wait for launches of the graph.
  Status enqueue(void* stream = nullptr) noexcept;
  // The same under options: the token and the deadline stop it as long as the host still asks for steps.
  Status enqueue(void* stream, const RunOptions& options) noexcept;
  Status wait() noexcept;                                         // until all that was enqueued is done
  void wait_how(Wait how) noexcept;                               // default: spin_shortly
  // The GPU's memory that stands for a binding whose own memory is the host's; null on CPUs. If it is bound itself, nothing is copied.
  void* device_memory(int binding) noexcept;
  void replay_runs(bool on) noexcept;  // as a CUDA graph, which is the default; else step by step

  void measure_parts(bool on) noexcept;                           // take the times that last_times() gives; costs some microseconds
  RunTimes last_times() const noexcept;

  // Convenience: whole tensors in, whole tensors out (by binding order). An undefined tensor (Tensor()) stands for an input's default.
  // Throws.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs);
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, const RunOptions& options);

  // Runs and their steps as NVTX ranges, for Nsight Systems. False: no profiler listens. Steps inside a CUDA graph have none of their own.
  bool mark_ranges(bool on) noexcept;

  // From any thread. True: a run (or an enqueue() that still asks for steps) was under way, and it returns cancelled unless it fails
  // otherwise. False: none was, and nothing happens: a run that begins later is not touched. To stop one certain run, begun or not, give
  // it a CancelToken.
  bool cancel() noexcept;
  // Called behind every step of a run; one of the two, the last that was set. Null: none.
  void set_profiler(ProfilerCallback callback);
  void set_step_timer(StepTimeCallback callback);
  void set_observer(ObserverCallback callback);                   // null: none; an observed run is slow and allocates
  std::string describe(Status status) const;                      // "step 'conv1' (Conv): index out of range"

 private:
  friend struct runtime::ContextAccess;
  explicit ExecutionContext(std::unique_ptr<runtime::ContextState> state);
  std::unique_ptr<runtime::ContextState> state_;
};

}  // namespace tenfold
