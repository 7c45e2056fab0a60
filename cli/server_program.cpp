#include "server_program.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tenfold/error.h"

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

void run_server(const std::vector<std::string>& arguments) {
  std::vector<std::string> line = {server_program()};
  line.insert(line.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : line) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(line[0].c_str(), pointers.data());
  throw Error(ErrorKind::io, line[0] + " does not start: " + std::strerror(errno));
}

}  // namespace tenfold::cli
