// What was found last, by the numbers that it was found from.
#pragma once
#include "linear_algebra.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace reliabayes {

template <typename Value>
class LastValues {
 public:
  // The numbers of several arguments.
  template <typename... Arguments>
  static Vector key(const Arguments&... arguments) {
    Vector all((arguments.size() + ...));
    Eigen::Index at = 0;
    const auto append = [&](const auto& argument) {
      all.segment(at, argument.size()) =
          Eigen::Map<const Vector>(argument.data(), argument.size());
      at += argument.size();
    };
    (append(arguments), ...);
    return all;
  }

  const Value* find(const Vector& key) const {
    for (const auto& [known, value] : values_)
      if (known.size() == key.size() && known == key) return &value;
    return nullptr;
  }

  const Value& add(Vector key, Value value) {
    oldest_ = (oldest_ + 1) % values_.size();
    values_[oldest_] = {std::move(key), std::move(value)};
    return values_[oldest_].second;
  }

 private:
  std::array<std::pair<Vector, Value>, 8> values_;  // points of a trajectory of seven steps
  std::size_t oldest_ = 0;
};

// Values of a density where its gradient was last taken, by its arguments and by those of its data that may differ
// within a process, the weights of nodes: what is written of a draw asks for one of them again.
template <typename Gradient>
LastValues<double>& last_densities() {
  thread_local LastValues<double> last;
  return last;
}

}  // namespace reliabayes
