// tenfold/low_latency.h, row_ring.h, latency_recorder.h: runners on messages whose memory Python's side keeps, rows, histograms.
#include "tenfold/low_latency.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "native/call/bound_context.h"
#include "native/errors.h"
#include "native/options/callbacks.h"
#include "native/options/values.h"
#include "tenfold/latency_recorder.h"
#include "tenfold/port_server.h"
#include "tenfold/row_ring.h"

namespace tenfold::python {
namespace {

using std::chrono::nanoseconds;

// What joins a thread does so without the interpreter's lock: the thread may want it.
struct LowLatencyRunner {
  ~LowLatencyRunner() { drop_without_gil(runner); }
  std::shared_ptr<Callbacks> callbacks = std::make_shared<Callbacks>();
  std::unique_ptr<tenfold::LatencyRunner> runner;
};
struct LowLatencyThread {
  ~LowLatencyThread() { stop(); }
  void stop() { drop_without_gil(thread); }
  std::unique_ptr<RunnerThread> thread;
};

// Tenfold's errors and the system's are why a candidate is not taken; all others end the call as they were raised.
[[noreturn]] void refuse_candidate(const nb::python_error& raised) {
  const nb::handle error = raised.value();
  if (PyObject_IsInstance(error.ptr(), PyExc_OSError) == 1 && !nb::hasattr(error, "kind")) throw Error(ErrorKind::io, raised.what());
  if (nb::hasattr(error, "kind"))
    for (int kind = 0; kind <= static_cast<int>(ErrorKind::internal); ++kind)
      if (nb::cast<std::string>(nb::str(error.attr("kind"))) == name(static_cast<ErrorKind>(kind)))
        throw Error(static_cast<ErrorKind>(kind), nb::cast<std::string>(nb::str(error)));
  throw;
}

Engine engine_of_candidate(const Held& make) {
  const Locked locked;
  try {
    return engine_from(nb::borrow(make.get())(), "a candidate");
  } catch (const nb::python_error& raised) {
    refuse_candidate(raised);
  }
}

// It does not ask the interpreter for anything, but waits for its thread.
struct LowLatencyServer {
  ~LowLatencyServer() { stop(); }
  void stop() { drop_without_gil(server); }
  std::unique_ptr<PortServer> server;
};

// (name, function that gives an engine) for each.
std::vector<EngineCandidate> candidates_of(const nb::list& given) {
  std::vector<EngineCandidate> candidates;
  for (const nb::handle one : given) {
    const nb::tuple pair = nb::cast<nb::tuple>(one);
    candidates.push_back({nb::cast<std::string>(pair[0]), [make = hold(pair[1])] { return engine_of_candidate(make); }});
  }
  return candidates;
}

void make_runner(LowLatencyRunner* self, const nb::list& candidates, std::int64_t deadline_ns, bool strict, bool fails, int warm_up_runs,
                 double tolerance, std::int64_t first_pause_ns, std::int64_t longest_pause_ns, int good_answers,
                 std::int64_t longest_silence_ns, nb::handle log) {
  new (self) LowLatencyRunner();
  if (!log.is_none()) self->callbacks->log_to(log);
  RunnerOptions options{.deadline = nanoseconds(deadline_ns),
                        .strict = strict,
                        .not_finite = fails ? NotFinite::fail : NotFinite::pass,
                        .warm_up_runs = warm_up_runs,
                        .tolerance = tolerance,
                        .first_pause = nanoseconds(first_pause_ns),
                        .longest_pause = nanoseconds(longest_pause_ns),
                        .good_answers = good_answers,
                        .longest_silence = nanoseconds(longest_silence_ns),
                        .log = self->callbacks->log()};
  std::vector<EngineCandidate> all = candidates_of(candidates);
  self->callbacks->run([&] { self->runner = std::make_unique<tenfold::LatencyRunner>(std::move(all), std::move(options)); });
}

template <class Pointer>
Pointer at(std::uintptr_t address) {
  return reinterpret_cast<Pointer>(address);   // of an array that Python's side keeps
}

void bind_answer(nb::module_& m) {
  nb::class_<Answer>(m, "Answer", "How a request was answered. Times are nanoseconds of time.monotonic_ns().")
      .def_ro("id", &Answer::id)
      .def_ro("due_ns", &Answer::due_ns)
      .def_ro("started_ns", &Answer::started_ns)
      .def_ro("ended_ns", &Answer::ended_ns)
      .def_prop_ro("status", [](const Answer& a) { return std::string(name(a.status.code)); })
      .def_ro("candidate", &Answer::candidate)
      .def_ro("late", &Answer::late)
      .def_ro("not_finite", &Answer::not_finite)
      .def_ro("late_start", &Answer::late_start)
      .def_ro("full_recompute", &Answer::full_recompute)
      .def_ro("missing_rows", &Answer::missing_rows, "Where a row ring was given: rows of its window that were not pushed yet.");
  nb::class_<CandidateState>(m, "CandidateState", "A candidate of a LatencyRunner.")
      .def_ro("name", &CandidateState::name)
      .def_ro("opened", &CandidateState::opened)
      .def_ro("answers", &CandidateState::answers)
      .def_ro("why", &CandidateState::why, "Why it does not answer, the last time that it did not.")
      .def_ro("answered", &CandidateState::answered)
      .def_ro("left", &CandidateState::left, "How often it was left.")
      .def_ro("difference", &CandidateState::difference, "To the last candidate, as a part of the largest output; -1: not compared.");
  nb::class_<RunnerCounts>(m, "RunnerCounts", "What a LatencyRunner has done since it was made.")
      .def_ro("answered", &RunnerCounts::answered)
      .def_ro("late", &RunnerCounts::late)
      .def_ro("not_finite", &RunnerCounts::not_finite)
      .def_ro("failed", &RunnerCounts::failed)
      .def_ro("fell", &RunnerCounts::fell)
      .def_ro("swaps", &RunnerCounts::swaps)
      .def_ro("late_start", &RunnerCounts::late_start, "Requests that were due before the rows before their newest were computed.")
      .def_ro("full_recompute", &RunnerCounts::full_recompute,
              "Windows that were computed as a whole, by engines with early steps.");
  nb::class_<RunnerPort::Counts>(m, "PortCounts", "What became of a port's requests.")
      .def_ro("submitted", &RunnerPort::Counts::submitted)
      .def_ro("rejected", &RunnerPort::Counts::rejected)
      .def_ro("dropped", &RunnerPort::Counts::dropped)
      .def_ro("polled", &RunnerPort::Counts::polled)
      .def_ro("answers_dropped", &RunnerPort::Counts::answers_dropped);
}

void bind_runner(nb::module_& m) {
  nb::class_<RunnerPort>(m, "Port")
      .def("submit", [](RunnerPort& p, std::uint64_t id, std::uintptr_t input,
                        std::int64_t due_ns) { return p.submit(id, at<const void*>(input), due_ns); })
      .def("poll",
           [](RunnerPort& p, std::uintptr_t output) -> nb::object {
             Answer answer;
             return p.poll(answer, at<void*>(output)) ? nb::cast(answer) : nb::none();
           })
      .def_prop_ro("bindings", &RunnerPort::bindings)
      .def_prop_ro("input_bytes", &RunnerPort::input_bytes)
      .def_prop_ro("output_bytes", &RunnerPort::output_bytes)
      .def("offset", &RunnerPort::offset)
      .def("served", &RunnerPort::served)
      .def_prop_ro("counts", &RunnerPort::counts);
  m.def("connect_port", [](const std::string& path) { return connect_port(path); });
  nb::class_<LowLatencyServer>(m, "PortServer")
      .def("__init__",
           [](LowLatencyServer* self, LowLatencyRunner& runner, const std::string& path, int slots, int when_full, int max_clients) {
             new (self) LowLatencyServer();
             self->server = std::make_unique<PortServer>(*runner.runner, path,
                                                         PortServerOptions{{slots, static_cast<WhenFull>(when_full)}, max_clients});
           })
      .def("clients", [](const LowLatencyServer& s) { return s.server ? s.server->clients() : 0; })
      .def("stop", &LowLatencyServer::stop);
  nb::class_<LowLatencyRunner>(m, "LatencyRunner")
      .def("__init__", &make_runner, nb::arg("candidates"), nb::arg("deadline_ns"), nb::arg("strict"), nb::arg("fails"),
           nb::arg("warm_up_runs"), nb::arg("tolerance"), nb::arg("first_pause_ns"), nb::arg("longest_pause_ns"), nb::arg("good_answers"),
           nb::arg("longest_silence_ns"), nb::arg("log").none())
      .def_prop_ro("bindings", [](const LowLatencyRunner& r) { return r.runner->bindings(); })
      .def_prop_ro("input_bytes", [](const LowLatencyRunner& r) { return r.runner->input_bytes(); })
      .def_prop_ro("output_bytes", [](const LowLatencyRunner& r) { return r.runner->output_bytes(); })
      .def("offset", [](const LowLatencyRunner& r, int binding) { return r.runner->offset(binding); })
      .def_prop_ro("window_rows",
                   [](const LowLatencyRunner& r) {
                     const WindowRows rows = r.runner->window_rows();
                     return nb::make_tuple(rows.input, rows.axis);
                   })
      .def("infer",
           [](LowLatencyRunner& r, std::uintptr_t input, std::uintptr_t output, std::int64_t due_ns) {
             const Unlocked unlocked;
             return r.runner->infer(at<const void*>(input), at<void*>(output), due_ns);
           })
      .def("precompute",
           [](LowLatencyRunner& r, std::uintptr_t window) {
             const Unlocked unlocked;
             return std::string(name(r.runner->precompute(at<const void*>(window)).code));
           })
      .def("keep_warm",
           [](LowLatencyRunner& r) {
             const Unlocked unlocked;
             r.runner->keep_warm();
           })
      .def("open_port",
           [](LowLatencyRunner& r, int slots, int when_full) {
             return r.runner->open_port({slots, static_cast<WhenFull>(when_full)});
           })
      .def("swap",
           [](LowLatencyRunner& r, const nb::list& candidates) {
             std::vector<EngineCandidate> all = candidates_of(candidates);
             r.callbacks->run([&] { r.runner->swap(std::move(all)); });
           })
      .def("backend", [](const LowLatencyRunner& r) { return r.runner->backend(); })
      .def("candidates", [](const LowLatencyRunner& r) { return r.runner->candidates(); })
      .def("counts", [](const LowLatencyRunner& r) { return r.runner->counts(); })
      .def("ready", [](const LowLatencyRunner& r) {
        std::string why;
        const bool ready = r.runner->ready(&why);
        return nb::make_tuple(ready, why);
      });
  nb::class_<LowLatencyThread>(m, "RunnerThread")
      .def("__init__",
           [](LowLatencyThread* self, const nb::list& runners, int cpu, int priority, std::int64_t spin_ns, std::int64_t keep_warm_ns) {
             std::vector<tenfold::LatencyRunner*> all;
             for (const nb::handle one : runners) all.push_back(nb::cast<LowLatencyRunner*>(one)->runner.get());
             RunnerThreadOptions options{
                 .cpu = cpu, .priority = priority, .spin = nanoseconds(spin_ns), .keep_warm = nanoseconds(keep_warm_ns)};
             new (self) LowLatencyThread();
             const Unlocked unlocked;
             self->thread = std::make_unique<RunnerThread>(std::move(all), std::move(options));
           })
      .def_prop_ro("id", [](const LowLatencyThread& t) { return t.thread ? t.thread->id() : -1; })
      .def("stop", &LowLatencyThread::stop);
}

void bind_rows(nb::module_& m) {
  nb::class_<RowRing>(m, "RowRing")
      .def(nb::init<std::int64_t, std::int64_t, std::int64_t>())
      .def("push", [](RowRing& r, std::int64_t stream,
                      std::uintptr_t row) { return reinterpret_cast<std::uintptr_t>(r.push(stream, at<const void*>(row))); })
      .def("window", [](const RowRing& r, std::int64_t stream) { return reinterpret_cast<std::uintptr_t>(r.window(stream)); })
      .def("filled", &RowRing::filled)
      .def("clear", &RowRing::clear);
  nb::class_<LatencyRecorder>(m, "LatencyRecorder",
                              "Times from 1 ns to 60 s in the buckets of an HdrHistogram with 3 significant digits; 216 KiB.")
      .def(nb::init<>())
      .def(
          "record", [](LatencyRecorder& r, std::int64_t ns) { r.record(ns); }, nb::arg("ns"), "One time in nanoseconds.")
      .def(
          "record_all",
          [](LatencyRecorder& r, nb::handle times) {
            const Tensor t = tensor_of(times, "the times");
            if (t.dtype() != DType::i64)
              raise_type_error("the times are " + std::string(name(t.dtype())) + ", nanoseconds as int64 were expected");
            r.record({t.data<std::int64_t>(), static_cast<std::size_t>(t.size())});
          },
          nb::arg("ns"), "An array of int64.")
      .def("add", &LatencyRecorder::add, nb::arg("other"))
      .def("clear", &LatencyRecorder::clear)
      .def_prop_ro("count", &LatencyRecorder::count)
      .def_prop_ro("min", &LatencyRecorder::min)
      .def_prop_ro("max", &LatencyRecorder::max)
      .def_prop_ro("mean", &LatencyRecorder::mean)
      .def_prop_ro("standard_deviation", &LatencyRecorder::standard_deviation)
      .def("percentile", &LatencyRecorder::percentile, nb::arg("percent"), "In nanoseconds, rounded up to the end of its bucket.")
      .def_static("bucket_width", &LatencyRecorder::bucket_width, nb::arg("ns"))
      .def("encode", &LatencyRecorder::encode, "HdrHistogram's V2 form, compressed, in base64.")
      .def("percentile_distribution", &LatencyRecorder::percentile_distribution, "HdrHistogram's text (.hgrm), in microseconds.")
      .def(
          "log",
          [](const LatencyRecorder& r, const std::string& tag, double began_s, double length_s) {
            const HistogramLogEntry entry{tag, &r, 0, length_s};
            return histogram_log(began_s, {&entry, 1});
          },
          nb::arg("tag") = "", nb::arg("began_s") = 0.0, nb::arg("length_s") = 0.0, "HdrHistogram's log (.hlog) of this recorder.");
}

}  // namespace

void bind_low_latency(nb::module_& m) {
  bind_answer(m);
  bind_runner(m);
  bind_rows(m);
}

}  // namespace tenfold::python
