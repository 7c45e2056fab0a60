// Running: an Engine is a loaded plan, immutable and shared by threads; an ExecutionContext runs it, one per thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
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
#include "tenfold/version.h"

namespace tenfold {

// An input or output of an engine. An extent is -1 where it depends on the shapes set; names[i] is its symbol then
// ("batch").
struct BindingInfo {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::string> names;
  bool is_input = true;
  bool has_default = false;  // the input need not be bound (BuildConfig::overridable, input_defaults)
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

// Where the weights of a loaded plan lie. But for `map` the file is read whole: who writes over it or cuts it off does
// not reach the engine, and each process has the file's size of memory, also where a GPU has the weights, too.
//   automatic, copy  in memory of the process, in huge pages
//   lock             the same, locked in memory
//   map              in the file's pages, which processes share and the system may drop, at up to a tenth of the speed.
//                    Writing over the file then changes answers or ends the process (SIGBUS): replace it by rename
enum class WeightsMode : std::uint8_t { automatic, copy, lock, map };
struct LoadOptions {
  WeightsMode weights = WeightsMode::automatic;
  bool verify_weights = true;          // loading reads all weights once and compares their checksum
  std::uint32_t cpu_features = 0;      // the plan may use these only (parse_cpu_features); 0: all that the machine has
  std::string device;                  // "cuda:1"; empty: the first device of the kind that the plan was built for
  int threads = 0;                     // workers of each context, up to 256; 0: from affinity mask and cgroup quota
  // Each context of a CPU has workers of its own, and each of its threads keeps one processor, with a core to itself
  // while there are enough. These threads are the workers and, from its first call on, the thread that calls run().
  // Pinning is for processes that have the machine to themselves. A context gives its processors back when it ends. A
  // thread that has called run() stays on its processor, and threads and unpinned engines that it makes later inherit
  // that: so build, load and start threads before. GPUs ignore this option.
  bool pin_threads = false;
  std::shared_ptr<const Plugins> plugins = {};   // operators that the plan may use beside the built-in ones
  LogCallback log;                     // null: the runtime's log
  std::shared_ptr<Runtime> runtime = {};         // the engine belongs to it; null: the process's own
  // GPU binaries that the plan carries are run. If false, they are compiled again from the plan's description.
  bool device_code = true;
};

struct EngineInfo {
  std::string model_name, device, builder;
  std::int64_t weight_bytes = 0;       // constants as the plan stores them, packed
  std::int64_t arena_bytes = 0;        // a context's arena at the largest profile
  std::int64_t scratch_bytes = 0;      // what a context has beside its arena, for its workers
  std::int64_t arena_live_bytes = 0;   // the largest sum of live activations, the measure of arena_bytes
  std::int64_t library_workspace_bytes = 0;   // of the arena: the most that a step in cuBLASLt, cuDNN or oneDNN uses
  std::int64_t workspace_bytes = 0;    // of the arena: the most that any step uses
  std::int64_t binding_bytes = 0;      // a context's own memory for bindings, at the largest shapes (on a GPU: there)
  std::int64_t pinned_bytes = 0;       // on a GPU: a context's host memory for host steps, at the largest shapes
  int profiles = 1, steps = 0, threads = 1;
  int precomputed_steps = 0;                 // of `steps`: those that precompute() runs
  bool on_gpu = false;
  bool waits_in_run = false;           // on a GPU: steps run or decide on the host, so enqueue() waits for them
  bool allocates_in_run = false;       // sequences, strings, steps on reference kernels or in oneDNN
  std::vector<Note> notes;             // of the build, if there was one, then of the load; the log is told them, too
};

// Memory that the caller gives a context for results of steps and scratch of workers. It lies on the engine's device,
// is aligned to 256 bytes and outlives the context. Contexts may share it if they never run at the same time.
struct ContextOptions {
  void* memory = nullptr;              // null: the context allocates
  std::int64_t bytes = 0;              // Engine::arena_bytes() of its shapes; at others run() returns out_of_memory
};

// Receives a plan's bytes, one piece after the other. An exception that it throws ends the saving.
using PlanWriter = std::function<void(std::span<const std::byte>)>;
// A plan that lies elsewhere. `bytes` is its size. `read` fills `to` with its bytes from `offset` on, or throws.
struct PlanReader {
  std::uint64_t bytes = 0;
  std::function<void(std::uint64_t offset, std::span<std::byte> to)> read;
};
struct PlanInspection;                 // tenfold/inspect.h

class ExecutionContext;
namespace runtime { struct EngineState; struct ContextState; struct EngineAccess; struct ContextAccess; }

// A loaded plan. Copies are one engine. Thread safe.
class TENFOLD_API Engine {
 public:
  // Throw plan_refused, io. The second form copies the weights; the third reads them to where they stay.
  static Engine load(const std::string& plan_path, const LoadOptions& options = {});
  static Engine load(std::span<const std::byte> plan, const LoadOptions& options = {});
  static Engine load(const PlanReader& plan, const LoadOptions& options = {});
  void save(const std::string& plan_path) const;       // the old file stays until the new one is whole; throws io
  void save(const PlanWriter& write) const;            // writes the same bytes, without a copy of the weights
  std::vector<std::byte> serialize() const;

