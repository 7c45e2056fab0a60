// Runners, ports and threads from C.
#include "c/run/common.h"
#include "c/run/row_ring.h"
#include "tenfold/c/low_latency.h"
#include "tenfold/low_latency.h"
#include "tenfold/port_server.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_latency_runner {
  std::unique_ptr<LatencyRunner> runner;
};
struct tenfold_latency_runner_port {
  RunnerPort port;
};
struct tenfold_port_server {
  std::unique_ptr<PortServer> server;
};
struct tenfold_latency_runner_thread {
  std::unique_ptr<RunnerThread> thread;
};

namespace {

static_assert(static_cast<int>(WhenFull::keep_newest) == TENFOLD_FULL_KEEP_NEWEST &&
              static_cast<int>(NotFinite::fail) == TENFOLD_NOT_FINITE_FAIL);

RunnerOptions options_for(const tenfold_latency_runner_options* given) {
  RunnerOptions options;
  if (!given) return options;
  const auto c = taken(given, "the options");
  require(c.not_finite >= TENFOLD_NOT_FINITE_PASS && c.not_finite <= TENFOLD_NOT_FINITE_FAIL, ErrorKind::invalid_argument,
          "not_finite is ", c.not_finite, ", TENFOLD_NOT_FINITE_PASS or _FAIL was expected");
  const auto time = [](std::int64_t ns, std::chrono::nanoseconds& to) {
    if (ns != 0) to = std::chrono::nanoseconds(ns);
  };
  options.deadline = std::chrono::nanoseconds(c.deadline_ns);
  options.strict = c.strict != 0, options.not_finite = static_cast<NotFinite>(c.not_finite);
  if (c.warm_up_runs != 0) options.warm_up_runs = c.warm_up_runs;
  if (c.good_answers != 0) options.good_answers = c.good_answers;
  if (c.tolerance != 0) options.tolerance = c.tolerance;
  time(c.first_pause_ns, options.first_pause), time(c.longest_pause_ns, options.longest_pause);
  time(c.longest_silence_ns, options.longest_silence);
  options.log = log_of(c.log, c.log_user);
  return options;
}

tenfold_status status_of(Status status) { return status ? TENFOLD_OK : run_status(status.code); }

tenfold_answer answer_of(const Answer& a) {
  return {a.id,   a.due_ns, a.started_ns, a.ended_ns, status_of(a.status),
          a.candidate, a.late,   a.not_finite, a.late_start,   a.full_recompute,
          a.missing_rows};
}

PortOptions port_options(std::int32_t slots, std::int32_t when_full) {
  require(when_full >= TENFOLD_FULL_REJECT && when_full <= TENFOLD_FULL_KEEP_NEWEST, ErrorKind::invalid_argument, "when_full is ",
          when_full, ", one of TENFOLD_FULL_REJECT, _DROP_OLDEST and _KEEP_NEWEST was expected");
  return {slots, static_cast<WhenFull>(when_full)};
}

LatencyRunner& of(const tenfold_latency_runner* runner) { return *need(runner, "the runner").runner; }

}  // namespace

extern "C" tenfold_status tenfold_latency_runner_create(const tenfold_fallback_chain* fallback_chain,
                                                        const tenfold_latency_runner_options* options, tenfold_latency_runner** runner) {
  return guarded([&] {
    place(runner, "the place for the runner", [&] {
      return new tenfold_latency_runner{
          std::make_unique<LatencyRunner>(need(fallback_chain, "the fallback chain").candidates, options_for(options))};
    });
  });
}
extern "C" tenfold_status tenfold_latency_runner_create_for(const tenfold_engine* engine, const tenfold_latency_runner_options* options,
                                                    tenfold_latency_runner** runner) {
  return guarded([&] {
    place(runner, "the place for the runner", [&] {
      return new tenfold_latency_runner{std::make_unique<LatencyRunner>(need(engine, "the engine").engine, options_for(options))};
    });
  });
}
extern "C" void tenfold_latency_runner_free(tenfold_latency_runner* runner) { delete runner; }

extern "C" tenfold_status tenfold_latency_runner_sizes(const tenfold_latency_runner* runner, int64_t* input_bytes, int64_t* output_bytes) {
  return guarded([&] {
    need(input_bytes, "the place for the inputs' size") = of(runner).input_bytes();
    need(output_bytes, "the place for the outputs' size") = of(runner).output_bytes();
  });
}
extern "C" tenfold_status tenfold_latency_runner_offset(const tenfold_latency_runner* runner, int32_t binding, int64_t* offset) {
  return guarded([&] { need(offset, "the place for the offset") = of(runner).offset(binding); });
}

