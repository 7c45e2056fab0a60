// If, Loop and Scan from C: the caller's functions fill bodies.
#include "c/build/network_common.h"

using namespace tenfold;
using namespace tenfold::c;

namespace {

Network::Body body_of(tenfold_body_function function, void* user) {
  need(function, "a body");
  return [function, user](Network& body, const Network::Tensors& inputs) {
    tenfold_network inner{nullptr, &body};
    std::vector<tenfold_value> handles, results(1024);
    for (NetworkTensor t : inputs) handles.push_back(handle(inner, t));
    auto count = static_cast<std::int32_t>(results.size());
    const tenfold_status status = function(user, &inner, handles.data(), static_cast<std::int32_t>(handles.size()), results.data(), &count);
    require(status == TENFOLD_OK, kind_of(status), "a body gave the status ", status);
    require(count >= 0 && count <= static_cast<std::int32_t>(results.size()), ErrorKind::invalid_argument, "a body gives ", count,
            " results");
    return values_of(inner, results.data(), count);
  };
}

void give_values(tenfold_network& net, const Network::Tensors& list, tenfold_value* results, std::int32_t* count) {
  std::vector<tenfold_value> handles;
  for (NetworkTensor t : list) handles.push_back(handle(net, t));
  give_list(handles, results, count, "results");
}

}  // namespace

extern "C" tenfold_status tenfold_network_if(tenfold_network* network, tenfold_value condition, const tenfold_value* captures,
                                             int32_t capture_count, tenfold_body_function then_body, tenfold_body_function else_body,
                                             void* user, tenfold_value* results, int32_t* result_count) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");
    give_values(net,
                net.network->if_conditional(value_of(net, condition), values_of(net, captures, capture_count), body_of(then_body, user),
                                            body_of(else_body, user)),
                results, result_count);
  });
}
extern "C" tenfold_status tenfold_network_loop(tenfold_network* network, tenfold_value trips, tenfold_value condition,
                                               const tenfold_value* carried, int32_t carried_count, const tenfold_value* captures,
                                               int32_t capture_count, tenfold_body_function body, void* user, tenfold_value* results,
                                               int32_t* result_count) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");
    give_values(net,
                net.network->loop(value_of(net, trips), value_of(net, condition), values_of(net, carried, carried_count),
                                  values_of(net, captures, capture_count), body_of(body, user)),
                results, result_count);
  });
}
extern "C" tenfold_status tenfold_network_scan(tenfold_network* network, const tenfold_value* states, int32_t state_count,
                                               const tenfold_value* sequences, int32_t sequence_count, const tenfold_value* captures,
                                               int32_t capture_count, const tenfold_attribute* attributes, int32_t attribute_count,
                                               tenfold_body_function body, void* user, tenfold_value* results, int32_t* result_count) {
  return guarded([&] {
    tenfold_network& net = need(network, "the network");
    give_values(net,
                net.network->scan(values_of(net, states, state_count), values_of(net, sequences, sequence_count),
                                  values_of(net, captures, capture_count), body_of(body, user), attributes_of(attributes, attribute_count)),
                results, result_count);
  });
}
