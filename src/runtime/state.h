// What an Engine and an ExecutionContext hold: the opened plan, and the memory and shapes of one runner.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "backends/tactic_set.h"
#include "base/nvtx.h"
#include "ir/dim_code.h"
#include "ir/op_def.h"
#include "plan/loop_form.h"
#include "runtime/engine_access.h"

namespace tenfold::runtime {

struct OpenProgram;

// A step with everything looked up: its tactic's kernel, or the node its reference kernel or control flow needs.
struct OpenStep {
  const plan::Step* step = nullptr;
  const backends::Tactic* tactic = nullptr;
  std::shared_ptr<const void> kernel;
  std::shared_ptr<ir::Graph> host_graph;      // owns host_node; host steps only
  const ir::Node* host_node = nullptr;
  bool may_disagree = false;                  // extents that are symbols have to be compared before it runs
  bool grows = false;                         // its results get their memory when their sizes are known
  bool on_values = false;                     // a host step that reads or gives whole values (run_values.cpp)
  bool front = false;                         // see OpenProgram
  plan::LoopForm loop;
  std::vector<char> in_backwards, out_backwards;   // Scan: by slice or stack
  std::vector<OpenProgram> programs;
};
struct OpenProgram {
  const plan::Program* program = nullptr;
  std::vector<OpenStep> steps;
  std::vector<std::int32_t> defines;          // symbols that its steps define, and those of the programs that they own
  std::size_t front = 0;                      // of a top program on a device with memory of its own: steps of its front (plan/front.h)
  bool counts_in_front = false;               // all that is counted
};
// A top-level program: the dims table of all its nested programs, compiled.
struct OpenTop {
  OpenProgram body;
  ir::DimCode dims;
  std::vector<std::string> symbols;
  std::vector<ir::Dim> symbol_dims;           // the same as Dims: making one takes a lock, so never in a run
  std::vector<std::int64_t> symbol_defaults;  // upper bounds, for symbols that steps define
  std::vector<ir::DimCode::Known> unknown;    // what is known of each symbol before its step ran
  std::vector<std::vector<std::int32_t>> defined_by_steps;   // of each dim: its symbols that steps define
  int input_symbols = 0;                      // how many of them come from input shapes; they stand first
  std::vector<char> outputs_grow;             // of each output: whether its size has no usable bound
  bool steps_define() const { return symbols.size() > static_cast<std::size_t>(input_symbols); }
  ir::SymbolBounds box;
};

struct EngineState {
  plan::Plan plan;
  std::shared_ptr<const void> weights_in_table;   // keeps these weights known to the runtime; null: they are not shared
  std::shared_ptr<const void> membership;     // of the runtime, which counts its engines
  std::shared_ptr<const void> constants;      // plan.weights where tactics read them
  std::vector<std::shared_ptr<const void>> replaced;   // by constant: what a refit put in its place, there; null: nothing
  LoadOptions options;
  std::shared_ptr<backends::Backend> backend;
  const ir::Registry* registry = nullptr;
  backends::TacticSet tactics;                // the backend's and the plug-ins'
  std::vector<OpenTop> programs;
  std::vector<BindingInfo> bindings;
  EngineInfo info;
  int inputs = 0;
  std::int64_t scratch_stride = 0;            // what the most demanding step wants for each worker

