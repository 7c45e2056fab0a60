// tenfold/network.h: branches and loops, whose bodies are functions of Python, and bodies of nodes to walk.
#include <nanobind/stl/vector.h>

#include "native/bind/network.h"

namespace tenfold::python {
namespace {

// A function(network, values) that returns values. It is called in this thread, before the layer is there; the network that it gets is
// good for nothing afterwards.
Network::Body body_of(const nb::callable& function) {
  return [&function](Network& body, const Network::Tensors& inputs) {
    const nb::object lent = nb::cast(PyNetwork{std::shared_ptr<Network>(std::shared_ptr<void>(), &body)});
    struct Close {
      PyNetwork& network;
      ~Close() { network.network.reset(); }
    } const close{nb::cast<PyNetwork&>(lent)};
    return nb::cast<Network::Tensors>(function(lent, inputs));
  };
}

}  // namespace

void bind_bodies(nb::class_<PyNetwork>& network) {
  using Tensors = Network::Tensors;
  network
      .def("branch",
           [](PyNetwork& n, NetworkTensor condition, const nb::callable& yes, const nb::callable& no) {
             return n->if_conditional(condition, {}, body_of(yes), body_of(no));
           })
      .def("loop", [](PyNetwork& n, NetworkTensor trips, NetworkTensor condition, const Tensors& carried,
                      const nb::callable& body) { return n->loop(trips, condition, carried, {}, body_of(body)); })
      .def("scan",
           [](PyNetwork& n, const Tensors& states, const Tensors& sequences, const nb::callable& body, const nb::dict& attributes) {
             return n->scan(states, sequences, {}, body_of(body), attributes_from(attributes));
           })
      .def("body", [](const PyNetwork& n, NetworkNodeRef node, int index) {
        return PyNetwork{std::make_shared<Network>(n->body(node, index))};
      });
}

}  // namespace tenfold::python
