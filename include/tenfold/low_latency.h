// Low latency: a LatencyRunner answers requests without allocating, locking or (on a CPU with one thread) making system calls.
// A RunnerThread does so in a separate thread, which spins and takes requests from rings.
//
//   LatencyRunner runner({plan_candidate("m.plan"), model_candidate("m.onnx", at_level_0)});   // opened, compared and warmed here
//   Answer a = runner.infer(input, output);                                   // in this thread
//
//   RunnerPort port = runner.open_port();                                     // one for each requesting thread
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

// What happens to a request if its ring is full. submit() never blocks.
//   reject       it is not accepted
//   drop_oldest  the oldest waiting request is dropped
//   keep_newest  all waiting requests are dropped
enum class WhenFull : std::uint8_t { reject, drop_oldest, keep_newest };
// What happens to an input or output with NaN or infinity. It is always reported and counted.
//   pass  the request is answered like any other
//   fail  its status is Status::failed
enum class NotFinite : std::uint8_t { pass, fail };

// How a request was answered. Times are nanoseconds of std::chrono::steady_clock.
struct Answer {
  std::uint64_t id = 0;                // as given to submit()
  std::int64_t due_ns = 0;             // when the request was due: as the caller said, else when it was made
  std::int64_t started_ns = 0, ended_ns = 0;
  // not_ready: a RunnerThread has the LatencyRunner, and another thread called infer(). invalid_binding: the input or
  // the output is null, or the RowRing has no such stream, or rows of another size. invalid_input, bad_index,
  // too_large: the data are invalid, which causes no switch. failed, device: the last candidate failed.
  Status status;
  std::int32_t candidate = -1;              // which of LatencyRunner::candidates() answered; -1: none
  bool late = false;                   // it ended after due_ns + RunnerOptions::deadline
  bool not_finite = false;             // an input or output holds a NaN or an infinity
  // With a RowRing: rows of its window that were not pushed yet, and were computed as zeros.
  std::int32_t missing_rows = 0;
  // For candidates with early steps (BuildConfig::newest_row):
  bool late_start = false;       // it was due before precompute() had ended, and waited for it
  bool full_recompute = false;   // the whole window was computed: without precompute(), or it was for another window
};

struct RunnerOptions {
  // The maximum time of a computation, and of an answer from when it was due. 0: no limit. If a candidate takes longer, the
  // runner switches to the next one, which answers the same request. There is no switch away from the last candidate. If a
  // candidate has too little memory for a request's sizes, the next one answers, without a switch.
  std::chrono::nanoseconds deadline{0};
  bool strict = false;                 // use the first candidate only; it must open
  NotFinite not_finite = NotFinite::pass;
  int warm_up_runs = 100;              // of each candidate, when it is made
  // Candidates are compared on the same inputs with the last one that opened. One whose outputs differ by more than this
  // fraction of the largest output is not used. Below 0: no comparison.
  double tolerance = 0.02;
  // A candidate that the runner switched away from is retried in the background after this pause, which doubles with each
  // failure up to `longest_pause`. It returns after `good_answers` in a row.
  std::chrono::nanoseconds first_pause = std::chrono::milliseconds(100), longest_pause = std::chrono::seconds(60);
  int good_answers = 10;
  // A RunnerThread that does not respond for this time makes ready() false.
  std::chrono::nanoseconds longest_silence = std::chrono::seconds(1);
  LogCallback log;                     // switches between candidates, with reasons; called by a thread of the LatencyRunner's own
};

// The current state of a candidate.
struct CandidateState {
  std::string name;
  bool opened = false;                 // false: `why` says why it could not be opened or may not be used
  bool answers = false;                // false: it is being retried; or its device is lost, and it is not
  std::string why;                     // why it last did not answer
  std::uint64_t answered = 0, left = 0;  // requests that it answered; switches away from it
  double difference = -1;              // to the last candidate, as a fraction of the largest output; -1: not compared
};

// Counts since the LatencyRunner was made.
struct RunnerCounts {
  std::uint64_t answered = 0, late = 0, not_finite = 0, failed = 0;
  std::uint64_t fell = 0;              // answers by a later candidate because an earlier one failed
  std::uint64_t swaps = 0;             // calls of swap() that took effect
  std::uint64_t late_start = 0, full_recompute = 0;  // as in Answer
};

struct PortOptions {
  int slots = 64;                      // requests that may wait, and as many answers; 1 to 32000
  WhenFull when_full = WhenFull::reject;
};