  const std::byte* bytes_of(std::size_t constant) const {
    const bool old = replaced.empty() || !replaced[constant];
    return static_cast<const std::byte*>(old ? constants.get() : replaced[constant].get()) + (old ? plan.constants[constant].offset : 0);
  }
};

// Throws plan_refused with both feature sets when this machine lacks some that the plan uses, or is of another kind.
void check_machine(const plan::Plan& plan, const backends::DeviceInfo& here);
// Opens every kernel of a plan on this machine; `constants`: its weights, if they are in place already.
std::shared_ptr<EngineState> open_engine(plan::Plan plan, const LoadOptions& options, std::shared_ptr<backends::Backend> backend,
                                         std::shared_ptr<const void> constants = nullptr);

// Adds a note for each step that runs on a reference kernel.
void note_reference_steps(EngineState& engine);
// Adds a note where a clock is not what it was when the plan's kernels were timed: apart by more than a tenth of that.
void note_clocks(EngineState& engine, std::span<const backends::Clock> now);
// Tells a callback what the notes of a load say: those on reference kernels in one line.
void tell_notes(std::span<const Note> notes, const LogCallback& log);

// A loop between two iterations: what its body's bindings are made of.
struct LoopState {
  std::int64_t iteration = 0;
  std::uint8_t go = 1, next = 1;              // the condition that the body reads, and writes
  bool second_first = false;                  // which of a carried value's two places the first iteration writes
};

// Memory that is allocated once its size is known, and kept.
struct GrownBuffer {
  std::shared_ptr<void> memory;
  std::int64_t bytes = 0;
};

// What a loop has on a device with memory of its own (device_loop.cpp): its body's header, and places for one slice each of what is cut
// or stacked, for slices that do not start where tactics may count on.
struct LoopOnDevice {
  std::shared_ptr<void> header;
  std::vector<GrownBuffer> slices;
  void* iteration() const noexcept { return header.get(); }
  void* go() const noexcept { return static_cast<std::byte*>(header.get()) + 64; }
  void* next() const noexcept { return static_cast<std::byte*>(header.get()) + 128; }
};

// One step bound to memory. Operands' extents and strides live in Frame::extents.
struct BoundStep {
  const OpenStep* open = nullptr;
  std::shared_ptr<const void> kernel;         // the engine's, or for plug-ins the context's own
  std::vector<backends::Bound> in, out;
  ir::Call call;                              // host steps
  std::vector<ir::TensorRef> result_shapes;   // branches and loops that define symbols; at the front: results at their largest
  std::vector<struct Frame> frames;           // one per nested program
  LoopState loop;
  std::vector<Shape> agreed;  // extents of the operands that were last found to suit each other
  // Where the host cannot read the device's memory: host copies of a host step's operands, then results, and of what a branch or a
  // loop decides by. Without memory until they are needed where no bound is known.
  std::vector<GrownBuffer> staged;
  LoopOnDevice on_device;
};
// One (possibly nested) program bound to a context. Moved, never copied: its steps point into its extents.
struct Frame {
  Frame() = default;
  Frame(Frame&&) = default;
  Frame(const Frame&) = delete;
  const OpenProgram* open = nullptr;
  std::deque<BoundStep> steps;
  std::vector<plan::DimIndex> extent_index;   // extents[i] = dims[extent_index[i]]
  std::vector<std::int64_t> extents;
  std::vector<void*> bindings;                // memory of the program's inputs, then outputs
  std::byte* arena = nullptr;
};

// How a binding reaches a device with memory of its own (transfers.cpp).
struct Transfer {
  void* used = nullptr;                       // what the steps read or write
  void* pinned = nullptr;                     // what a recording copies to or from there, unless it is the same
  const void* on_host = nullptr;              // where the host reads it
  bool by_host = false;                       // the host copies between the caller's memory and `pinned`
  bool apart = false;                         // the stream copies between the caller's memory and `used`, outside recordings
};
// Which lane of a recording each step goes to, and the steps of other lanes that it follows (lanes.cpp).
struct LanePlan {
  struct Place {
    int lane = 0;
    std::vector<int> follows;
    bool followed = false;  // by a step of another lane
  };
  std::vector<Place> steps;
  std::vector<int> joined_at_end;  // steps of other lanes that lane 0 has not followed before
  bool several = false;
};
LanePlan plan_lanes(const struct Frame& frame, int lanes);
// The steps of a program at one set of shapes and addresses, with the copies of what is pinned, as the stream can replay them.
struct Recording {
  int program = -1;
  std::vector<std::int64_t> dims;
  std::vector<Transfer> transfers;
  std::shared_ptr<const void> steps;
  bool lanes = false;  // steps lie beside each other: at these shapes that is faster
};

// The bytes that a binding takes of the address space.
struct Occupied {
  std::uintptr_t first = 0, end = 0;
  std::size_t binding = 0;
};
// What cancel() meets: no run, one that goes on, or one that it has stopped already.
enum class Phase : std::uint8_t { idle, going, cancelled };

struct Extras;
class Completer;
struct ContextState {
  std::shared_ptr<EngineState> engine;
  std::unique_ptr<backends::Stream> stream;
  std::shared_ptr<void> arena;                // and behind it every worker's scratch; the caller's begins with the scratch
  std::int64_t arena_room = 0;                // bytes for results of steps
  std::byte* scratch = nullptr;
  int profile = -1;                           // chosen by the caller; -1: the first that fits
  std::optional<int> refused_profile;         // that the caller asked for last, and there is none
  int active = -1;                            // program whose frame is bound
  std::vector<Frame> frames;                  // one per top-level program, made with the context
  std::vector<std::int64_t> symbols, dims;    // values for the active program
  std::vector<ir::DimCode::Known> known;      // of each symbol
  std::vector<RuntimeValue> objects;          // by number; of bindings first (values.cpp)
  std::vector<char> objects_bound;            // by binding: an input's value was bound; empty where no binding takes or gives values
  std::vector<GrownBuffer> grown;
  std::vector<std::int64_t> grown_bytes;      // as extents_fit() wants them
  std::vector<Shape> input_shapes;            // as set; empty vector and `input_set` false: not yet
  std::vector<char> input_set;
  std::vector<void*> memory;                  // per binding: the caller's or own, on the host
  std::vector<std::int64_t> memory_bytes;
  std::vector<GrownBuffer> own;
  std::vector<GrownBuffer> mirrors;           // per binding: its memory on the device; empty where the device reads the host's
  std::vector<std::shared_ptr<void>> staging; // per binding: pinned memory for what the caller has elsewhere; made when needed
  std::vector<Transfer> transfers;            // per binding
  std::vector<Recording> recordings;          // the last used last
  bool stream_cannot_record = false;
  const LanePlan* lanes = nullptr;            // while steps are recorded beside each other
  bool records_next = false;                  // the steps behind the front ran one by one: they are to be recorded
  bool uploading = false;                     // what steps at the front gave may still be on its way to the device
  bool enqueuing = false;                     // runs are enqueued: the host copies nothing
  bool measured = false;                      // take times of the parts of a run
  double enqueue_ms = 0;                      // of the last run that was measured, where the host asks and the device computes
  bool shapes_dirty = true, addresses_dirty = true;
  bool states_moved = false;                  // states swapped their places since addresses were settled
  std::atomic<Phase> phase{Phase::idle};
  const RunOptions* options = nullptr;        // of the run under way; null: none
  std::shared_ptr<Extras> extras;             // for bindings beyond plain memory (extras.h); null: there are none
  std::vector<Occupied> occupied;             // by address; see check_overlaps()
  int overlapping[2] = {-1, -1};              // bindings that were refused last because they share memory
  bool notes_end = false;                     // the stream is to note where a run that is enqueued ends
  bool outcome_counts = false;                // the last run was enqueue_then()'s: wait() tells its outcome
  std::shared_ptr<Completer> completer;       // of runs that tell when they are over (completion.cpp); null: there were none
  const RangeMarks* ranges = nullptr;  // a profiler's, if it was asked to see runs and steps
  StepTimeCallback step_timer;                // a profiler's
  std::chrono::steady_clock::time_point run_start;   // of the run at hand, where steps are timed
  ObserverCallback observer;
  std::string last_error;                     // of the step that failed: what its kernel or its extents have against it
};

// As long as it lives, a profiler that listens shows the name.
class MarkedRange {
 public:
  MarkedRange(const ContextState& c, const char* name) noexcept : marks_(c.ranges) {
    if (marks_) marks_->open(name);
  }
  ~MarkedRange() {
    if (marks_) marks_->close();
  }
  MarkedRange(const MarkedRange&) = delete;
  MarkedRange& operator=(const MarkedRange&) = delete;