  const std::vector<BindingInfo>& bindings() const;    // inputs, then outputs
  int binding_index(std::string_view name) const;      // throws invalid_argument listing the names
  const EngineInfo& info() const;
  // GPU memory that this engine and its contexts have now, in bytes; 0 on CPUs. Weights that engines share count for
  // the engine that loaded them first. An engine and those refitted from it count together.
  std::int64_t gpu_bytes() const;
  // The least, usual and largest shape of an input in a profile.
  struct ProfileShapes { Shape min, opt, max; };
  ProfileShapes profile_shapes(int profile, std::string_view input) const;
  // The plan in words. `detail` -1 leaves steps out, 0 gives each step a line, 1 lists operands, too.
  std::string inspect(int detail = 1) const;
  std::string inspect_json() const;                    // the plan as JSON, in the form of trtexec's layer information
  PlanInspection inspection() const;                   // the plan as data
  const std::map<std::string, std::string>& labels() const;   // BuildConfig::labels of the build

  // Gives a new engine with other values for named weights (BuildConfig::refittable). The values are folded and packed
  // as the old ones were, and the new engine shares everything that did not change. Contexts of the old engine keep it.
  // Throws invalid_argument for an unknown name or another type, and unsupported for another value of a weight that is
  // fixed in the plan.
  Engine refit(const std::vector<std::pair<std::string, Tensor>>& weights) const;
  // In the model's order, fixed weights included. Empty if the plan is not refittable.
  std::vector<WeightInfo> refittable_weights() const;

  std::unique_ptr<ExecutionContext> create_context() const;
  // Throws invalid_argument, out_of_memory.
  std::unique_ptr<ExecutionContext> create_context(const ContextOptions& options) const;
  // Bytes that ContextOptions::memory needs for these shapes of the inputs, or without shapes for the largest. Profile
  // -1 is the first that fits, as for a context. Offsets are fixed when a plan is built, so smaller shapes save only
  // what lies at the end.
  std::int64_t arena_bytes(int profile = -1, const std::vector<Shape>& inputs = {}) const;

 private:
  friend struct runtime::EngineAccess;
  explicit Engine(std::shared_ptr<runtime::EngineState> state) : state_(std::move(state)) {}
  std::shared_ptr<runtime::EngineState> state_;
};

// Where the time of the last run went, by the device's clock. enqueue_ms is the time that the host took to enqueue the
// run, by its own clock. On CPUs nothing is copied, and enqueue_ms is the computing.
struct RunTimes { double host_to_device_ms = 0, compute_ms = 0, device_to_host_ms = 0, enqueue_ms = 0; };

// Milliseconds spent in one step, for a profiler.
using ProfilerCallback = std::function<void(std::string_view step, double milliseconds)>;
// The same with the begin of the step, in milliseconds since the run began. On a GPU the host's clock tells both, and
// the host waits for each step.
struct StepTime { std::string_view name; double start_ms = 0, ms = 0; };
using StepTimeCallback = std::function<void(const StepTime& step)>;
// Receives a result of one step, copied to row-major order, under the name that the model gives it. It serves to
// compare engines layer by layer.
using ObserverCallback = std::function<void(std::string_view step, std::string_view value, const Tensor& result)>;

// Runs an engine. Not thread safe: one thread uses a context at a time. After set-up, run() neither allocates nor
// locks, unless EngineInfo::allocates_in_run. It never throws.
class TENFOLD_API ExecutionContext {
 public:
  ~ExecutionContext();
  ExecutionContext(const ExecutionContext&) = delete;
  ExecutionContext& operator=(const ExecutionContext&) = delete;

