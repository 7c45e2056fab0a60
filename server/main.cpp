// tenfold-server: flags in, an exit code out.
#include <cstdio>
#include <exception>

#include "grpc_front.h"
#include "process/serve.h"
#include "process/supervisor.h"

namespace tenfold::server {
namespace {

int run(int count, char** values) {
  cli::ServeOptions options;
  const cli::Flags flags = cli::make_serve_flags(options);
  const std::vector<std::string> line(values, values + count);
  std::vector<std::string> arguments(line.begin() + (count > 0), line.end());
  std::optional<WorkerStart> worker;
  if (!arguments.empty()) worker = parse_worker_argument(arguments[0]);
  if (worker) arguments.erase(arguments.begin());
  const auto words = flags.parse(arguments);
  if (options.help) return std::fputs(flags.help(options.full_help).c_str(), stdout), 0;
  cli::check_serve(options, words);
  const std::string path = words.empty() ? "" : words[0];
  if (worker) return serve(options, path, std::move(*worker));
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
