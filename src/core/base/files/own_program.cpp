// Programs beside the library that this code is in.
#include "base/files/own_program.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

namespace tenfold {
namespace {

// Empty if this code is linked into the program, which has no name among the loaded objects.
std::filesystem::path own_library() {
  Dl_info info{};
  link_map* object = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&own_program), &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0)
    return {};
  if (object == nullptr || object->l_name == nullptr || object->l_name[0] == '\0') return {};
  std::error_code none;
  return std::filesystem::absolute(object->l_name, none);
}

}  // namespace

std::string own_program(std::initializer_list<const char*> places) {
  std::error_code none;
  return program_beside(places, own_library(), std::filesystem::read_symlink("/proc/self/exe", none));
}

std::string program_beside(std::initializer_list<const char*> places, const std::filesystem::path& library,
                           const std::filesystem::path& program) {
  std::error_code none;
  for (const auto& of : {library, program}) {
    if (of.empty()) continue;
    for (const char* place : places)
      if (const auto file = of.parent_path() / place;
          std::filesystem::is_regular_file(file, none) && ::access(file.c_str(), X_OK) == 0)
        return file.string();
  }
  return {};
}

}  // namespace tenfold
