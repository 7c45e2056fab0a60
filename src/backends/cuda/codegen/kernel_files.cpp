// Finding the files that a kernel's text includes.
#include "backends/cuda/codegen/kernel_files.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>

#include "base/check.h"
#include "base/files/file.h"

namespace tenfold::backends::cuda {
namespace {

constexpr std::string_view kInclude = "#include \"", kFolder = "backends/cuda/kernels/";

std::vector<std::string_view> includes(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(kInclude)) names.push_back(line.substr(kInclude.size(), line.rfind('"') - kInclude.size()));
    at = end + 1;
  }
  return names;
}

struct Entry {
  KernelFile file;
  std::vector<std::string_view> includes;
};

// All files with what they include, read once.
struct Table {
  std::map<std::string_view, Entry> entries;
  std::deque<std::string> read;  // texts that came from the folder
  std::string note;

  Table() {
    const char* const folder = std::getenv("TENFOLD_CUDA_KERNELS");
    require(!folder || std::filesystem::is_directory(folder), ErrorKind::io,
            "TENFOLD_CUDA_KERNELS names no folder: ", folder ? folder : "");
    for (KernelFile file : embedded_kernel_files()) {
      if (folder) take_other(folder, file);
      entries[file.name] = {file, includes(file.text)};
    }
    if (folder) note = cat(read.size(), " of ", entries.size(), " CUDA files from ", folder);
  }
  void take_other(const std::filesystem::path& folder, KernelFile& file) {
    const std::filesystem::path path = folder / file.name.substr(kFolder.size());
    if (!std::filesystem::is_regular_file(path)) return;
    read.push_back(read_file(path.string()));
    file.text = read.back();
  }
};
const Table& table() {
  static const Table once;
  return once;
}

void add(std::vector<KernelFile>& all, std::string_view name) {
  const auto it = table().entries.find(name);
  check(it != table().entries.end(), "a kernel includes ", name, ", which is no file of kernels/");
  const auto same = [&](const KernelFile& f) { return f.name == it->first; };
  if (std::any_of(all.begin(), all.end(), same)) return;
  all.push_back(it->second.file);
  for (const std::string_view inner : it->second.includes) add(all, inner);
}

}  // namespace

std::vector<KernelFile> included_kernel_files(std::string_view text) {
  std::vector<KernelFile> all;
  for (const std::string_view name : includes(text)) add(all, name);
  return all;
}

std::string kernel_override_note() { return table().note; }

}  // namespace tenfold::backends::cuda
