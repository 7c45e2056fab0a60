// Libraries of the system that are opened when they are needed, and never linked.
#pragma once

#include <string>
#include <type_traits>

namespace tenfold::images {

// It stays open to the end of the program.
class SystemLibrary {
 public:
  // `purpose` begins the message, `package` is Debian's. Throws Error(io).
  SystemLibrary(const std::string& file, const std::string& package, const std::string& purpose);
  // Throws Error(io) where the library lacks it.
  template <class Function>
  void find(const char* name, Function*& function) const {
    static_assert(std::is_function_v<Function>);
    function = reinterpret_cast<Function*>(address(name));
  }

 private:
  void* address(const char* name) const;
  std::string file_;
  void* library_;
};

}  // namespace tenfold::images