extern "C" tenfold_status tenfold_latency_runner_infer(tenfold_latency_runner* runner, const void* input, void* output, int64_t due_ns,
                                               tenfold_answer* answer) {
  if (!runner || !input || !output) return failed(TENFOLD_INVALID_ARGUMENT, "the runner, the input or the output is null");
  const Answer a = runner->runner->infer(input, output, due_ns);
  if (answer) *answer = answer_of(a);
  return status_of(a.status);
}
extern "C" tenfold_status tenfold_latency_runner_infer_rows(tenfold_latency_runner* runner, const tenfold_row_ring* rows, int64_t stream,
                                                            void* output, int64_t due_ns, tenfold_answer* answer) {
  if (!runner || !rows || !output) return failed(TENFOLD_INVALID_ARGUMENT, "the runner, the ring of rows or the output is null");
  const Answer a = runner->runner->infer(rows->ring, stream, output, due_ns);
  if (answer) *answer = answer_of(a);
  return status_of(a.status);
}
extern "C" tenfold_status tenfold_latency_runner_precompute(tenfold_latency_runner* runner, const void* next_window) {
  if (!runner || !next_window) return failed(TENFOLD_INVALID_ARGUMENT, "the runner or the window is null");
  return status_of(runner->runner->precompute(next_window));
}
extern "C" void tenfold_latency_runner_keep_warm(tenfold_latency_runner* runner) {
  if (runner) runner->runner->keep_warm();
}

extern "C" tenfold_status tenfold_latency_runner_swap(tenfold_latency_runner* runner, const tenfold_engine* engine,
                                                      const tenfold_fallback_chain* fallback_chain) {
  return guarded([&] {
    require((engine != nullptr) != (fallback_chain != nullptr), ErrorKind::invalid_argument,
            "give an engine or a fallback chain, and not both");
    if (engine)
      of(runner).swap(engine->engine);
    else
      of(runner).swap(fallback_chain->candidates);
  });
}

extern "C" tenfold_status tenfold_latency_runner_backend(const tenfold_latency_runner* runner, const char** name) {
  thread_local std::string last;
  return guarded([&] {
    last = of(runner).backend();
    need(name, "the place for the name") = last.c_str();
  });
}
extern "C" tenfold_status tenfold_latency_runner_ready(const tenfold_latency_runner* runner, int32_t* ready, const char** why) {
  thread_local std::string last;
  return guarded([&] {
    last.clear();
    need(ready, "the place for the answer") = of(runner).ready(&last);
    if (why) *why = last.c_str();
  });
}
extern "C" int32_t tenfold_latency_runner_candidates(const tenfold_latency_runner* runner) {
  return runner ? static_cast<int32_t>(runner->runner->candidates().size()) : 0;
}
extern "C" tenfold_status tenfold_latency_runner_candidate(const tenfold_latency_runner* runner, int32_t candidate,
                                                           tenfold_candidate_state* state) {
  thread_local CandidateState last;
  return guarded([&] {
    const std::vector<CandidateState> all = of(runner).candidates();
    last = element(all, candidate, "candidate");
    give(state, {0, last.name.c_str(), last.why.c_str(), last.opened, last.answers, last.answered, last.left, last.difference},
         "the place for the state");
  });
}
extern "C" tenfold_status tenfold_latency_runner_counts(const tenfold_latency_runner* runner, tenfold_latency_runner_numbers* counts) {
  return guarded([&] {
    const RunnerCounts c = of(runner).counts();
    give(counts, {0, c.answered, c.late, c.not_finite, c.failed, c.fell, c.swaps, c.late_start, c.full_recompute},
         "the place for the counts");
  });
}

