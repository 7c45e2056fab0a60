// Low latency: a LatencyRunner answers one request after the other without allocating, locking or (on a CPU with one thread)
// entering the kernel. A RunnerThread does that in a thread of its own, which spins and takes requests from rings.
//
//   LatencyRunner runner({plan_candidate("m.plan"), model_candidate("m.onnx", at_level_0)});   // opened, compared and warmed here
//   Answer a = runner.infer(input, output);                                   // in this thread
//
//   RunnerPort port = runner.open_port();                                     // one for each thread that asks
//   RunnerThread thread({&runner}, {.cpu = 3});
//   port.submit(id, input);
//   while (!port.poll(answer, output)) {}
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tenfold/bindings.h"
#include "tenfold/engine.h"
#include "tenfold/engine_slot.h"
#include "tenfold/fallback_chain.h"

namespace tenfold {

class RowRing;

// What becomes of a request that finds its ring full. Whatever is chosen, submit() never waits.
//   reject       it is not taken
//   drop_oldest  the oldest that waits is dropped for it
//   keep_newest  all that wait are dropped for it
enum class WhenFull : std::uint8_t { reject, drop_oldest, keep_newest };
// What becomes of an input or output with a NaN or an infinity. It is told and counted in any case.
//   pass  the request is answered like any other
//   fail  its status is Status::failed
enum class NotFinite : std::uint8_t { pass, fail };

// How a request was answered. Times are nanoseconds of std::chrono::steady_clock.
struct Answer {
  std::uint64_t id = 0;                // what submit() was given
  std::int64_t due_ns = 0;             // when the request was due: what the caller said, else when it was made
  std::int64_t started_ns = 0, ended_ns = 0;
  // not_ready: a RunnerThread has the LatencyRunner, and another thread called infer(). invalid_binding: the input or
  // the output is null, or the RowRing has no such stream, or rows of another size. invalid_input, bad_index,
  // too_large: the data are at fault, and no candidate is left for it. failed, device: the last candidate failed.
  Status status;
  std::int32_t candidate = -1;              // which of LatencyRunner::candidates() answered; -1: none
  bool late = false;                   // it ended after due_ns + RunnerOptions::deadline
  bool not_finite = false;             // an input or output holds a NaN or an infinity
  // Where a RowRing was given: rows of its window that were not pushed yet, and are zeros. The answer is that of a window with zeros.
  std::int32_t missing_rows = 0;
  // Of candidates whose engine has early steps (BuildConfig::newest_row):
  bool late_start = false;  // it was due before the rows before its newest row were computed, and waited for that
  bool full_recompute = false;   // its window was computed as a whole: nobody ran early, or for another window
};

struct RunnerOptions {
  // The longest that a candidate may compute, and that an answer may take from when it was due. 0: no limit. A candidate that
  // takes longer is left, and the same request is answered by the next one. The last candidate is not left. A candidate
  // without memory for what a request asks for is not left either; the next one answers.
  std::chrono::nanoseconds deadline{0};
  bool strict = false;                 // the first candidate alone answers; it must open
  NotFinite not_finite = NotFinite::pass;
  int warm_up_runs = 100;              // of each candidate, when it is made
  // Candidates are compared on the same inputs with the last one that opened. One whose outputs differ by more than this
  // part of the largest output is not used. Below 0: nothing is compared.
  double tolerance = 0.02;
  // A candidate that was left is tried aside after this pause, which doubles up to `longest_pause` each time that it fails.
  // It comes back after `good_answers` in a row.
  std::chrono::nanoseconds first_pause = std::chrono::milliseconds(100), longest_pause = std::chrono::seconds(60);
  int good_answers = 10;
  // A RunnerThread that shows no sign of life for so long makes ready() false.
  std::chrono::nanoseconds longest_silence = std::chrono::seconds(1);
  LogCallback log;                     // why a candidate was left, and that it is back; called by a thread of the LatencyRunner's own
};

// A candidate as it is now.
struct CandidateState {
  std::string name;
  bool opened = false;                 // false: `why` says why it could not be, or why it may not be used
  bool answers = false;                // false: it was left, and is probed; or its device is lost, and it is not
  std::string why;                     // why it does not answer, the last time that it did not
  std::uint64_t answered = 0, left = 0;  // how many requests it answered; how often it was left
  double difference = -1;              // to the last candidate, as a part of the largest output; -1: not compared
};

// What a LatencyRunner has done since it was made.
struct RunnerCounts {
  std::uint64_t answered = 0, late = 0, not_finite = 0, failed = 0;
  std::uint64_t fell = 0;              // answers that a later candidate gave because one before it failed
  std::uint64_t swaps = 0;             // sets of candidates that took another's place
  std::uint64_t late_start = 0, full_recompute = 0;  // as Answer tells
};

struct PortOptions {
  int slots = 64;                      // requests that may wait, and as many answers; 1 to 32000
  WhenFull when_full = WhenFull::reject;
};

// Two rings of fixed size between one thread that asks and a RunnerThread. One thread uses a port at a time. It may
// outlive its LatencyRunner; requests are then rejected.
class TENFOLD_API RunnerPort {
 public:
  // Takes the request, whose bytes are copied. False: the ring is full and rejects, or nobody serves it any more.
  // `due_ns`: when the answer was wanted from; 0: now. It neither waits, allocates nor enters the kernel, unless the
  // thread sleeps (RunnerThreadOptions::spin), which it then wakes.
  // False for a null input, too.
  bool submit(std::uint64_t id, const void* input, std::int64_t due_ns = 0) noexcept;
  // The window of a stream, which is all of the input; Answer::missing_rows says how much of it is there. False: there is no such
  // stream, or its window has another size.
  bool submit(std::uint64_t id, const RowRing& rows, std::int64_t stream, std::int64_t due_ns = 0) noexcept;
  // The oldest answer, if there is one; `output` may be null. Answers that nobody fetches are dropped, oldest first.
  bool poll(Answer& answer, void* output) noexcept;
  // Whether a thread serves it, and its process lives. It asks the system, so it is not for the hot path.
  bool served() const noexcept;
  const std::vector<BindingInfo>& bindings() const noexcept;  // of the LatencyRunner
  std::int64_t offset(int binding) const;                     // as LatencyRunner::offset()
  std::int64_t input_bytes() const noexcept;
  std::int64_t output_bytes() const noexcept;

