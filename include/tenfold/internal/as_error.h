// What leaves a function of the library as an exception is an Error: others, of the standard library, become one.
#pragma once

#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>

#include "tenfold/error.h"

namespace tenfold {

// To be called in a handler: throws what it handles as an Error, if the standard library threw it. What functions of the
// caller throw, such as BuildConfig::progress, is the caller's own and comes through as it is.
[[noreturn]] inline void throw_as_error() {
  const auto mistake = [](const std::exception& e) {
    return Error(ErrorKind::internal, std::string("an exception that is no error of Tenfold: ") + e.what());
  };
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory, "out of memory");
  } catch (const std::length_error& e) {
    throw Error(ErrorKind::out_of_memory, std::string("out of memory: more was asked for than can be counted (") + e.what() + ")");
  } catch (const std::system_error& e) {   // of files, threads and locks
    throw Error(ErrorKind::io, e.what());
  } catch (const std::logic_error& e) {
    throw mistake(e);
  } catch (const std::bad_variant_access& e) {
    throw mistake(e);
  } catch (const std::bad_optional_access& e) {
    throw mistake(e);
  } catch (const std::bad_cast& e) {
    throw mistake(e);
  } catch (const std::bad_function_call& e) {
    throw mistake(e);
  }
}

template <class Act>
std::invoke_result_t<Act> as_error(Act&& act) {
  try {
    return std::forward<Act>(act)();
  } catch (const Error&) {
    throw;
  } catch (...) {
    throw_as_error();
  }
}

}  // namespace tenfold