extern "C" tenfold_status tenfold_latency_runner_open_port(tenfold_latency_runner* runner, int32_t slots, int32_t when_full,
                                                           tenfold_latency_runner_port** port) {
  return guarded([&] {
    const PortOptions options = port_options(slots, when_full);
    place(port, "the place for the port", [&] { return new tenfold_latency_runner_port{of(runner).open_port(options)}; });
  });
}
extern "C" int32_t tenfold_latency_runner_port_served(const tenfold_latency_runner_port* port) { return port && port->port.served(); }
extern "C" tenfold_status tenfold_port_server_start(tenfold_latency_runner* runner, const char* path, int32_t slots, int32_t when_full,
                                                    int32_t max_clients, tenfold_port_server** server) {
  return guarded([&] {
    const PortServerOptions options{port_options(slots, when_full), max_clients};
    place(server, "the place for the server",
          [&] { return new tenfold_port_server{std::make_unique<PortServer>(of(runner), &need(path, "the path"), options)}; });
  });
}
extern "C" void tenfold_port_server_stop(tenfold_port_server* server) { delete server; }
extern "C" int32_t tenfold_port_server_clients(const tenfold_port_server* server) { return server ? server->server->clients() : 0; }
extern "C" tenfold_status tenfold_latency_runner_port_connect(const char* path, tenfold_latency_runner_port** port) {
  return guarded([&] {
    place(port, "the place for the port", [&] { return new tenfold_latency_runner_port{connect_port(&need(path, "the path"))}; });
  });
}
extern "C" tenfold_status tenfold_latency_runner_port_sizes(const tenfold_latency_runner_port* port, int64_t* input_bytes,
                                                            int64_t* output_bytes) {
  return guarded([&] {
    need(input_bytes, "the place for the inputs' size") = need(port, "the port").port.input_bytes();
    need(output_bytes, "the place for the outputs' size") = port->port.output_bytes();
  });
}
extern "C" tenfold_status tenfold_latency_runner_port_offset(const tenfold_latency_runner_port* port, int32_t binding, int64_t* offset) {
  return guarded([&] { need(offset, "the place for the offset") = need(port, "the port").port.offset(binding); });
}
extern "C" tenfold_status tenfold_latency_runner_port_binding(const tenfold_latency_runner_port* port, int32_t binding,
                                                              tenfold_binding_info* info) {
  return guarded([&] {
    give(info, information(element(need(port, "the port").port.bindings(), binding, "binding")), "the place for the information");
  });
}
extern "C" void tenfold_latency_runner_port_free(tenfold_latency_runner_port* port) { delete port; }
extern "C" int32_t tenfold_latency_runner_port_submit(tenfold_latency_runner_port* port, uint64_t id, const void* input, int64_t due_ns) {
  return port && input && port->port.submit(id, input, due_ns);
}
extern "C" int32_t tenfold_latency_runner_port_submit_rows(tenfold_latency_runner_port* port, uint64_t id, const tenfold_row_ring* rows,
                                                           int64_t stream, int64_t due_ns) {
  return port && rows && port->port.submit(id, rows->ring, stream, due_ns);
}
extern "C" int32_t tenfold_latency_runner_port_poll(tenfold_latency_runner_port* port, tenfold_answer* answer, void* output) {
  Answer a;
  if (!port || !port->port.poll(a, output)) return 0;
  if (answer) *answer = answer_of(a);
  return 1;
}
extern "C" tenfold_status tenfold_latency_runner_port_counts(const tenfold_latency_runner_port* port,
                                                             tenfold_latency_runner_port_numbers* counts) {
  return guarded([&] {
    const RunnerPort::Counts c = need(port, "the port").port.counts();
    give(counts, {0, c.submitted, c.rejected, c.dropped, c.polled, c.answers_dropped}, "the place for the counts");
  });
}

extern "C" tenfold_status tenfold_latency_runner_thread_start(tenfold_latency_runner* const* runners, int32_t count,
                                                              const tenfold_latency_runner_thread_options* given,
                                                              tenfold_latency_runner_thread** thread) {
  return guarded([&] {
    RunnerThreadOptions options;
    if (given) {
      const auto c = taken(given, "the options");
      if (c.has_cpu) options.cpu = c.cpu;
      options.priority = c.priority;
      if (c.sleeps) options.spin = std::chrono::nanoseconds(c.spin_ns);
      options.keep_warm = std::chrono::nanoseconds(c.keep_warm_ns);
    }
    std::vector<LatencyRunner*> all;
    for (std::int32_t i = 0; i < count; ++i) all.push_back(&of((&need(runners, "the runners"))[i]));
    place(thread, "the place for the thread", [&] {
      return new tenfold_latency_runner_thread{std::make_unique<RunnerThread>(std::move(all), std::move(options))};
    });
  });
}
extern "C" void tenfold_latency_runner_thread_stop(tenfold_latency_runner_thread* thread) { delete thread; }
extern "C" int32_t tenfold_latency_runner_thread_id(const tenfold_latency_runner_thread* thread) {
  return thread ? thread->thread->id() : -1;
}
