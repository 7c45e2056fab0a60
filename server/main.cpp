// tenfold-server: flags in, an exit code out.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "grpc_front.h"
#include "process/probe.h"
#include "process/serve.h"
#include "process/supervisor.h"
#include "repository/start.h"
#include "serve/sources.h"
#include "serve/variables.h"

namespace tenfold::server {
namespace {

int run(int count, char** values) {
  cli::ServeOptions options;
  // Under the name of Triton's program it listens where that does.
  if (count > 0 && std::filesystem::path(values[0]).filename() == "tritonserver") options.http.address = "0.0.0.0";
  const cli::Flags flags = cli::make_serve_flags(options);
  const std::vector<std::string> line(values, values + count);
  std::vector<std::string> arguments(line.begin() + (count > 0), line.end()), given;
  std::optional<WorkerStart> worker;
  if (!arguments.empty()) worker = parse_worker_argument(arguments[0]);
  if (worker) arguments.erase(arguments.begin());
  const auto settings = cli::read_settings(flags, cli::with_tei_variables(arguments), given);
  cli::expect_known_variables(flags);
  cli::apply(settings);
  if (options.help) return std::fputs(flags.help(options.full_help).c_str(), stdout), 0;
  const std::vector<std::string> words = cli::named_model(options, given);
  cli::check_serve(options, words);
  if (options.print_config) return std::fputs(cli::settings_text(flags, settings).c_str(), stdout), 0;
  if (!options.print_model_config.empty()) return std::fputs(completed_config(options).c_str(), stdout), 0;
  if (!options.process.probe.empty()) return probe(options);
  const std::string path = words.empty() ? "" : words[0];
  if (worker) return serve(options, path, std::move(*worker));
  for (const std::string& note : options.notes) std::fprintf(stderr, "%s\n", note.c_str());
  if (std::any_of(line.begin(), line.end(), [](const std::string& word) { return word == "--api-key" || word.starts_with("--api-key="); }))
    std::fputs("--api-key: all users of this machine can read it in the list of processes: give it by API_KEY or --api-key-file\n", stderr);
  if (options.process.no_supervisor || line.empty()) return serve(options, path, {});
  return supervise(options, line, open_sockets(options, has_grpc()));
}

}  // namespace
}  // namespace tenfold::server

int main(int count, char** values) {
  try {
    return tenfold::server::run(count, values);
  } catch (const tenfold::cli::UsageError& error) {
    std::fprintf(stderr, "tenfold-server: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenfold-server: %s\n", error.what());
    return 1;
  }
}
