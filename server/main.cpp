// tenfold-server: flags in, an exit code out.
#include <cstdio>
#include <exception>

#include "process/serve.h"

namespace tenfold::server {
namespace {

int run(int count, char** values) {
  cli::ServeOptions options;
  const cli::Flags flags = cli::make_serve_flags(options);
  const auto words = flags.parse(cli::with_tei_variables({values + (count > 0), values + count}));
  if (options.help) return std::fputs(flags.help(options.full_help).c_str(), stdout), 0;
  return serve(options, cli::served_path(options, words));
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
