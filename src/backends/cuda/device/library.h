// A shared library that is opened while the program runs, so that one binary works with or without it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenfold::backends::cuda {

class Library {
 public:
  // The first of these file names that can be opened: where the loader looks, then in folders that were added, the toolkit's, and
  // those of Python packages below the usual prefixes.
  // Files beside it whose names begin with `companion` are opened too: it asks the loader for them by name alone.
  explicit Library(const std::vector<std::string>& names, const std::string& companion = "");
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  bool opened() const { return handle_ != nullptr; }
  const std::string& why_not() const { return why_not_; }  // one line; empty if opened
  // Looks a function up; one that is missing closes the library, for half of an interface is of no use.
  template <class F>
  void get(F*& function, const char* name) {
    function = reinterpret_cast<F*>(symbol(name));
  }
  // One that older versions lack: null there.
  template <class F>
  void get_if_there(F*& function, const char* name) {
    function = reinterpret_cast<F*>(optional_symbol(name));
  }

 private:
  void* optional_symbol(const char* name) const;
  void* symbol(const char* name);
  void* handle_ = nullptr;
  std::string why_not_;
};

// A folder to look in first: a virtual environment's, say. Affects libraries that nobody has asked for yet.
void add_search_place(const std::string& folder);
std::vector<std::string> added_places();
// How many libraries were looked for in folders: each is once in a process, found or not.
std::int64_t searches() noexcept;
// The files of the libraries that were opened here, wherever the loader found them (in this process another may have brought them): for a
// process that is to compute with the same.
std::vector<std::string> opened_files();
// A file to open first wherever a library of its name is wanted. Affects libraries that are not opened yet.
void prefer_file(const std::string& path);

}  // namespace tenfold::backends::cuda