// Two rings of fixed size between one requesting thread and a RunnerThread. One thread uses a port at a time. It may
// outlive its LatencyRunner; requests are then rejected.
class TENFOLD_API RunnerPort {
 public:
  // Sends a request, whose bytes are copied. False: the input is null, the ring is full and rejects, or no thread serves
  // it any more. `due_ns`: when the request was due; 0: now. It does not wait, allocate or make system calls, unless it has
  // to wake a sleeping thread (RunnerThreadOptions::spin).
  bool submit(std::uint64_t id, const void* input, std::int64_t due_ns = 0) noexcept;
  // The same with the window of a stream as the whole input; see Answer::missing_rows. False, too, for an unknown stream or a
  // window of another size.
  bool submit(std::uint64_t id, const RowRing& rows, std::int64_t stream, std::int64_t due_ns = 0) noexcept;
  // The oldest answer, if there is one; `output` may be null. Answers that are not fetched are dropped, the oldest first.
  bool poll(Answer& answer, void* output) noexcept;
  // Whether a thread serves it, and its process is alive. It makes system calls, so it is not for the hot path.
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

// Engines for one model, best first, each with a prepared context. All candidates are opened, warmed up and compared by the
// constructor. Inputs and outputs are dense tensors of fixed shapes: all inputs are in one block of memory, in the order of
// bindings(), each at a multiple of 64 bytes; outputs likewise.
//
// infer() belongs to one thread at a time. All other functions may be called from any thread.
class TENFOLD_API LatencyRunner {
 public:
  // If no candidate opens (or the first one, if strict), throws what the first candidate's open() threw. Throws
  // invalid_argument for dynamic shapes and for inputs or outputs that are not numeric tensors.
  explicit LatencyRunner(std::vector<EngineCandidate> candidates, RunnerOptions options = {});
  explicit LatencyRunner(Engine engine, RunnerOptions options = {});      // one candidate, named "engine"
  ~LatencyRunner();                                                       // its RunnerThread must have ended
  LatencyRunner(const LatencyRunner&) = delete;
  LatencyRunner& operator=(const LatencyRunner&) = delete;

  const std::vector<BindingInfo>& bindings() const noexcept;
  std::int64_t input_bytes() const noexcept;  // of all inputs, gaps between them included
  std::int64_t output_bytes() const noexcept;
  std::int64_t offset(int binding) const;                          // in the inputs' or outputs' memory; throws invalid_argument

  WindowRows window_rows() const;  // of the first candidate that opened; input -1: it has no early steps

  // Computes in the caller's thread. `due_ns`: when the request was due; 0: now.
  Answer infer(const void* input, void* output, std::int64_t due_ns = 0) noexcept;
  // The same with the window of a stream as the whole input; see Answer::missing_rows.
  Answer infer(const RowRing& rows, std::int64_t stream, void* output, std::int64_t due_ns = 0) noexcept;
  // For callers of infer(), if the engine has early steps (BuildConfig::newest_row): computes what does not depend on the
  // newest row of the next window. `next_window` has the layout of infer()'s input; its newest row and the other inputs are
  // not read. infer() compares the rows before the newest with these. If they are equal, only the rest is computed, else
  // everything (Answer::full_recompute), so a wrong prediction only costs time. Without early steps it does nothing.
  // Status::not_ready: a RunnerThread has the LatencyRunner, and calls this itself for windows that slide by one row.
  Status precompute(const void* next_window) noexcept;
  // Runs the current candidate on a sample, without an answer, because idle GPUs lower their clocks. For the thread that has
  // the LatencyRunner.
  void keep_warm() noexcept;
  // Rings to the RunnerThread that will have this LatencyRunner; call it before that thread begins (else invalid_argument).
  RunnerPort open_port(const PortOptions& options = {});

  // Replaces all candidates, under load: the new ones are opened, compared and warmed up in the caller's thread, and replace
  // the old ones between two requests. Every answer comes from one set. Bindings must be the same. If the new ones cannot be
  // used, it throws the reason and the old ones stay. It returns when the old ones are no longer used, or, if nothing runs,
  // when the next answer will be by the new ones. The old first engine is drained when its contexts are gone, at the next
  // answer at the latest.
  RetiredEngine swap(std::vector<EngineCandidate> candidates);
  RetiredEngine swap(Engine engine);

  std::string backend() const;                                     // the name of the current candidate
  std::vector<CandidateState> candidates() const;
  RunnerCounts counts() const noexcept;
  // Whether the next request will be answered: there is a candidate, and its thread responds. `why` gets the reason if not.
  bool ready(std::string* why = nullptr) const;

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

struct RunnerThreadOptions {
  int cpu = -1;                        // pinned to this CPU; -1: not pinned
  int priority = 0;                    // of SCHED_FIFO, 1 to 99; 0: ordinary
  // How long it spins without work before it sleeps until a port wakes it. Below 0: always.
  std::chrono::nanoseconds spin{-1};
  // After this time without a request, it runs its runners on a sample, so that GPUs keep their clocks. 0: never.
  std::chrono::nanoseconds keep_warm{0};
  std::string name = "tenfold";        // as the system shows it, 15 characters
  std::function<void()> begin;         // called in the thread before its first request; must not throw
};

// A thread that serves the ports of several runners, in this order, one request of each in turn. Its destructor first answers
// the waiting requests.
//
// If an engine has early steps, the thread predicts that windows slide by one row. After an answer, while no request waits, it
// shifts the window by one row and computes what does not depend on the next row. A request that arrives meanwhile waits
// (Answer::late_start). A request that does not continue the previous window, as after a gap or from another stream, is
// computed in full. After four of these in a row the thread stops predicting, until two consecutive windows match again. It
// predicts only if all dims before the rows' axis are 1.
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
