// Compiling in other processes: NVRTC takes one lock for the whole of its process, so threads alone gain nothing.
//
// A helper is the program `tenfold-nvrtc` (nvrtc_main.cpp). It reads requests from its standard input and answers on its standard
// output, which are one socket: architecture (u32), bytes (u64), source with the files that it includes (pack_source); then 1 for success
// (u32), bytes (u64), binary or words.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/codegen/kernel_files.h"

namespace tenfold::backends::cuda {

struct Message {
  std::uint32_t number = 0;
  std::string text;
};
// Whole messages through a socket; false when the other end is gone, or sends what cannot be one.
bool send_message(int socket, const Message& message);
bool receive_message(int socket, Message& message);

// A source with the files that it includes, for a helper, which may have others of its own.
std::string pack_source(std::string_view source, const std::vector<KernelFile>& files);
struct PackedSource {
  std::string source;
  std::vector<KernelFile> files;   // inside of what was unpacked
};
PackedSource unpack_source(std::string_view packed);   // throws internal where it is cut off

// The helper's file, as TENFOLD_NVRTC_HELPER names it, else the one that belongs to this code; empty: there is none.
std::string find_helper();
// Beside the library that this code is in (or in bin/ or ../libexec/tenfold from there), else beside the program: a program that loads
// the library, python say, may have another version's helper beside it. `library` is empty where the code is in the program.
std::string helper_of(const std::filesystem::path& library, const std::filesystem::path& program);

// Processes that compile, as many as there are cores and work, which end when there has been none for a while.
class HelperPool {
 public:
  // `binary` is empty where the helper failed for any reason: the caller compiles in its own process and gets the words.
  using Done = std::function<void(std::string binary)>;

  explicit HelperPool(std::string helper, std::string compiler, int max_threads);
  ~HelperPool();   // what is not compiled yet is given up; `done` is called for it too
  HelperPool(const HelperPool&) = delete;
  HelperPool& operator=(const HelperPool&) = delete;
  // Returns at once; `done` is called on a thread of the pool.
  void compile(std::string source, int arch, Done done);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenfold::backends::cuda
