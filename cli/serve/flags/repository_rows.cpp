// The rows of `tenfold serve`'s flags that are about a repository of models.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_repository_rows(Flags& flags, RepositoryFlags& options) {
  flags.group("Repository");
  for (const char* name : {"model-repository", "model-store"})
    flags.add({name, "DIR", "a folder of models as Triton has it: NAME/config.pbtxt, NAME/1/model.onnx; repeatable",
               [&options](const std::string& text) { options.folders.push_back(text); }});
  add_choice(flags, "model-control-mode", options.mode, {"none", "poll", "explicit"},
             "none: what is there at the start; poll: also what changes; explicit: what clients load and unload (none)");
  flags.add({"load-model", "NAME", "with explicit: a model of the start, or * for all; repeatable",
             [&options](const std::string& text) { options.load.push_back(text); }});
  add_number(flags, "repository-poll-secs", options.poll_s, 1, 1'000'000, "with poll: seconds between two looks (15)");
  add_bool(flags, "strict-readiness", options.strict, "not ready while a model of the start does not serve (true)");
  add_bool(flags, "exit-on-error", options.exit_on_error, "exit 1 if a model of the start fails (true)");
  flags.add({"disable-auto-complete-config", "[BOOL]", "a configuration must have all inputs, outputs and the batch",
             [&options](const std::string& text) { options.complete = text == "false" || text == "0"; }});
  add_number(flags, "model-load-thread-count", options.threads, 0, 256,
             "models that load at the same time; 0: one, so that kernels are timed alone (0)");
  flags.add_text("model-config-name", options.config_name, "NAME", "configurations are configs/NAME.pbtxt where a model has such a file");
  add_number(flags, "unload-after", options.unload_after_s, 0, 1'000'000'000,
             "seconds without a request, after which a model gives its memory back until the next one; 0: never (0)");
}

}  // namespace tenfold::cli
