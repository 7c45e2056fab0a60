// Values and attributes of networks in C.
#pragma once

#include "c/build/builder.h"
#include "tenfold/c/network.h"

namespace tenfold::c {

NetworkTensor value_of(const tenfold_network& net, tenfold_value value);
Network::Tensors values_of(const tenfold_network& net, const tenfold_value* values, std::int32_t count);
tenfold_value handle(tenfold_network& net, NetworkTensor value);
NetworkAttribute attribute_of(const tenfold_attribute& a);
NetworkAttributes attributes_of(const tenfold_attribute* list, std::int32_t count);
// Texts and lists lie in `value`, a tensor becomes the caller's.
tenfold_attribute reported(tenfold_network& net, const std::string& name, const NetworkAttribute& value, tenfold_data** tensor);

}  // namespace tenfold::c
