// NVRTC, opened at run time.
#include "backends/cuda/device/compiler.h"

#include <array>

#include "backends/cuda/device/library.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

struct OpaqueProgram;
using Program = OpaqueProgram*;

struct Loaded {
  Library library{{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}, "libnvrtc-builtins.so"};
  int (*version)(int* major, int* minor);
  int (*create)(Program* program, const char* source, const char* name, int headers, const char* const* texts, const char* const* names);
  int (*destroy)(Program* program);
  int (*compile)(Program program, int count, const char* const* options);
  int (*log_bytes)(Program program, std::size_t* bytes);
  int (*log)(Program program, char* text);
  int (*binary_bytes)(Program program, std::size_t* bytes);
  int (*binary)(Program program, char* bytes);

  Loaded() {
    library.get(version, "nvrtcVersion"), library.get(create, "nvrtcCreateProgram"), library.get(destroy, "nvrtcDestroyProgram");
    library.get(compile, "nvrtcCompileProgram"), library.get(log_bytes, "nvrtcGetProgramLogSize"), library.get(log, "nvrtcGetProgramLog");
    library.get(binary_bytes, "nvrtcGetCUBINSize"), library.get(binary, "nvrtcGetCUBIN");
  }
};

const Loaded& nvrtc() {
  static const Loaded once;
  return once;
}

}  // namespace

const std::string& compiler_why_not() { return nvrtc().library.why_not(); }

std::string compiler_version() {
  if (!nvrtc().library.opened()) return "";
  int major = 0, minor = 0;
  nvrtc().version(&major, &minor);
  return cat(major, ".", minor);
}

std::vector<char> compile(const std::string& source, int arch) {
  const Loaded& n = nvrtc();
  require(n.library.opened(), ErrorKind::unsupported, "GPU kernels cannot be compiled here: ", n.library.why_not());
  Program program = nullptr;
  check(n.create(&program, source.c_str(), "tenfold.cu", 0, nullptr, nullptr) == 0, "NVRTC does not take a program");
  struct Destroy {
    const Loaded& n;
    Program* program;
    ~Destroy() { n.destroy(program); }
  } destroy{n, &program};
  const std::string target = cat("--gpu-architecture=sm_", arch, arch == 90 ? "a" : "");
  const std::array<const char*, 3> options{target.c_str(), "--std=c++17", "--extra-device-vectorization"};
  if (n.compile(program, static_cast<int>(options.size()), options.data()) != 0) {
    std::size_t bytes = 0;
    n.log_bytes(program, &bytes);
    std::string words(bytes, '\0');
    n.log(program, words.data());
    fail(ErrorKind::internal, cat("NVRTC refuses a kernel for sm_", arch, ":\n", words.c_str(), "\n", source));
  }
  std::size_t bytes = 0;
  n.binary_bytes(program, &bytes);
  std::vector<char> image(bytes);
  n.binary(program, image.data());
  return image;
}

}  // namespace tenfold::backends::cuda
