// An execution context with the arrays that are bound to it. Engines keep some for calls; a Context of Python's has its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "native/arrays/stream.h"
#include "native/call/async_runs.h"
#include "native/python_state.h"
#include "tenfold/bindings.h"
#include "tenfold/completion.h"
#include "tenfold/engine.h"

namespace tenfold::python {

struct Slot {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;  // -1: dynamic
  bool is_input = true, has_default = false;
  std::string reported;  // "input 'x'"
  ValueKind kind = ValueKind::tensor;
  bool is_value = false;  // no array of numbers
  const std::string& what() const { return reported; }
};

struct Slots {
  std::vector<Slot> all;
  int inputs = 0;
  bool on_gpu = false;
  bool values = false;               // some take or give no arrays of numbers
  std::string device;                // "cuda:0"
  int ordinal = 0;                   // of the GPU
  Held names;                        // dict from str to int
  int index(nb::handle name) const;  // raises InvalidArgument with the names
  int outputs() const { return static_cast<int>(all.size()) - inputs; }
  const Slot& at(int binding) const { return all[static_cast<std::size_t>(binding)]; }
};

class BoundContext {
 public:
  BoundContext(const Engine& engine, std::shared_ptr<const Slots> slots, const ContextOptions& options = {});
  ~BoundContext();
  BoundContext(const BoundContext&) = delete;
  BoundContext& operator=(const BoundContext&) = delete;

  ExecutionContext& context() { return *context_; }
  const Slots& slots() const { return *slots_; }
  // All of these raise. An array that is bound is kept until another is, or until forget().
  void bind(int binding, nb::handle array, ArrayView& view, std::int64_t stream = kNoStream, bool brief = false);
  void bind_copy(int binding, nb::handle array);   // of an input on the host, in the context's own memory
  void bind_nothing(int binding);  // the context's own memory, or the default
  // An output that the next run reads as this input. Binding either of them otherwise ends it.
  void bind_state(int output, int input, bool in_place);
  nb::object read_state(int input);  // a new array of NumPy
  void write_state(int input, nb::handle array);
  void clear_state(int input);
  void set_shape(int binding, std::span<const std::int64_t> shape);
  bool output_shape(int binding, std::span<std::int64_t> to, int& rank);  // false: only the run knows it
  // Whether only the run ever knows it: behind a run the shape is there, and says nothing of the next one.
  bool sized_by_run(int binding) const { return by_run_[static_cast<std::size_t>(binding)]; }
  nb::object bind_new(int binding, Maker maker, nb::handle like);                           // null: only the run knows its size
  nb::object bound(int binding) const { return kept_[static_cast<std::size_t>(binding)]; }  // null: none
  nb::object copied(int binding);  // of the context's own memory, into a new array of NumPy
  void bind_unbound_outputs();           // those that nobody has bound get the context's own memory
  void run(const RunOptions& options = {});
  void enqueue(const StreamChoice& stream, const RunOptions& options = {});
  void wait();
  void begin(const StreamChoice& stream, const RunOptions& options, Completion done);   // enqueue_then()
  void synchronize(const StreamChoice& stream);   // what was enqueued is waited for where a run on this stream does not follow it
  void ended() { pending_ = false; }   // what begin() began
  void forget();   // arrays that are bound
  bool pending() const { return pending_; }
  const StreamChoice& stream() const { return stream_; }
  [[noreturn]] void refuse(Status status);

 private:
  void read(int binding, nb::handle array, ArrayView& view, std::int64_t stream, bool brief);
  void bind_memory(int binding, const ArrayView& view);
  void keep(int binding, nb::object owner);
  struct State {
    int output, input;
    std::vector<std::int64_t> next;  // its shape behind a run
    bool advanced = false;           // a run was made since the input's shape was set
  };
  State* state_of(int binding);
  State& need_state(int input);
  void end_state(int binding);
  void advance_states();

  std::shared_ptr<const Slots> slots_;
  std::unique_ptr<ExecutionContext> context_;
  std::vector<nb::object> kept_;
  std::vector<bool> bound_, by_run_;
  std::vector<State> states_;
  bool pending_ = false;  // enqueued, and not waited for
  StreamChoice stream_;
};

// An engine as Python has it: shared by its Engine objects and contexts. With the interpreter's lock.
struct SharedEngine {
  explicit SharedEngine(Engine made);
  ~SharedEngine();
  std::unique_ptr<BoundContext> take(const StreamChoice& stream);
  void give(std::unique_ptr<BoundContext> runner);
  void drop_runners() noexcept;

  Engine engine;
  std::shared_ptr<const Slots> slots;
  std::vector<std::unique_ptr<BoundContext>> idle;
  AsyncRuns runs;
  // Calls that live in callers' CUDA graphs. Graphs end in a thread of the driver's, maybe behind the engine.
  std::shared_ptr<std::atomic<int>> captured = std::make_shared<std::atomic<int>>(0);
};

struct PyEngine {
  std::shared_ptr<SharedEngine> state;
};

// The engine that a function of the caller's gave; raises TypeError where it is none. `from`: "make_engine".
Engine engine_from(nb::handle made, const char* from);

}  // namespace tenfold::python
