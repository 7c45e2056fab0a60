// Machine code that a backend compiled for its tactics, under the hash of what it was made from: plans carry it and the build
// cache keeps it, so that nothing is compiled twice.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files/hash.h"

namespace tenfold::backends {

struct Code {
  Hash128 key;            // of source, target and options
  std::string compiler;   // "NVRTC 13.0"
  std::string image;
};
using CodeList = std::vector<std::shared_ptr<const Code>>;

// One form for files: records with a checksum each, in the order of keys and compilers, none twice.
std::string write_code(CodeList list);
// Ends at the first record that is cut off or whose checksum does not match; `damaged` then says so.
CodeList read_code(std::span<const std::byte> bytes, bool& damaged);

// What tactics are opened for beyond their problems, and the code that they were opened with.
struct Opening {
  bool ahead = false;   // code is not waited for: what has to be compiled is started, and the tactics opened cannot run
  CodeList used;
};

}  // namespace tenfold::backends
