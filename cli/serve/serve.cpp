// tenfold serve: the program tenfold-server takes this one's place, so that nothing else links what a network needs.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "serve/serve_flags.h"
#include "tenfold/error.h"
#include "verbs.h"

namespace tenfold::cli {
namespace {

std::string server_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = self.parent_path() / "tenfold-server";
  if (error || !std::filesystem::exists(beside, error))
    throw Error(ErrorKind::io, "the program tenfold-server is not beside " + self.string() +
                                   ": it is built where libboost1.81-dev, libsimdjson-dev and zlib1g-dev are installed (script/bootstrap), "
                                   "and installed with them");
  return beside.string();
}

}  // namespace

void serve_flags(const UseFlags& use) {
  ServeOptions options;
  use(make_serve_flags(options));
}

int serve_main(const Arguments& arguments) {
  ServeOptions options;
  const Flags flags = make_serve_flags(options);
  const auto words = flags.parse(arguments);   // here, so that mistakes are told also where the server is not installed
  if (options.help) return std::fputs(flags.help(options.full_help).c_str(), stdout), kOk;
  check_serve(options, words);
  Arguments line = {server_program()};
  line.insert(line.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : line) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(line[0].c_str(), pointers.data());
  throw Error(ErrorKind::io, line[0] + " does not start: " + std::strerror(errno));
}

}  // namespace tenfold::cli
