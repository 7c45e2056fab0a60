#include "python_verb.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tenfold/error.h"

namespace tenfold::cli {
namespace {

// The current folder is no place of packages.
constexpr const char* kProgram = R"(
import importlib, sys
sys.path[:] = [path for path in sys.path if path]
verb, module, packages = sys.argv[1:4]
try:
    main = importlib.import_module(module).main
except ImportError as error:
    sys.exit("tenfold: %s runs in Python, and %s has no package for it (%s); run: %s -m pip install %s, "
             "or name another Python by TENFOLD_PYTHON=..." % (verb, sys.executable, error, sys.executable, packages))
sys.exit(main(sys.argv[4:]))
)";

}  // namespace

void run_in_python(const std::string& verb, const std::string& module, const std::string& packages, const Arguments& arguments) {
  const char* const named = std::getenv("TENFOLD_PYTHON");
  const std::string python = named && *named ? named : "python3";
  Arguments line = {python, "-c", kProgram, verb, module, packages};
  line.insert(line.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : line) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(python.c_str(), pointers.data());
  throw Error(ErrorKind::io, verb + " runs in Python, and '" + python + "' does not start: " + std::strerror(errno) +
                                 "; install Python 3.11 and: pip install " + packages + ", or name another Python by TENFOLD_PYTHON=...");
}

}  // namespace tenfold::cli
