// Writer and Reader: two archives with one interface, so that the fields of each type are listed once (fields.h).
#pragma once

#include <concepts>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/types/utf8.h"
#include "ir/nesting.h"

namespace tenfold::plan {

template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

// What both archives do with the kinds of fields. `fields(archive, value)` is found for structures.
template <class Self>
class Archive {
 public:
  template <class... Ts>
  void operator()(Ts&... values) { (one(values), ...); }
  // Values of strings may hold any bytes; all other texts of a plan are UTF-8, so that every interface can show them.
  void values(std::vector<std::string>& all) {
    const std::uint32_t count = self().count(all.size());
    if constexpr (Self::kReading) {
      self().need(count, 1);
      all.clear();
    }
    for (std::uint32_t i = 0; i < count; ++i) self().bytes_of(Self::kReading ? all.emplace_back() : all[i]);
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  template <class T>
  void one(T& value) {
    if constexpr (std::is_same_v<T, bool>) self().boolean(value);
    else if constexpr (Number<T>) self().raw(&value, sizeof value);
    else if constexpr (std::is_same_v<T, std::string>) self().text(value);
    else fields(self(), value);
  }
  template <class T>
  void one(std::vector<T>& values) {
    const std::uint32_t count = self().count(values.size());
    if constexpr (Number<T>) {
      if constexpr (Self::kReading) {
        self().need(count, sizeof(T));
        values.resize(count);
      }
      self().raw(values.data(), count * sizeof(T));
    } else {
      if constexpr (Self::kReading) {
        self().need(count, 1);
        values.clear();   // grows as elements are read: a count alone cannot make it large
      }
      for (std::uint32_t i = 0; i < count; ++i) one(Self::kReading ? values.emplace_back() : values[i]);
    }
  }
};

class Writer : public Archive<Writer> {
 public:
  static constexpr bool kReading = false;
  std::string bytes;

  void raw(const void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); }
  void boolean(bool value) { bytes.push_back(value ? 1 : 0); }
  template <class E>
  void enumeration(E value, E limit) {
    check(value < limit, "an enumeration value is out of range");
    bytes.push_back(static_cast<char>(value));
  }
  std::uint32_t count(std::size_t n) {
    check(n <= UINT32_MAX, "a list of a plan has ", n, " elements");
    const auto narrow = static_cast<std::uint32_t>(n);
    raw(&narrow, sizeof narrow);
    return narrow;
  }
  void text(const std::string& value) {
    require(is_utf8(value), ErrorKind::invalid_argument, "'", readable(value), "' cannot be stored in a plan: it is no UTF-8");
    bytes_of(value);
  }
  void bytes_of(const std::string& value) {
    count(value.size());
    bytes += value;
  }
  struct Nested { Nested(Writer&) {} };
};

// Every length is compared with what is left before anything is made of it. Throws plan_refused.
class Reader : public Archive<Reader> {
 public:
  static constexpr bool kReading = true;
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  void raw(void* data, std::size_t size) {
    need(size, 1);
    if (size > 0) std::memcpy(data, bytes_.data() + at_, size);
    at_ += size;
  }
  void boolean(bool& value) {
    std::uint8_t byte = 0;
    raw(&byte, 1);
    if (byte > 1) refuse("a truth value is ", int{byte});
    value = byte != 0;
  }
  template <class E>
  void enumeration(E& value, E limit) {
    std::uint8_t byte = 0;
    raw(&byte, 1);
    if (byte >= static_cast<std::uint64_t>(limit)) refuse("unknown value ", int{byte});
    value = static_cast<E>(byte);
  }
  std::uint32_t count(std::size_t) {
    std::uint32_t n = 0;
    raw(&n, sizeof n);
    return n;
  }
  void text(std::string& value) {
    bytes_of(value);
    if (!is_utf8(value)) refuse("the name '", readable(value), "' is no UTF-8");
  }
  void bytes_of(std::string& value) {
    const std::uint32_t size = count(0);
    need(size, 1);
    value.assign(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
  }
  void need(std::uint64_t count, std::uint64_t size) const {
    if (count > (bytes_.size() - at_) / size) refuse("a field of ", count, " elements passes the end");
  }
  void finish() const {
    if (at_ != bytes_.size()) refuse("there is more than expected");
  }
  template <class... Args>
  [[noreturn]] void refuse(const Args&... what) const {
    fail(ErrorKind::plan_refused, cat(what..., " (at byte ", at_, " of ", bytes_.size(), " of the metadata)"));
  }

  // Programs hold steps that hold programs: recursion that a file controls must end.
  struct Nested {
    explicit Nested(Reader& r) : reader(r) {
      if (++r.depth_ > ir::kMaxNested + 1) r.refuse("programs are nested too deeply");
    }
    ~Nested() { --reader.depth_; }
    Reader& reader;
  };

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace tenfold::plan
