#include "text/tokenizers/patterns/pcre2_library.h"

#include <dlfcn.h>

#include <optional>

namespace tenfold::tokenizing {
namespace {

std::optional<Pcre2Library> open() {
  void* const handle = dlopen("libpcre2-8.so.0", RTLD_NOW | RTLD_LOCAL);   // it stays open
  if (!handle) return std::nullopt;
  Pcre2Library library{};
  bool is_whole = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    is_whole = is_whole && function;
  };
  find(library.compile, "pcre2_compile_8"), find(library.error_message, "pcre2_get_error_message_8");
  find(library.jit_compile, "pcre2_jit_compile_8"), find(library.free_code, "pcre2_code_free_8");
  find(library.make_data, "pcre2_match_data_create_8"), find(library.free_data, "pcre2_match_data_free_8");
  find(library.places, "pcre2_get_ovector_pointer_8"), find(library.make_context, "pcre2_match_context_create_8");
  find(library.free_context, "pcre2_match_context_free_8"), find(library.set_match_limit, "pcre2_set_match_limit_8");
  find(library.set_heap_limit, "pcre2_set_heap_limit_8"), find(library.set_offset_limit, "pcre2_set_offset_limit_8");
  find(library.match, "pcre2_match_8");
  return is_whole ? std::optional(library) : std::nullopt;
}

}  // namespace

const Pcre2Library* Pcre2Library::opened() {
  static const std::optional<Pcre2Library> one = open();
  return one ? &*one : nullptr;
}

}  // namespace tenfold::tokenizing
