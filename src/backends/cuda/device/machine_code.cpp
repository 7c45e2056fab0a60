// Reading a cubin, which is an ELF file.
#include "backends/cuda/device/machine_code.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

template <class T>
T part_of(std::string_view cubin, std::uint64_t at) {
  check(at <= cubin.size() && sizeof(T) <= cubin.size() - at, "a cubin of ", cubin.size(), " bytes is cut off");
  T part;
  std::memcpy(&part, cubin.data() + at, sizeof part);
  return part;
}

// `.nv.info` tells registers, parameters and barriers, but by number of a symbol; those of a kernel (`.nv.info.NAME`) have none.
bool decides(std::string_view section) {
  for (const std::string_view prefix : {".text.", ".nv.constant", ".nv.shared.", ".nv.global", ".nv.info."})
    if (section.starts_with(prefix)) return true;
  return false;
}

}  // namespace

Hash128 machine_code_hash(std::string_view cubin) {
  const auto head = part_of<Elf64_Ehdr>(cubin, 0);
  check(std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0, "a compiled kernel is no ELF file");
  const auto section = [&](std::size_t i) { return part_of<Elf64_Shdr>(cubin, head.e_shoff + i * head.e_shentsize); };
  const Elf64_Shdr names = section(head.e_shstrndx);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < head.e_shnum; ++i) {
    const Elf64_Shdr s = section(i);
    check(s.sh_name < names.sh_size && names.sh_offset + names.sh_size <= cubin.size(), "a cubin's names are cut off");
    const std::string name(cubin.substr(names.sh_offset + s.sh_name).data());
    if (!decides(name)) continue;
    check(s.sh_type == SHT_NOBITS || s.sh_offset + s.sh_size <= cubin.size(), "a cubin's section ", name, " is cut off");
    const std::string_view bytes = s.sh_type == SHT_NOBITS ? std::string_view() : cubin.substr(s.sh_offset, s.sh_size);
    parts.push_back(cat(name, " ", s.sh_size, " ", s.sh_info >> 24, " ", bytes));   // sh_info: of code, its registers
  }
  std::sort(parts.begin(), parts.end());
  std::string all;
  for (const std::string& part : parts) all += cat(part.size(), " ", part);
  return hash128(all);
}

}  // namespace tenfold::backends::cuda
