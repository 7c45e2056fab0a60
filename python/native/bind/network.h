// A Network as Python has it: one thread at a time, which its owner sees to.
#pragma once

#include <memory>

#include "native/errors.h"
#include "tenfold/network.h"

namespace tenfold::python {

struct PyNetwork {
  std::shared_ptr<Network> network;  // null: of a body that is complete
  mutable bool building = false;
  // While a build reads the network without the interpreter's lock, nobody may change it.
  class Turn {
   public:
    explicit Turn(const PyNetwork& n) : of_(n) { n.check(), n.building = true; }
    ~Turn() { of_.building = false; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    const PyNetwork& of_;
  };
  void check() const {
    if (network == nullptr)
      raise_error(ErrorKind::invalid_argument, "the body is complete: what it made can be used as its results alone, outside of it");
    if (building) raise_error(ErrorKind::invalid_argument, "the network is being built in another thread");
  }
  Network* operator->() const { return check(), network.get(); }
};

void bind_bodies(nb::class_<PyNetwork>& network);

// Attributes of nodes: numbers, floats, texts, lists of these, arrays.
nb::object attribute_value(const NetworkAttribute& attribute);
NetworkAttributes attributes_from(const nb::dict& given);  // those that are None are left out

}  // namespace tenfold::python
