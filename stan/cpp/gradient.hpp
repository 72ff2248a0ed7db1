// Densities with analytic gradients, connected to Stan's reverse mode.
#pragma once
#include "linear_algebra.hpp"

#include <stan/math.hpp>

namespace reliabayes {

// An argument of a density, which may or may not be a parameter, with the density's derivative by it.
template <typename Argument, typename Derivative>
class Differentiated {
 public:
  Differentiated(const Argument& argument, const Derivative& derivative)
      : argument_(argument), derivative_(derivative) {}

  void chain(double adjoint) {
    if constexpr (!stan::is_constant<Argument>::value)
      argument_.adj() += adjoint * derivative_;
  }

 private:
  stan::arena_t<Argument> argument_;
  stan::arena_t<Derivative> derivative_;
};

// A density from its value and its derivatives.
template <typename... Arguments, typename... Derivatives>
stan::math::var with_gradient(double value, Differentiated<Arguments, Derivatives>... parts) {
  return stan::math::make_callback_var(value, [parts...](const auto& density) mutable {
    (parts.chain(density.adj()), ...);
  });
}

}  // namespace reliabayes
