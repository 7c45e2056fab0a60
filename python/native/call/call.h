// One call of an engine: arrays in, arrays out.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "native/call/bound_context.h"

namespace tenfold::python {

// An array of a size that a call knows, which seldom needs memory of its own.
template <class T, std::size_t kRoom = 8>
class Few {
 public:
  explicit Few(int size) : size_(static_cast<std::size_t>(size)), more_(size_ > kRoom ? size_ : 0) {}
  T& operator[](int i) { return items()[static_cast<std::size_t>(i)]; }
  std::span<T> items() { return {more_.empty() ? few_.data() : more_.data(), size_}; }
  int size() const { return static_cast<int>(size_); }

 private:
  std::size_t size_;
  std::array<T, kRoom> few_{};
  std::vector<T> more_;
};

// What a call is given, and what it gives back.
struct Call {
  explicit Call(const Slots& s) : slots(s), inputs(s.inputs), outputs(s.outputs()), requested(s.outputs()) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const Slots& slots;
  Few<nb::object> inputs;            // null: the default
  Few<nb::object> outputs;           // null: a new array is made
  bool as_list = false;              // the result: a list of `order`; else one array, or a dict of several
  std::vector<int> order;            // numbers of outputs
  bool all = true;                   // outputs are wanted, not those in `requested` alone
  Few<char> requested;               // of each output
  StreamChoice on;                   // known before arrays are read, for their makers bring them up to date on it
  Maker maker = Maker::numpy;        // of results
  nb::object like;                   // an input of that maker
  bool like_on_host = false;         // that input is
  bool on_host = false;              // some array is
};

// Of engine(x), engine(x, mask), engine({"x": x}), with out= and stream=; of Session.run(). Both choose the stream.
void read_call(Call& call, nb::handle args, nb::handle keywords);
void read_feed(Call& call, nb::handle names, nb::handle feed);

// `later`: nobody waits, so that a GPU's engine reads inputs of the host from memory of its own.
void bind_call(Call& call, BoundContext& runner, bool later);
nb::object result_of(Call& call, BoundContext& runner);  // when the run is over, or enqueued

// A context out of the pool, and back into it; one whose run failed while its work may still be under way is waited for.
class Borrowed {
 public:
  Borrowed(SharedEngine& state, const StreamChoice& stream) : state_(state), runner_(state.take(stream)) {}
  ~Borrowed();
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  BoundContext& operator*() { return *runner_; }
  BoundContext* operator->() { return runner_.get(); }
  std::unique_ptr<BoundContext> keep() { return std::move(runner_); }

 private:
  SharedEngine& state_;
  std::unique_ptr<BoundContext> runner_;
};

nb::object named_results(Call& call);   // the outputs that it has, in the form that was asked for
// Binds, runs and gives the result.
nb::object run_call(SharedEngine& state, Call& call);

// Calls on a stream that is being captured into a CUDA graph (captured_calls.cpp): whether one on this stream becomes part of a graph.
bool is_captured(const StreamChoice& stream);
// Each has a context of its own, which lives as long as the graph.
nb::object capture_call(SharedEngine& state, Call& call);
// Ends the contexts of graphs that are gone: memory goes back behind a wait for the whole GPU, which would break a capture.
void end_freed_captures();

}  // namespace tenfold::python
