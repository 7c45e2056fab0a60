// Opening libraries by name, where the loader finds them or where toolkits and Python packages put them.
#include "backends/cuda/device/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>

#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

namespace fs = std::filesystem;

std::atomic<std::int64_t> searched{0};
std::mutex added_mutex;
std::vector<std::string>& added() {
  static std::vector<std::string> folders;
  return folders;
}

std::vector<std::string>& preferred() {
  static std::vector<std::string> files;
  return files;
}
std::vector<std::string>& opened() {
  static std::vector<std::string> files;
  return files;
}

void note_opened(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name || map->l_name[0] != '/') return;
  const std::lock_guard lock(added_mutex);
  if (std::find(opened().begin(), opened().end(), map->l_name) == opened().end()) opened().emplace_back(map->l_name);
}

std::vector<fs::path> folders_in(const fs::path& parent) {
  std::vector<fs::path> found;
  std::error_code none;
  for (fs::directory_iterator it(parent, none), end; !none && it != end; it.increment(none))
    if (it->is_directory(none)) found.push_back(it->path());
  std::sort(found.rbegin(), found.rend());  // newer versions first, and one order for everybody
  return found;
}

// <prefix>/lib/python3.X/{site,dist}-packages/nvidia/<package>/lib
void add_python_packages(const fs::path& prefix, std::vector<std::string>& places) {
  for (const fs::path& python : folders_in(prefix / "lib")) {
    if (!python.filename().string().starts_with("python3")) continue;
    for (const char* kind : {"site-packages", "dist-packages"})
      for (const fs::path& package : folders_in(python / kind / "nvidia")) places.push_back((package / "lib").string());
  }
}

// Left open: whoever asks for one of them by name then gets it.
void open_companions(const fs::path& place, const std::string& companion) {
  std::error_code none;
  for (fs::directory_iterator it(place, none), end; !none && it != end; it.increment(none))
    if (it->path().filename().string().starts_with(companion)) dlopen(it->path().c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

void add_search_place(const std::string& folder) {
  std::lock_guard lock(added_mutex);
  added().push_back(folder);
}

std::vector<std::string> opened_files() {
  const std::lock_guard lock(added_mutex);
  return opened();
}

void prefer_file(const std::string& path) {
  const std::lock_guard lock(added_mutex);
  preferred().push_back(path);
}

std::vector<std::string> added_places() {
  const std::lock_guard lock(added_mutex);
  return added();
}

std::int64_t searches() noexcept { return searched.load(std::memory_order_relaxed); }

namespace {
std::vector<std::string> search_places() {
  searched.fetch_add(1, std::memory_order_relaxed);
  std::vector<std::string> places;
  for (const std::string& folder : added_places()) {
    places.push_back(folder);
    add_python_packages(folder, places);
  }
  for (const char* folder : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/usr/local/nvidia/lib64", "/opt/cuda/lib64"})
    places.emplace_back(folder);
  for (const char* prefix : {"/usr/local", "/usr"}) add_python_packages(prefix, places);
  return places;
}
}  // namespace

Library::Library(const std::vector<std::string>& names, const std::string& companion) {
  std::vector<std::string> files;
  {
    const std::lock_guard lock(added_mutex);
    for (const std::string& file : preferred())
      if (std::find(names.begin(), names.end(), fs::path(file).filename()) != names.end()) files.push_back(file);
  }
  files.insert(files.end(), names.begin(), names.end());   // where the loader looks
  for (const std::string& place : search_places())
    for (const std::string& name : names) files.push_back((fs::path(place) / name).string());
  for (const std::string& file : files) {
    if (!(handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))) continue;
    if (!companion.empty() && file.find('/') != std::string::npos) open_companions(fs::path(file).parent_path(), companion);
    note_opened(handle_);
    return;
  }
  why_not_ = names.front() + " was not found";
}

namespace {
// A sanitizer could not tell what a library that is gone left allocated: its own C++ library's memory for exceptions.
void close([[maybe_unused]] void* handle) {
#ifndef TENFOLD_SANITIZED
  if (handle) dlclose(handle);
#endif
}
}  // namespace

Library::~Library() { close(handle_); }

void* Library::optional_symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

void* Library::symbol(const char* name) {
  if (!handle_) return nullptr;
  if (void* found = optional_symbol(name)) return found;
  why_not_ = cat("it is too old: it has no ", name);
  close(handle_);
  handle_ = nullptr;
  return nullptr;
}

}  // namespace tenfold::backends::cuda
