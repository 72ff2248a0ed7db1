#pragma once

#include <tuple>

namespace reliabayes {

// Calls one of Stan's services, which take up to thirty arguments, with groups of arguments as tuples.
template <typename Service, typename... Groups>
int call(Service service, const Groups&... groups) {
  return std::apply(service, std::tuple_cat(groups...));
}

}  // namespace reliabayes
