// Opens external data component by component from a folder's descriptor: no links, no "..", so nothing outside can be reached. A link is
// followed first, to a path without links, and what it leads to is opened in the same way where that lies below a folder that may be read.
#include "onnx_import/external_data.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/find_or_make.h"

namespace tenfold::onnx_import {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept { std::swap(number_, other.number_); return *this; }
  ~Descriptor() { if (number_ >= 0) ::close(number_); }
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

struct Opened {
  Descriptor fd;
  std::string problem;   // why fd is not there
};

constexpr const char* kLink = "it is or passes through a symbolic link that leads out of the model's folder";

// Walks down from `folder`. Each component is opened relative to the one before and must not be a link: the same guarantee as
// openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS), on every kernel and inside every sandbox.
Opened open_beneath(const fs::path& folder, const fs::path& relative) {
  Descriptor at(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!at) return {{}, cat("the folder ", folder, " cannot be opened: ", std::strerror(errno))};
  std::vector<fs::path> components;
  for (const fs::path& part : relative) {
    if (part == "..") return {{}, "its path contains '..'"};
    if (!part.empty() && part != ".") components.push_back(part);
  }
  if (components.empty()) return {{}, "it names no file"};
  for (std::size_t i = 0; i < components.size(); ++i) {
    const bool last = i + 1 == components.size();
    const int flags = last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY;
    Descriptor next(::openat(at.get(), components[i].c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
    if (!next) {
      const int error = errno;
      struct stat info {};
      const bool link = ::fstatat(at.get(), components[i].c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
      return {{}, link ? kLink : std::strerror(error)};
    }
    at = std::move(next);
  }
  return {std::move(at), ""};
}

bool has_other_names(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink > 1;
}

// `path` relative to `folder` if it lies in it, else empty. Both are free of links and "..".
fs::path inside(const fs::path& folder, const fs::path& path) {
  if (path.empty()) return path;
  const fs::path relative = path.lexically_relative(folder);
  return relative.empty() || *relative.begin() == ".." || *relative.begin() == "." ? fs::path() : relative;
}

// Without links; empty where there is no such file.
fs::path real_path(const fs::path& path) {
  std::error_code none;
  return fs::canonical(path, none);
}

}  // namespace

ExternalData::ExternalData(const fs::path& model, std::vector<fs::path> allowed) : allowed_(std::move(allowed)) {
  if (model.empty()) return;
  folder_ = model.parent_path().empty() ? "." : model.parent_path();
  for (const fs::path& folder : {real_path(folder_), real_path(model).parent_path()})
    if (!folder.empty()) real_.push_back(folder);
}

std::shared_ptr<const MappedFile> ExternalData::file(const std::string& location) {
  return find_or_make(open_, location, [&] { return find(location); });
}

std::shared_ptr<const MappedFile> ExternalData::in_models_folder(const fs::path& relative, std::string& problem) const {
  Opened found = open_beneath(folder_, relative);
  if (!found.fd && found.problem == kLink) {
    const fs::path target = real_path(folder_ / relative);
    if (target.empty()) found.problem = "it is or passes through a symbolic link that leads to no file";
    for (const fs::path& folder : real_)
      if (const fs::path below = inside(folder, target); !found.fd && !below.empty()) found = open_beneath(folder, below);
  }
  if (found.fd && !has_other_names(found.fd.get())) return MappedFile::read(found.fd.get(), (folder_ / relative).string());
  problem = found.fd ? "it has several names (hard links), so it may belong to somebody else" : found.problem;
  return nullptr;
}

// A folder that the caller allows: the file lies in it under its name, or one of the folders has a link into it.
std::shared_ptr<const MappedFile> ExternalData::in_allowed_folder(const fs::path& relative) const {
  std::vector<fs::path> real, targets;
  if (!folder_.empty()) targets.push_back(real_path(folder_ / relative));
  for (const fs::path& folder : allowed_) {
    std::error_code error;
    real.push_back(fs::canonical(folder, error));
    require(!error, ErrorKind::invalid_argument, "--externalDataDir=", folder.string(), ": ", error.message());
    targets.push_back(real_path(real.back() / relative));
  }
  for (const fs::path& folder : real)
    for (const fs::path& target : targets) {
      const fs::path below = inside(folder, target);
      if (below.empty()) continue;
      Opened found = open_beneath(folder, below);
      if (found.fd) return MappedFile::read(found.fd.get(), (folder / below).string());
    }
  return nullptr;
}

std::shared_ptr<const MappedFile> ExternalData::find(const std::string& location) const {
  require(!location.empty() && location.size() < 4096 && location.find('\0') == std::string::npos, ErrorKind::invalid_model,
          "external data: the location is empty, too long or contains a zero byte");
  const fs::path relative(location);
  require(!relative.is_absolute(), ErrorKind::invalid_model, "external data '", location, "': an absolute path is not allowed");
  std::string problem = "the model was given as bytes, so it has no folder";
  std::shared_ptr<const MappedFile> file = folder_.empty() ? nullptr : in_models_folder(relative, problem);
  if (!file) file = in_allowed_folder(relative);
  if (file) return file;
  fail(problem == std::strerror(ENOENT) ? ErrorKind::io : ErrorKind::invalid_model,
       cat("external data '", location, "' was not read: ", problem, ". Only files inside the model's folder are read",
           "; --externalDataDir=DIR allows another folder"));
}

}  // namespace tenfold::onnx_import
