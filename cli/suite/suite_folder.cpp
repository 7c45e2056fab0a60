#include "suite/suite_folder.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "flags/flags.h"
#include "tenfold/error.h"

extern char** environ;

namespace tenfold::cli {

namespace fs = std::filesystem;

SuiteFolder::SuiteFolder(const std::string& given) : path_(given) {
  if (fs::is_directory(given)) return;
  if (!fs::exists(given)) throw UsageError("'" + given + "' does not exist; a folder or an archive of ONNX backend tests was expected");
  std::string place = (fs::temp_directory_path() / "tenfold-onnx-suite-XXXXXX").string();
  if (!::mkdtemp(place.data())) throw Error(ErrorKind::io, "cannot make a folder " + place + ": " + std::strerror(errno));
  path_ = place, is_ours_ = true;
  std::string file = fs::absolute(given).string(), unpack = "-xf", into = "-C", tar = "tar";
  char* words[] = {tar.data(), unpack.data(), file.data(), into.data(), place.data(), nullptr};
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, "tar", nullptr, nullptr, words, environ);
  int status = -1;
  if (error == 0) ::waitpid(process, &status, 0);
  if (status == 0) return;
  fs::remove_all(path_);
  throw Error(ErrorKind::io, error != 0 ? std::string("cannot start tar, which unpacks archives: ") + std::strerror(error)
                                        : "tar could not unpack '" + given + "'; give the folder of an unpacked suite");
}

SuiteFolder::~SuiteFolder() {
  std::error_code gone_already;
  if (is_ours_) fs::remove_all(path_, gone_already);
}

}  // namespace tenfold::cli
