// NVRTC, opened at run time.
#include "backends/cuda/device/compiler.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <vector>

#include "backends/cuda/codegen/kernel_files.h"
#include "backends/cuda/device/library.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

struct OpaqueProgram;
using Program = OpaqueProgram*;

// For profilers TENFOLD_KERNEL_LINE_INFO (the program's --kernelLineInfo) adds which line of which file an instruction comes from.
const std::vector<const char*>& options() {
  static const std::vector<const char*> all = [] {
    std::vector<const char*> list{"--std=c++17", "--extra-device-vectorization"};
    if (const char* text = std::getenv("TENFOLD_KERNEL_LINE_INFO"); text && *text) list.push_back("--generate-line-info");
    return list;
  }();
  return all;
}

std::atomic<std::int64_t> begun{0};

std::vector<std::string>& names() {
  static std::vector<std::string> list{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  return list;
}

struct Loaded {
  Library library{names(), "libnvrtc-builtins.so"};
  int (*version)(int* major, int* minor);
  int (*create)(Program* program, const char* source, const char* name, int headers, const char* const* texts, const char* const* names);
  int (*destroy)(Program* program);
  int (*compile)(Program program, int count, const char* const* options);
  int (*log_bytes)(Program program, std::size_t* bytes);
  int (*log)(Program program, char* text);
  int (*binary_bytes)(Program program, std::size_t* bytes);
  int (*binary)(Program program, char* bytes);
  std::string why_not;

  Loaded() {
    library.get(version, "nvrtcVersion"), library.get(create, "nvrtcCreateProgram"), library.get(destroy, "nvrtcDestroyProgram");
    library.get(compile, "nvrtcCompileProgram"), library.get(log_bytes, "nvrtcGetProgramLogSize"), library.get(log, "nvrtcGetProgramLog");
    library.get(binary_bytes, "nvrtcGetCUBINSize"), library.get(binary, "nvrtcGetCUBIN");
    why_not = library.why_not();
    if (!library.opened())
      why_not += ": NVIDIA's wheel has it (pip install nvidia-cuda-nvrtc; an image takes it by --build-arg NVRTC=nvidia-cuda-nvrtc)";
    int major = 0, minor = 0;
    if (library.opened() && version(&major, &minor) == 0 && major < 12)
      why_not = cat("NVRTC ", major, ".", minor, " is too old: 12.0 or later is needed");
  }
};

const Loaded& nvrtc() {
  static const Loaded once;
  return once;
}

std::string target_option(int arch) { return cat("--gpu-architecture=sm_", arch, arch == 90 ? "a" : ""); }

}  // namespace

const std::string& compiler_why_not() { return nvrtc().why_not; }

void choose_compiler(const std::string& path) { names() = {path}; }

std::string compiler_name() {
  if (!nvrtc().library.opened()) return "";
  int major = 0, minor = 0;
  nvrtc().version(&major, &minor);
  return cat("NVRTC ", major, ".", minor);
}

std::string compiler_path() {
  Dl_info info{};
  if (!nvrtc().library.opened() || dladdr(reinterpret_cast<void*>(nvrtc().version), &info) == 0 || !info.dli_fname) return "";
  return info.dli_fname;
}

Hash128 code_key(const std::string& source, int arch) {
  std::string all = target_option(arch);
  for (const char* option : options()) all += option;
  all += '\n' + source;
  for (const KernelFile& file : included_kernel_files(source)) all += cat(file.name, file.text.size(), file.text);
  return hash128(all);
}

std::int64_t compilations() noexcept { return begun.load(std::memory_order_relaxed); }
void count_compilation() noexcept { begun.fetch_add(1, std::memory_order_relaxed); }

std::string compile(const std::string& source, int arch) { return compile(source, included_kernel_files(source), arch); }

std::string compile(const std::string& source, const std::vector<KernelFile>& files, int arch) {
  count_compilation();
  const Loaded& n = nvrtc();
  require(n.why_not.empty(), ErrorKind::unsupported, "GPU kernels cannot be compiled here: ", n.why_not);
  Program program = nullptr;
  std::vector<std::string> held;   // views need not end with a zero
  for (const KernelFile& file : files) held.emplace_back(file.name), held.emplace_back(file.text);
  std::vector<const char*> names, texts;
  for (std::size_t i = 0; i < held.size(); i += 2) names.push_back(held[i].c_str()), texts.push_back(held[i + 1].c_str());
  check(n.create(&program, source.c_str(), "tenfold.cu", static_cast<int>(names.size()), texts.data(), names.data()) == 0,
        "NVRTC does not take a program");
  struct Destroy {
    const Loaded& n;
    Program* program;
    ~Destroy() { n.destroy(program); }
  } destroy{n, &program};
  const std::string target = target_option(arch);
  std::vector<const char*> requested{target.c_str()};
  requested.insert(requested.end(), options().begin(), options().end());
  if (n.compile(program, static_cast<int>(requested.size()), requested.data()) != 0) {
    std::size_t bytes = 0;
    n.log_bytes(program, &bytes);
    std::string words(bytes, '\0');
    n.log(program, words.data());
    fail(ErrorKind::internal, cat("NVRTC refuses a kernel for sm_", arch, ":\n", words.c_str(), "\n", source));
  }
  std::size_t bytes = 0;
  n.binary_bytes(program, &bytes);
  std::string image(bytes, '\0');
  n.binary(program, image.data());
  return image;
}

}  // namespace tenfold::backends::cuda
