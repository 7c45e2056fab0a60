// tenfold serve: the program tenfold-server takes this one's place, so that nothing else links what a network needs.
#include <cstdio>

#include "serve/serve_flags.h"
#include "serve/sources.h"
#include "server_program.h"
#include "verbs.h"

namespace tenfold::cli {
void serve_flags(const UseFlags& use) {
  ServeOptions options;
  use(make_serve_flags(options));
}

int serve_main(const Arguments& arguments) {
  ServeOptions options;
  const Flags flags = make_serve_flags(options);
  std::vector<std::string> words;
  // Here, so that mistakes are told also where the server is not installed.
  apply(read_settings(flags, with_tei_variables(arguments), words));
  if (options.help) return std::fputs(flags.help(options.full_help).c_str(), stdout), kOk;
  check_serve(options, named_model(options, words));
  run_server(arguments);
}

}  // namespace tenfold::cli