  struct Counts { std::uint64_t submitted = 0, rejected = 0, dropped = 0, polled = 0, answers_dropped = 0; };
  Counts counts() const noexcept;

  struct State;
  explicit RunnerPort(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

// Engines for one model, best first, each with a context that is ready. All candidates are opened, warmed and compared when
// it is made. Inputs and outputs are dense tensors of fixed shapes: all inputs lie in one piece of memory, in the order
// of bindings(), each at a multiple of 64 bytes; outputs likewise.
//
// infer() belongs to one thread at a time. All other functions may be called from any thread.
class TENFOLD_API LatencyRunner {
 public:
  // Throws what the first candidate's open() threw where none opens, or where it is strict and the first does not. Throws
  // invalid_argument for dynamic shapes and for inputs or outputs that are not tensors of numbers.
  explicit LatencyRunner(std::vector<EngineCandidate> candidates, RunnerOptions options = {});
  explicit LatencyRunner(Engine engine, RunnerOptions options = {});      // one candidate, named "engine"
  ~LatencyRunner();                                                       // its RunnerThread must have ended
  LatencyRunner(const LatencyRunner&) = delete;
  LatencyRunner& operator=(const LatencyRunner&) = delete;

  const std::vector<BindingInfo>& bindings() const noexcept;
  std::int64_t input_bytes() const noexcept;  // of all inputs, gaps between them included
  std::int64_t output_bytes() const noexcept;
  std::int64_t offset(int binding) const;                          // in the inputs' or outputs' memory; throws invalid_argument

  WindowRows window_rows() const;  // of the first candidate that opened; input -1: windows come as a whole

  // Computes in the caller's thread. `due_ns`: when the request was due; 0: now.
  Answer infer(const void* input, void* output, std::int64_t due_ns = 0) noexcept;
  // For the window of a stream, which is all of the input; Answer::missing_rows says how much of it is there.
  Answer infer(const RowRing& rows, std::int64_t stream, void* output, std::int64_t due_ns = 0) noexcept;
  // For callers of infer(), where the engine has early steps (BuildConfig::newest_row): computes what does not depend on the
  // newest row of the window that comes next. `next_window` is laid out as for infer(); its newest row and the other inputs
  // are not read. infer() compares the rows before the newest with these. If they are the same, only the rest is computed;
  // else all is (Answer::full_recompute), so a wrong promise costs time and no answer. Engines without early steps do nothing.
  // Status::not_ready: a RunnerThread has the LatencyRunner. That one brings it about by itself, for windows that slide by one row.
  Status precompute(const void* next_window) noexcept;
  // Runs the candidate that answers next on a sample, without an answer: GPUs that idle slow down. For the thread that has
  // the LatencyRunner.
  void keep_warm() noexcept;
  // Rings to the RunnerThread that will have this LatencyRunner; one that has begun takes no more (invalid_argument).
  RunnerPort open_port(const PortOptions& options = {});

  // Makes new candidates the LatencyRunner's own, under load: they are opened, compared and warmed here, in the caller's thread,
  // and take the place of all candidates between two answers. Every answer comes of one set. Bindings must be the same.
  // Throws what made the new ones unusable; the old ones then go on. Returns when the old ones are no longer used, or,
  // if nothing runs, when the next answer will be by the new ones. The old first engine is drained when its contexts
  // are gone, which is at the next answer at the latest.
  RetiredEngine swap(std::vector<EngineCandidate> candidates);
  RetiredEngine swap(Engine engine);

  std::string backend() const;                                     // the name of the candidate that answers next
  std::vector<CandidateState> candidates() const;
  RunnerCounts counts() const noexcept;
  // Whether the next request will be answered: a candidate is there, and its thread shows signs of life. `why` gets the
  // reason if not.
  bool ready(std::string* why = nullptr) const;

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

struct RunnerThreadOptions {
  int cpu = -1;                        // it stays there; -1: wherever the system puts it
  int priority = 0;                    // of SCHED_FIFO, 1 to 99; 0: ordinary
  // How long it looks for work without a pause. After that it sleeps until a port wakes it. Below 0: for ever.
  std::chrono::nanoseconds spin{-1};
  // After so long without a request it runs its Runners on a sample, so that GPUs stay warm. 0: never.
  std::chrono::nanoseconds keep_warm{0};
  std::string name = "tenfold";        // as the system shows it, 15 characters
  std::function<void()> begin;         // called in the thread before its first request; must not throw
};

// A thread that serves the ports of some Runners, in this order, one request of each in turn. It ends when it is
// destroyed, after it has answered what waits.
//
// Where an engine has early steps, the thread expects that windows slide by one row. After an answer, while no request
// waits, it moves the rows of that window up by one and computes what does not depend on the next row. A request that comes
// meanwhile waits (Answer::late_start). One that does not continue the window before it, as after a gap or from another stream,
// is computed as a whole. After four of those in a row the thread expects nothing more, until two windows follow each other
// again. It does so where all dims before the rows' axis are 1.
class TENFOLD_API RunnerThread {
 public:
  // Throws invalid_argument for a LatencyRunner that another thread has, and for a processor or priority that the system
  // refuses; the message then names the command that permits it.
  explicit RunnerThread(std::vector<LatencyRunner*> runners, RunnerThreadOptions options = {});
  ~RunnerThread();
  RunnerThread(const RunnerThread&) = delete;
  RunnerThread& operator=(const RunnerThread&) = delete;
  int id() const noexcept;  // as the system counts threads: /proc/self/task

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tenfold
