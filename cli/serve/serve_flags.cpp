#include "serve/serve_flags.h"

#include "serve/flags/rows.h"

namespace tenfold::cli {

Flags make_serve_flags(ServeOptions& options) {
  Flags flags("tenfold serve model.onnx [--flags]\n       tenfold serve --model-repository=DIR [--flags]",
              "Answers requests of the KServe v2 protocol over HTTP and gRPC, as Triton does; those of several clients run as one batch.\n"
              "The program tenfold-server does it, which stands beside this one.");
  add_model_rows(flags, options.model);
  add_repository_rows(flags, options.repository);
  add_queue_rows(flags, options.queue);
  add_text_rows(flags, options.text);
  add_http_rows(flags, options.http);
  add_grpc_rows(flags, options.grpc);
  add_limit_rows(flags, options.limits);
  add_security_rows(flags, options.security);
  add_memory_rows(flags, options.memory);
  add_shutdown_rows(flags, options.shutdown);
  add_observe_rows(flags, options.observe);
  add_pattern_rows(flags, options.pattern);
  add_process_rows(flags, options.process);
  add_tei_rows(flags, options);
  add_triton_rows(flags, options);
  flags.group("Help");
  flags.add_text("config", options.config_file, "FILE",
                 "lines name=value; what the command line and TENFOLD_NAME say comes before what it says");
  flags.add_switch("print-config", options.print_config, "prints all flags and where they come from, as such a file, and ends");
  flags.add_text("print-model-config", options.print_model_config, "DIR", "prints a model's completed configuration, and ends");
  flags.add({"help", "[all]", "this text; =all: a line for every flag", [&options](const std::string& text) {
               if (!text.empty() && text != "all") throw UsageError("--help or --help=all");
               options.help = true, options.full_help = text == "all";
             }});
  add_refused_rows(flags);
  return flags;
}

std::vector<std::string> named_model(const ServeOptions& options, std::vector<std::string> words) {
  if (!options.text.model_id.empty()) words.push_back(options.text.model_id);
  return words;
}

void check_serve(const ServeOptions& options, const std::vector<std::string>& words) {
  const RepositoryFlags& repository = options.repository;
  if (options.print_config || !options.print_model_config.empty() || !options.process.probe.empty()) return;
  const bool only_patterns = words.empty() && repository.folders.empty() && !options.pattern.engines.empty();
  if (words.size() > 1 || (words.empty() == repository.folders.empty() && !only_patterns))
    throw UsageError("it takes one model or repositories: tenfold serve model.onnx, or tenfold serve --model-repository=DIR");
  if (!repository.load.empty() && repository.mode != "explicit")
    throw UsageError("Use of '--load-model' requires setting '--model-control-mode=explicit' as well.");
  if (!words.empty() && repository.mode != "none")
    throw UsageError("--model-control-mode=" + repository.mode + " is for repositories: give --model-repository=DIR");
  if (!repository.folders.empty() && !options.model.name.empty())
    throw UsageError("--name is for one model; those of a repository have the names of their folders");
}

}  // namespace tenfold::cli