 private:
  const RangeMarks* marks_;
};

// What stands behind a context, for functions of other public headers.
struct ContextAccess {
  static ContextState& of(ExecutionContext& context) { return *context.state_; }
  static const ContextState& of(const ExecutionContext& context) { return *context.state_; }
  static std::unique_ptr<ExecutionContext> make(std::unique_ptr<ContextState> state) {
    return std::unique_ptr<ExecutionContext>(new ExecutionContext(std::move(state)));
  }
};
// Throws out_of_memory, saying what takes the memory.
std::unique_ptr<ContextState> make_context(std::shared_ptr<EngineState> engine, const ContextOptions& options = {});
// Memory of a context is aligned so, the caller's too.
inline constexpr std::int64_t kContextAlignment = 256;
// Bytes of the arena that the program's steps touch for these dims; -1: not to be counted.
std::int64_t arena_end(const plan::Program& program, std::span<const std::int64_t> dims) noexcept;
// out_of_memory where the caller's memory is too small for the dims that the context has.
Status check_arena(ContextState& context, const plan::Program& program) noexcept;
std::int64_t scratch_room(const EngineState& engine, std::int64_t workers);   // bytes in front of a caller's arena

// Runs and returns when all is done; asks for a run.
Status run_context(ContextState& context, const RunOptions* options) noexcept;
void begin_run(ContextState& context) noexcept;   // from here on cancel() meets it
Status run_begun(ContextState& context, const RunOptions* options) noexcept;
Status enqueue_context(ContextState& context, void* stream, const RunOptions* options) noexcept;
Status capture_context(ContextState& context, void* stream) noexcept;   // a run that becomes part of the graph being captured there
// Until the thread of enqueue_then() is done with the last run, whose outcome it is; ok if there was none.
Status wait_completed(ContextState& context) noexcept;

// Whether the run under way is to end before its next step, and why.
inline Status::Code stopped(const ContextState& c) noexcept {
  if (c.phase.load(std::memory_order_relaxed) == Phase::cancelled) return Status::cancelled;
  if (!c.options) return Status::ok;
  if (c.options->token.cancelled()) return Status::cancelled;
  return c.options->deadline && std::chrono::steady_clock::now() >= *c.options->deadline ? Status::deadline : Status::ok;
}

// Refuses an output that shares memory with another binding, unless the plan lets it take the place of that input (overlap.cpp). For the
// active program and the addresses bound; asked whenever these change.
Status check_overlaps(ContextState& context) noexcept;
// May output `out` lie where input `in` does? `exactly`: at the same address, not merely across it.
bool may_take_place(const EngineState& engine, const OpenTop& top, std::size_t in, std::size_t out, bool exactly);
// An output whose size has no usable bound: memory of the context's own grows to it in the run.
bool output_grows(const plan::Program& top, const plan::Operand& formal, const ir::SymbolBounds& box);
// Bytes of a binding over all profiles.
std::int64_t largest_bytes(const EngineState& engine, std::size_t binding);
Frame make_frame(const OpenProgram& program);
void resolve_extents(Frame& frame, std::span<const std::int64_t> dims) noexcept;
void resolve_addresses(const ContextState& context, Frame& frame) noexcept;
// The bindings of a loop's body for the iteration that its state names.
void bind_iteration(BoundStep& bound) noexcept;
// Are all symbols of this dim, or of these, known?
bool is_known(const ContextState& context, std::span<const plan::DimIndex> dims) noexcept;
// Gives growing buffers and own outputs the bytes that the dims ask for, and compares every operand with its memory. After any
// change of dims, before a step runs.
Status settle_memory(ContextState& context, bool in_run) noexcept;
// At least `bytes` for one operand of growing size (a stack of unknown length), its content kept.
Status grow_operand(ContextState& context, const Frame& frame, const plan::Operand& operand, std::int64_t bytes) noexcept;
bool grow(ContextState& context, GrownBuffer& buffer, std::int64_t bytes) noexcept;
bool grow_on_host(ContextState& context, GrownBuffer& buffer, std::int64_t bytes) noexcept;  // what was in it is lost
// Forgets what the steps of a program defined, before it runs again.
Status forget_symbols(ContextState& context, const OpenProgram& program) noexcept;
// After a step that defines symbols: their values from the shapes of its results, and everything that follows from them.
Status define_symbols(ContextState& context, const BoundStep& bound, const std::vector<ir::TensorRef>& results) noexcept;
Status run_loop(ContextState& context, Frame& frame, BoundStep& bound) noexcept;
// Where slice `s` of this iteration lies: first of what is cut, then of the stacks.
struct LoopSlice {
  void* at = nullptr;
  std::int64_t bytes = 0;
};
LoopSlice loop_slice(const BoundStep& bound, std::size_t s) noexcept;
// What a device with memory of its own holds of a loop (device_loop.cpp); nothing elsewhere.
void* placed_slice(const BoundStep& bound, std::size_t s) noexcept;  // where the body finds it
Status start_loop(ContextState& context, BoundStep& bound) noexcept;
Status start_iteration(ContextState& context, BoundStep& bound) noexcept;
Status finish_iteration(ContextState& context, BoundStep& bound) noexcept;
// Values of the program's symbols and dims for shapes of the inputs; false: it does not cover them, and `bad` is an input that says so.
bool evaluate_shapes(const OpenTop& top, const std::vector<Shape>& shapes, std::span<std::int64_t> symbols,
                     std::span<ir::DimCode::Known> known, std::span<std::int64_t> dims, int& bad) noexcept;
// Chooses the program for the shapes set and evaluates its dims. Fills `active`, `symbols`, `dims`.
Status resolve_shapes(ContextState& context) noexcept;
Status run_frame(ContextState& context, Frame& frame) noexcept;
// A host step on whole values, its results in tensors of their own: sizes first, then memory, then bytes. Throws.
Status run_on_values(ContextState& context, BoundStep& bound);
ErrorKind kind_of(Status::Code code);
bool is_object(const EngineState& engine, std::size_t binding);
void make_objects(ContextState& context);
// Of the right kind, layer by layer, and of the right shape where that is told? "" or what is wrong with it.
std::string misfit(const RuntimeValue& value, const ir::ValueType& type);
Status run_steps(ContextState& context, Frame& frame, std::size_t first, std::size_t last) noexcept;   // of the frame's
Status check_agreements(ContextState& context) noexcept;             // of all steps whose extents are known before the run
Status observe(ContextState& context, const BoundStep& step) noexcept;   // tells the observer the results of a step that ran

// For devices whose memory the host cannot read (staging.cpp, transfers.cpp, replay.cpp).
bool is_staged(const EngineState& engine) noexcept;
std::int64_t staging_bytes(const EngineState& engine, const OpenTop& top);   // of the host's, for steps of one program
void make_mirrors(ContextState& context);                           // device memory for every binding
void make_staging(Frame& frame, const EngineState& engine, const OpenTop& top);
Status stage_in(ContextState& context, BoundStep& bound) noexcept;    // operands to the host; waits
// The host's copy of an operand that a branch or a loop decides by, or the operand itself.
const void* decided_by(const BoundStep& bound, std::size_t operand) noexcept;
Status stage_out(ContextState& context, BoundStep& bound) noexcept;  // results of a host step to the device; waits, but at the front
void note_largest_results(Frame& frame) noexcept;                    // of steps at the front, once dims are what they are at most
bool output_grows(const ContextState& context, std::size_t binding) noexcept;
Status choose_transfers(ContextState& context) noexcept;
std::int64_t bytes_of_binding(const ContextState& context, std::size_t binding) noexcept;   // at the shapes set; -1: not to be counted
Status copy_apart(ContextState& context, bool inputs) noexcept;
Status copy_pinned(ContextState& context, bool inputs) noexcept;
void copy_by_host(ContextState& context, bool inputs) noexcept;
Status prepare_staged(ContextState& context) noexcept;                // what the first run at these shapes and addresses would do
Status start_staged(ContextState& context) noexcept;                  // copies in, replays or runs, copies out; waits for nothing
void record_seen(ContextState& context) noexcept;                     // what ran step by step, while the device is busy with it
Status finish_staged(ContextState& context) noexcept;

}  // namespace tenfold::runtime
