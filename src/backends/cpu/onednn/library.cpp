// Opening libdnnl.so.2, or saying why not.
#include "backends/cpu/onednn/library.h"

#include "backends/cpu/cpu_info.h"

#if TENFOLD_WITH_ONEDNN
#include <dlfcn.h>
#include <link.h>

#include "backends/cpu/onednn/functions.h"
#endif

namespace tenfold::backends::cpu::onednn {

#if TENFOLD_WITH_ONEDNN
namespace {

// A program without an interpreter has no loader of its own: the C++ library that oneDNN brings along crashes in it.
bool is_static_program() {
  const auto first = [](dl_phdr_info* program, std::size_t, void* interpreted) {
    for (int i = 0; i < program->dlpi_phnum; ++i)
      if (program->dlpi_phdr[i].p_type == PT_INTERP) *static_cast<bool*>(interpreted) = true;
    return 1;  // the program itself comes first; libraries follow
  };
  bool interpreted = false;
  dl_iterate_phdr(first, &interpreted);
  return !interpreted;
}

struct Opened {
  Functions functions;
  LibraryInfo library_info;

  Opened() { library_info.absence = open(); }
  std::string open() {
    if (is_static_program()) return "a statically linked program cannot open libdnnl.so.2: link it dynamically";
    // Both stay open: OpenMP's threads must not outlive its code.
    void* library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return "libdnnl.so.2 cannot be opened (Debian's package is libdnnl2)";
    void* openmp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (openmp == nullptr) return "libdnnl.so.2 does not use GNU OpenMP, so it cannot be held to one thread";
    const auto find = [&](void* from, const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(from, name));
      return function != nullptr;
    };
    bool all = find(openmp, "omp_set_num_threads", functions.omp_set_num_threads) &&
               find(openmp, "omp_get_max_threads", functions.omp_get_max_threads);
#define F(name) all = all && find(library, #name, functions.name);
    TENFOLD_DNNL_FUNCTIONS(F)
#undef F
    if (!all) return "libdnnl.so.2 or libgomp.so.1 lacks a function that is called";
    const dnnl_version_t* v = functions.dnnl_version();
    if (v->major != DNNL_VERSION_MAJOR) return "libdnnl.so.2 has another major version than this build's header";
    library_info.version = v->major * 10000 + v->minor * 100 + v->patch;
    library_info.text = "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
    library_info.isa = static_cast<std::int64_t>(functions.dnnl_get_effective_cpu_isa());
    if (functions.dnnl_engine_create(&functions.engine, dnnl_cpu, 0) != dnnl_success) return "oneDNN has no CPU engine";
    return {};
  }
};
const Opened& opened() {
  static const Opened once;
  return once;
}

}  // namespace

const Functions& functions() { return opened().functions; }
const LibraryInfo& library_info() { return opened().library_info; }
#else
const LibraryInfo& library_info() {
  static const LibraryInfo none{.absence = "its header, version 2, was not found when this was built"};
  return none;
}
#endif

Verdict usable(const DeviceInfo& device) {
  if (!library_info().absence.empty()) return Verdict::no(library_info().absence);
  return Verdict::only_if(device.features == this_cpu().features, "oneDNN cannot be restricted to fewer CPU features");
}

Config stamped(std::int64_t parts) { return {parts, library_info().version, library_info().isa}; }

Verdict stamp_fits(const Config& c, std::int64_t max_parts) {
  if (c.size() != 3) return Verdict::no("its configuration has another length");
  if (c[1] != library_info().version || c[2] != library_info().isa)
    return Verdict::no("it was packed by another version of oneDNN, or for other CPU features");
  return Verdict::only_if(c[0] >= 1 && c[0] <= max_parts, "its number of parts is out of range");
}

}  // namespace tenfold::backends::cpu::onednn
