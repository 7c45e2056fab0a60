// Programs that belong to this library: where they lie beside it.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>

namespace tenfold {

// The first of `places` with a program, relative to the folder of the library that this code is in, else to that of the
// program that runs: one that loads the library, python say, may have another version's beside it. Empty: there is
// none.
std::string own_program(std::initializer_list<const char*> places);
// The same for a library and a program; `library` is empty where the code is in the program.
std::string program_beside(std::initializer_list<const char*> places, const std::filesystem::path& library,
                           const std::filesystem::path& program);

}  // namespace tenfold
