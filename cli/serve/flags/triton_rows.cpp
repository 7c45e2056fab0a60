// The rows of `tenfold serve`'s flags that are Triton's and change nothing for the user here: a line tells why.
#include "serve/flags/rows.h"

namespace tenfold::cli {
namespace {

struct Row {
  const char *name, *value, *why;
};
constexpr Row kRows[] = {
    {"backend-directory", "DIR", "the server computes models itself and loads no backends"},
    {"repoagent-directory", "DIR", "there are no repository agents"},
    {"cache-directory", "DIR", "the cache of responses is in the server itself"},
    {"min-supported-compute-capability", "N", "plans are built for the GPU that is there"},
    {"pinned-memory-pool-byte-size", "N", "pinned memory is the engine's own, as much as batches take"},
    {"cuda-memory-pool-byte-size", "GPU:N", "memory of a GPU is the engine's own, as much as models take"},
    {"cuda-virtual-address-size", "GPU:N", "it is for states that grow, of sequences"},
    {"buffer-manager-thread-count", "N", "instances copy inputs and outputs themselves"},
    {"model-load-retry-count", "N", "what fails once fails again; --repository-poll-secs looks for new files"},
    {"model-load-gpu-limit", "GPU:N", "a model that does not fit is not loaded, and others stay as they are"},
    {"enable-peer-access", "BOOL", "an instance uses one GPU"},
    {"host-policy", "POLICY", "threads are placed by the process's own cpuset"},
    {"model-namespacing", "BOOL", "models of equal names in several repositories are served by none"},
};

// What --backend-config says for all backends or for Tenfold.
void set_backend(const std::string& text, ServeOptions& options) {
  const std::size_t comma = text.find(','), equals = text.find('=');
  if (equals == std::string::npos) throw UsageError("--backend-config takes SETTING=VALUE or BACKEND,SETTING=VALUE, not '" + text + "'");
  const std::string backend = comma < equals ? text.substr(0, comma) : "";
  const std::size_t from = comma < equals ? comma + 1 : 0;
  const std::string setting = text.substr(from, equals - from), value = text.substr(equals + 1);
  const bool ours = backend.empty() || backend == "tenfold" || backend == "onnxruntime";
  if (ours && setting == "default-max-batch-size")
    options.repository.default_max_batch = parse_int("backend-config=default-max-batch-size", value, 0, 1 << 20);
  else if (ours && setting == "plan-cache-dir")
    options.model.plan_cache_folder = value;
  else
    options.notes.push_back("--backend-config=" + text + " changes nothing: there are default-max-batch-size and plan-cache-dir");
}

}  // namespace

void add_triton_rows(Flags& flags, ServeOptions& options) {
  flags.group("Triton's flags that change little or nothing here", true);
  flags.add({"backend-config", "SETTING", "default-max-batch-size=N, tenfold,plan-cache-dir=DIR; others change nothing",
             [&options](const std::string& text) { set_backend(text, options); }});
  flags.add({"strict-model-config", "BOOL", "an old name: true is --disable-auto-complete-config",
             [&options](const std::string& text) { options.repository.complete = text != "true" && text != "1"; }});
  flags.add({"rate-limit", "off", "only off", [](const std::string& text) {
               if (text != "off") throw UsageError("--rate-limit=" + text + " is not supported by Tenfold: serve the model by Triton and "
                                                   "libtriton_tenfold.so");
             }});
  for (const char* name : {"allow-sagemaker", "allow-vertex-ai"})
    flags.add({name, "false", "only false", [name](const std::string& text) {
                 if (text != "false" && text != "0")
                   throw UsageError("--" + std::string(name) + " is not supported by Tenfold: clients ask over HTTP and gRPC");
               }});
  for (const Row& row : kRows)
    flags.add({row.name, row.value, "changes nothing: " + std::string(row.why), [&options, row](const std::string&) {
                 options.notes.push_back("--" + std::string(row.name) + " changes nothing: " + row.why);
               }});
}

}  // namespace tenfold::cli