  Status set_profile(int profile) noexcept;                       // -1, the default: the first that fits the shapes
  // Inputs with dynamic dims need a shape. Setting a shape inside the profile allocates nothing.
  Status set_input_shape(int binding, std::span<const std::int64_t> shape) noexcept;
  // The shape of any binding for the shapes set. An extent that depends on data is -1 until run() has finished.
  Status shape(int binding, std::span<std::int64_t> out, int& rank) const noexcept;
  Shape shape(int binding) const;                                 // the same; throws invalid_argument
  // Binds the caller's memory: dense, row major, at least as large as the shapes set need. Null binds the context's own
  // memory again. For an engine on a GPU it may be GPU memory, which nothing is copied from or to, or the host's. An
  // input with a default need not be bound: the context's own memory holds the default until the caller writes there.
  Status bind(int binding, void* memory, std::int64_t bytes) noexcept;
  // The context's own memory of a binding, allocated on first use for the largest shape of the profiles. Where an
  // output's size has no bound, run() may allocate larger memory: ask again for its address then. Throws
  // invalid_argument, out_of_memory.
  void* own_memory(int binding);
  Status prepare() noexcept;                                      // does all of a first run but the computing
  // Of an engine built with BuildConfig::newest_row: computes what does not depend on the newest row of the window that is
  // bound, whose rows before it are there. The next run() computes the rest, with the newest row and all other inputs. A
  // run() without it, or after a change of shapes or bindings, computes everything. So it does where bindings are views or
  // states, and of other engines, for which this returns at once. No other context may run in this one's memory between
  // the two.
  Status precompute() noexcept;
  Status run() noexcept;
  Status run_with(const RunOptions& options) noexcept;            // with a token that may stop it and a deadline

  // Starts a run on a stream of the caller's: a CUstream or cudaStream_t of the engine's GPU, or null for the context's
  // own. It returns without waiting for the run if prepare() was called at these shapes, bindings lie on the GPU or in
  // pinned memory, and no step runs on the host (EngineInfo::waits_in_run). The run comes after what the caller put on
  // the stream before, and in front of what he puts there after. Call wait() before you use another stream, before
  // bindings move to another kind of memory, and to learn whether an index lay outside a tensor. On CPUs enqueue() is
  // run(), and a stream is refused.
  //
  // A stream that is being captured takes the steps into the caller's graph, one by one, and each launch of that graph
  // is a run. Call prepare() before the capture begins, and bind memory of the GPU or pinned memory. Context and
  // bindings stay what and where they are as long as the graph is used. A context still makes one run at a time.
  // Returns `not_ready` without prepare(), and `failed` (describe() says why) where the host has a part in the run;
  // nothing was enqueued then. wait() does not wait for launches of the graph.
  Status enqueue(void* stream = nullptr) noexcept;
  // The same with options. Token and deadline stop the run as long as the host still enqueues steps.
  Status enqueue(void* stream, const RunOptions& options) noexcept;
  Status wait() noexcept;                                         // returns when all that was enqueued is done
  void wait_how(Wait how) noexcept;                               // how the host waits for a GPU; default: spin_shortly
  // The place on the GPU of a binding whose own memory is the host's; null on CPUs. If the caller binds it, nothing is
  // copied.
  void* device_memory(int binding) noexcept;
  void replay_runs(bool on) noexcept;  // on a GPU, as a CUDA graph (the default) or step by step

  void measure_parts(bool on) noexcept;                           // takes times for last_times(); costs microseconds
  RunTimes last_times() const noexcept;

  // Takes whole tensors and returns whole tensors, in the order of bindings. An undefined tensor (Tensor()) stands for
  // an input's default. Throws Error.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs);
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, const RunOptions& options);

  // Marks runs and their steps as NVTX ranges, for Nsight Systems. Returns false if no profiler listens. Steps inside a
  // CUDA graph have no range of their own.
  bool mark_ranges(bool on) noexcept;

  // May be called from any thread. Returns true if a run, or an enqueue() that still enqueues steps, was under way; it
  // then returns cancelled unless it fails otherwise. Returns false if none was; a run that begins later is not
  // touched. To stop one certain run, begun or not, give it a CancelToken.
  bool cancel() noexcept;
  // Called after every step of a run. A context has one of the two, the last that was set. Null: none.
  void set_profiler(ProfilerCallback callback);
  void set_step_timer(StepTimeCallback callback);
  // Shows the results of steps, those of these names alone if there are any. Null: none. An observed run is slow and
  // allocates.
  void set_observer(ObserverCallback callback, std::set<std::string, std::less<>> values = {});
  std::string describe(Status status) const;                      // "step 'conv1' (Conv): index out of range"

 private:
  friend struct runtime::ContextAccess;
  explicit ExecutionContext(std::unique_ptr<runtime::ContextState> state);
  std::unique_ptr<runtime::ContextState> state_;
};

}  // namespace tenfold
