// Opening by name, or saying which package is missing.
#include "images/system_library.h"

#include <dlfcn.h>

#include "tenfold/error.h"

namespace tenfold::images {

SystemLibrary::SystemLibrary(const std::string& file, const std::string& package, const std::string& purpose)
    : file_(file), library_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (library_) return;
  const char* why = dlerror();
  throw Error(ErrorKind::io, purpose + " needs " + file + ", which cannot be opened (Debian's package is " + package +
                                 "): " + (why ? why : "no reason given"));
}

void* SystemLibrary::address(const char* name) const {
  if (void* found = dlsym(library_, name)) return found;
  throw Error(ErrorKind::io, file_ + " lacks the function " + name);
}

}  // namespace tenfold::images
