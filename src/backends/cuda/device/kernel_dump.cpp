// Writing kernels as files.
#include "backends/cuda/device/kernel_dump.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>

#include "backends/cuda/codegen/kernel_files.h"
#include "base/check.h"
#include "tenfold/internal/file.h"

namespace tenfold::backends::cuda {
namespace {

// Of the file that the text includes last; what stands in no file has no name of its own.
std::string name_of(std::string_view source) {
  constexpr std::string_view kInclude = "#include \"backends/cuda/kernels/";
  const std::size_t last = source.rfind(kInclude);
  if (last == std::string_view::npos) return "kernel";
  const std::size_t end = source.find(".cu", last), begin = source.rfind('/', end) + 1;
  return std::string(source.substr(begin, end - begin));
}

class Dump {
 public:
  explicit Dump(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void write(const std::string& source, int arch, Hash128 key) {
    char text[40];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(key.high));
    const std::lock_guard lock(mutex_);
    put(cat(name_of(source), "-", text, "-sm_", arch, ".cu"), source);
    for (const KernelFile& file : included_kernel_files(source)) put(std::string(file.name), file.text);
  }

 private:
  void put(const std::string& name, std::string_view text) {
    if (!written_.insert(name).second) return;
    const std::filesystem::path path = folder_ / name;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    require(!error, ErrorKind::io, "cannot make the folder ", path.parent_path().string(), ": ", error.message());
    write_file(path.string(), text);
  }
  const std::filesystem::path folder_;
  std::mutex mutex_;
  std::set<std::string> written_;
};

}  // namespace

void dump_kernel(const std::string& source, int arch, Hash128 key) {
  static const char* const folder = std::getenv("TENFOLD_DUMP_KERNELS");
  if (!folder || !*folder) return;
  static Dump dump{folder};
  dump.write(source, arch, key);
}

}  // namespace tenfold::backends::cuda
