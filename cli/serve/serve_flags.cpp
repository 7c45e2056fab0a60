#include "serve/serve_flags.h"

#include <algorithm>

#include "flags/specs.h"

namespace tenfold::cli {
namespace {

constexpr int kMaxPort = 65535;

void add_number(Flags& flags, const std::string& name, int& target, int min, int max, const std::string& help) {
  flags.add({name, "N", help, [&target, name, min, max](const std::string& text) { target = parse_int(name, text, min, max); }});
}

void add_choice(Flags& flags, const std::string& name, std::string& target, const std::vector<std::string>& choices,
                const std::string& help) {
  std::string shown;
  for (const std::string& choice : choices) shown += (shown.empty() ? "" : "|") + choice;
  flags.add({name, shown, help, [&target, name, choices, shown](const std::string& text) {
               if (std::find(choices.begin(), choices.end(), text) == choices.end())
                 throw UsageError("--" + name + " takes " + shown + ", not '" + text + "'");
               target = text;
             }});
}

void add_model_rows(Flags& flags, ServeOptions& options) {
  flags.group("Model");
  flags.add_text("name", options.name, "NAME", "what requests call the model; default: the file's name without its ending");
  flags.add_text("device", options.device, "NAME", "cpu, cuda:0; default: the first GPU, else the CPU");
  add_number(flags, "instances", options.instances, 1, 1024, "batches that run at the same time; they share the weights (1)");
  flags.add({"max-batch", "N", "the most rows of a batch, 0: each request runs alone; default: 4 where the model has a batch dim",
             [&options](const std::string& text) { options.max_batch = parse_int("max-batch", text, 0, 1 << 20); }});
  add_choice(flags, "precision", options.precision, {"fp32", "tf32", "fp16", "bf16", "auto"},
             "what layers may be computed in, as exec has it; default: tf32");
  add_number(flags, "threads", options.threads, 0, kMaxThreads, "of the CPU, for each batch; 0: as many as this process may use (0)");
  add_choice(flags, "tune", options.tune, {"now", "background", "never"},
             "when kernels are timed; default: now, but background where requests choose shapes beside the batch");
  flags.add_text("plan-cache-dir", options.plan_cache_folder, "DIR", "where plans are kept; default: the user's cache");
}

void add_queue_rows(Flags& flags, ServeOptions& options) {
  flags.group("Queue");
  add_number(flags, "max-queue-size", options.queue_size, 0, 1 << 30,
             "requests that wait; one more is answered with 503. 0: no limit (1024)");
  add_number(flags, "max-queue-delay-us", options.queue_delay_us, 0, 60'000'000,
             "how long a request waits for others to share its batch (0)");
  flags.add({"preferred-batch", "N[,N...]", "sizes at which a batch does not wait for more",
             [&options](const std::string& text) {
               for (const std::string& one : split(text, ',')) options.preferred.push_back(parse_int("preferred-batch", one, 1, 1 << 20));
             }});
  add_number(flags, "request-timeout-us", options.timeout_us, 0, 2'000'000'000, "how long a request waits at most; 0: no limit (0)");
}

void add_network_rows(Flags& flags, ServeOptions& options) {
  flags.group("Network");
  flags.add_text("http-address", options.http_address, "ADDRESS", "where HTTP listens; 0.0.0.0: on all addresses (127.0.0.1)");
  add_number(flags, "http-port", options.http_port, 0, kMaxPort, "of HTTP; 0: a free one (8000)");
  add_number(flags, "http-thread-count", options.http_threads, 0, 1024, "threads of the network; 0: as many as processors, 8 at most (0)");
  flags.add({"http-max-input-size", "BYTES", "the largest body of a request, also when it is decompressed (67108864)",
             [&options](const std::string& text) { options.body_bytes = parse_int("http-max-input-size", text, 1); }});
  add_number(flags, "max-connections", options.connections, 1, 1'000'000, "that are open at the same time (10000)");
  add_number(flags, "metrics-port", options.metrics_port, 0, kMaxPort, "of /metrics, which HTTP's port answers, too; 0: a free one (8002)");
  flags.add_text("metrics-address", options.metrics_address, "ADDRESS", "default: that of HTTP");
  flags.add({"allow-metrics", "true|false", "whether the port of metrics is opened (true)", [&options](const std::string& text) {
               if (text != "true" && text != "false") throw UsageError("--allow-metrics takes true or false, not '" + text + "'");
               options.metrics = text == "true";
             }});
  add_number(flags, "exit-delay-secs", options.exit_delay_s, 0, 3600,
             "between SIGTERM, at which it is not ready any more, and the last request (0)");
  add_number(flags, "exit-timeout-secs", options.exit_timeout_s, 0, 3600, "how long accepted requests may take then (30)");
}

void add_grpc_rows(Flags& flags, ServeOptions& options) {
  flags.group("gRPC");
  flags.add({"allow-grpc", "true|false", "whether the port of gRPC is opened (true)", [&options](const std::string& text) {
               if (text != "true" && text != "false") throw UsageError("--allow-grpc takes true or false, not '" + text + "'");
               options.grpc = text == "true";
             }});
  flags.add_text("grpc-address", options.grpc_address, "ADDRESS", "default: that of HTTP");
  add_number(flags, "grpc-port", options.grpc_port, 0, kMaxPort, "0: a free one (8001)");
  add_choice(flags, "grpc-infer-response-compression-level", options.grpc_compression, {"none", "low", "medium", "high"},
             "of answers, for clients that accept gzip; default: none");
}

// Triton's, of which this server has no part yet.
void refuse_rows(Flags& flags) {
  const std::string backend =
      "serve repositories by Triton and libtriton_tenfold.so; this server takes one model file: tenfold serve model.onnx";
  for (const char* name : {"model-repository", "model-store", "model-control-mode", "load-model", "repository-poll-secs",
                           "model-config-name", "strict-readiness", "exit-on-error", "disable-auto-complete-config",
                           "backend-directory", "backend-config"})
    flags.refuse(name, backend);
  for (const char* name : {"http-restricted-api", "grpc-restricted-protocol", "api-key-file", "http-use-ssl", "grpc-use-ssl",
                           "grpc-use-ssl-mutual"})
    flags.refuse(name, "it has neither keys nor TLS: put a proxy with them in front of it");
  for (const char* name : {"trace-config", "log-file", "log-format", "log-verbose"}) flags.refuse(name, "it writes few lines, to stderr");
  for (const char* name : {"cache-config", "rate-limit", "allow-client-shm", "http-header-forward-pattern"})
    flags.refuse(name, "serve the model by Triton and libtriton_tenfold.so");
}

}  // namespace

Flags make_serve_flags(ServeOptions& options) {
  Flags flags("tenfold serve model.onnx [--flags]",
              "Answers requests of the KServe v2 protocol over HTTP and gRPC, as Triton does; those of several clients run as one batch.\n"
              "The program tenfold-server does it, which stands beside this one.");
  add_model_rows(flags, options);
  add_queue_rows(flags, options);
  add_network_rows(flags, options);
  add_grpc_rows(flags, options);
  flags.group("Help");
  flags.add({"help", "[all]", "this text; =all: a line for every flag", [&options](const std::string& text) {
               if (!text.empty() && text != "all") throw UsageError("--help or --help=all");
               options.help = true, options.full_help = text == "all";
             }});
  refuse_rows(flags);
  return flags;
}

}  // namespace tenfold::cli
