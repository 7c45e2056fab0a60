// Runs that go on elsewhere: each in its context's own thread, told to a Future when it is over.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "native/native.h"
#include "tenfold/run_options.h"

namespace tenfold::python {

struct AsyncRun;
struct SharedEngine;

// Those of one engine. No more are under way at once than it can use; others wait for their turn. With the interpreter's lock.
class AsyncRuns {
 public:
  AsyncRuns();
  ~AsyncRuns();
  AsyncRuns(const AsyncRuns&) = delete;
  AsyncRuns& operator=(const AsyncRuns&) = delete;
  // Begins it now or later. Raises what is wrong with it, as far as it is known by then.
  void begin(std::unique_ptr<AsyncRun> run);
  void one_ended();  // begins the next that waits

 private:
  void forget_the_parents();

  int under_way_ = 0;
  std::deque<std::unique_ptr<AsyncRun>> waiting_;
  std::uint32_t process_;  // which process of a chain of forks these are of
};

// `future._finish(result, error)` is called once, in some thread. `token` stops the run.
void start_call(std::shared_ptr<SharedEngine> state, nb::object future, CancelToken token, nb::handle args, nb::handle keywords);
void start_feed(std::shared_ptr<SharedEngine> state, nb::object future, CancelToken token, nb::handle names, nb::handle feed);

void finish_runs();      // no run begins any more; returns when all are told. At the interpreter's end.
void forget_runs();      // in a fork: they are the parent's

}  // namespace tenfold::python
