// Models and plans as Python gives them: a path, or bytes.
#pragma once

#include <cstddef>
#include <span>

#include "native/native.h"

namespace tenfold::python {

// Bytes of a model or a plan, where they lie: any contiguous buffer.
class Bytes {
 public:
  explicit Bytes(nb::handle from) {
    if (PyObject_GetBuffer(from.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Bytes() { PyBuffer_Release(&buffer_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  std::span<const std::byte> span() const { return {static_cast<const std::byte*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)}; }

 private:
  Py_buffer buffer_{};
};

// bytes are a file's content here, never its name.
inline bool is_path(nb::handle model) { return PyUnicode_Check(model.ptr()) || nb::hasattr(model, "__fspath__"); }

}  // namespace tenfold::python
