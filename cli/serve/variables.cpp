#include "serve/variables.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

#include "tenfold/internal/nearest.h"

namespace tenfold::cli {
namespace {

constexpr std::string_view kPrefix = "TENFOLD_";
// What others than flags read: the library, and the Python that reads samples.
constexpr const char* kOthers[] = {"TENFOLD_CONFIG",       "TENFOLD_CHECK_TYPES",      "TENFOLD_CPU_FEATURES", "TENFOLD_CUDA_KERNELS",
                                   "TENFOLD_DUMP_KERNELS", "TENFOLD_EARLY_LAUNCH",     "TENFOLD_PYTHON",       "TENFOLD_PYTHON_SECONDS",
                                   "TENFOLD_NVRTC_HELPER", "TENFOLD_KERNEL_LINE_INFO", "TENFOLD_DEVICE"};

// TENFOLD_SERVICE_HOST, TENFOLD_GPU_SERVICE_PORT_HTTP, TENFOLD_PORT_8000_TCP_ADDR.
bool is_service_name(const std::string& name) {
  for (const char* part : {"_SERVICE_HOST", "_SERVICE_PORT", "_TCP", "_UDP"})
    if (name.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

std::string variable_of(const std::string& flag) {
  std::string name(kPrefix);
  for (const char c : flag) name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

bool is_service_link(const std::string& value) { return value.starts_with("tcp://") || value.starts_with("udp://"); }

void expect_known_variables(const Flags& flags) {
  std::vector<std::string> known;                // without the prefix, which counts for nothing in a comparison
  for (const Flags::Group& group : flags.groups())
    for (const Flag& flag : group.flags) known.push_back(variable_of(flag.name).substr(kPrefix.size()));
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string text(*entry), name = text.substr(0, text.find('='));
    if (!name.starts_with(kPrefix) || std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers)) continue;
    const std::string word = name.substr(kPrefix.size());
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    if (is_service_name(name) || is_service_link(text.substr(std::min(text.size(), name.size() + 1)))) continue;
    if (const std::string hint = nearest(word, known); !hint.empty())
      throw UsageError("the variable " + name + " is unknown; did you mean " + std::string(kPrefix) + hint + "?");
  }
}

}  // namespace tenfold::cli
