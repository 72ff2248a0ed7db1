#pragma once

#include "call.hpp"
#include "fitted.hpp"
#include "session.hpp"

#include <stan/callbacks/structured_writer.hpp>
#include <stan/services/experimental/advi/fullrank.hpp>
#include <stan/services/experimental/advi/meanfield.hpp>
#include <stan/services/optimize/bfgs.hpp>
#include <stan/services/optimize/laplace_sample.hpp>
#include <stan/services/optimize/lbfgs.hpp>
#include <stan/services/optimize/newton.hpp>
#include <stan/services/pathfinder/multi.hpp>
#include <stan/services/pathfinder/single.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace reliabayes {

template <bool jacobian>
int climb(Session& s) {
  namespace services = stan::services::optimize;
  using model = stan::model::model_base;
  const Argument& a = s.method();
  const Argument& algorithm = a["algorithm"].chosen();
  const Start from = read_start(s, s.id());
  const int iterations = a["iter"].integer();
  const bool save = a["save_iterations"].flag();
  if (algorithm.name == "newton") {
    // This one writes a line for each iteration whatever refresh says.
    stan::callbacks::logger silent;
    stan::callbacks::logger& logger = s.refresh() > 0 ? s.logger : silent;
    return services::newton<model, jacobian>(s.model, *from.values, s.seed(), s.id(), from.radius,
                                             iterations, save, s.interrupt, logger, s.unwritten,
                                             s.draws);
  }
  const double alpha = algorithm["init_alpha"].real();
  const double obj = algorithm["tol_obj"].real();
  const double rel_obj = algorithm["tol_rel_obj"].real();
  const double grad = algorithm["tol_grad"].real();
  const double rel_grad = algorithm["tol_rel_grad"].real();
  const double param = algorithm["tol_param"].real();
  if (algorithm.name == "bfgs")
    return services::bfgs<model, jacobian>(
        s.model, *from.values, s.seed(), s.id(), from.radius, alpha, obj, rel_obj, grad, rel_grad,
        param, iterations, save, s.refresh(), s.interrupt, s.logger, s.unwritten, s.draws);
  return services::lbfgs<model, jacobian>(s.model, *from.values, s.seed(), s.id(), from.radius,
                                          algorithm["history_size"].integer(), alpha, obj, rel_obj,
                                          grad, rel_grad, param, iterations, save, s.refresh(),
                                          s.interrupt, s.logger, s.unwritten, s.draws);
}

inline Outcome optimize(Session& s) {
  s.require_parameters();
  const Argument& a = s.method();
  const int code = a["jacobian"].flag() ? climb<true>(s) : climb<false>(s);
  // A line search that fails ends at a point worth seeing, which is written last. An exception
  // among saved iterations would look the same, so there is no telling then.
  const bool reached = s.draws.has_values() && !a["save_iterations"].flag();
  return code != 0 && reached ? Outcome::doubtful : s.ended(code);
}

// Stan takes the Cholesky factor of the negative Hessian without asking whether there is one.
class HessianCheck final : public stan::callbacks::structured_writer {
 public:
  explicit HessianCheck(const std::string& mode) : mode_(mode) {}
  using structured_writer::write;
  void write(const std::string& key, const Eigen::MatrixXd& matrix) override {
    if (key == "Hessian" && (-matrix).llt().info() != Eigen::Success)
      throw std::domain_error("mode=" + mode_ + ": expected a mode, where the log density " +
                              "falls off in all directions");
  }

 private:
  std::string mode_;
};

inline Outcome laplace(Session& s) {
  s.require_parameters();
  const Argument& a = s.method();
  s.refuse(s.arguments["init"], "method=laplace starts from mode");
  const std::string& file = a["mode"].value();
  if (file.empty()) throw UsageError("mode: expected mode=<the name of a file>");
  const std::vector<double> last = read_unconstrained("mode", file, s.model).back();
  const Eigen::VectorXd mode = Eigen::Map<const Eigen::VectorXd>(last.data(), last.size());
  HessianCheck check(file);
  const auto draw = [&](auto service) {
    return service(s.model, mode, a["draws"].integer(), a["calculate_lp"].flag(), s.seed(),
                   s.refresh(), s.interrupt, s.logger, s.draws, check);
  };
  using namespace stan::services;
  return s.ended(a["jacobian"].flag()
                     ? draw([](auto&&... x) { return laplace_sample<true>(x...); })
                     : draw([](auto&&... x) { return laplace_sample<false>(x...); }));
}

inline Outcome pathfinder(Session& s) {
  s.require_parameters();
  namespace services = stan::services::pathfinder;
  const Argument& a = s.method();
  const auto paths = static_cast<unsigned>(a["num_paths"].integer());
  std::vector<Start> from;
  for (unsigned path = 0; path < paths; ++path) from.push_back(read_start(s, s.id() + path));

  const auto search = std::make_tuple(
      s.seed(), s.id(), from[0].radius, a["history_size"].integer(), a["init_alpha"].real(),
      a["tol_obj"].real(), a["tol_rel_obj"].real(), a["tol_grad"].real(), a["tol_rel_grad"].real(),
      a["tol_param"].real(), a["max_lbfgs_iters"].integer(), a["num_elbo_draws"].integer(),
      a["num_draws"].integer());
  const bool save_iterations = false;
  const auto progress = std::make_tuple(save_iterations, s.refresh());
  const auto messages = std::tie(s.interrupt, s.logger);
  const bool calculate_lp = a["calculate_lp"].flag();
  stan::callbacks::writer& draws = s.draws;
  stan::callbacks::structured_writer no_diagnostics;
  if (paths == 1) {
    const auto single = [](auto&&... x) { return services::pathfinder_lbfgs_single(x...); };
    return s.ended(call(single, std::tie(s.model, *from[0].values), search, progress, messages,
                        std::tie(s.unwritten, draws, no_diagnostics, calculate_lp)));
  }
  std::vector<stan::io::var_context*> inits;
  for (const Start& each : from) inits.push_back(each.values.get());
  std::vector<stan::callbacks::writer> no_inits(paths), no_single_paths(paths);
  std::vector<stan::callbacks::structured_writer> no_single_diagnostics(paths);
  const bool resample = a["psis_resample"].flag();
  const auto sizes = std::make_tuple(a["num_psis_draws"].integer(), a["num_paths"].integer());
  const auto multi = [](auto&&... x) { return services::pathfinder_lbfgs_multi(x...); };
  return s.ended(call(multi, std::tie(s.model, inits), search, sizes, progress, messages,
                      std::tie(no_inits, no_single_paths, no_single_diagnostics, draws,
                               no_diagnostics, calculate_lp, resample)));
}

inline Outcome variational(Session& s) {
  s.require_parameters();
  const Argument& a = s.method();
  const Argument& adapt = a["adapt"];
  if (!adapt["engaged"].flag()) s.refuse(adapt["iter"], "with engaged=0 nothing is adapted");
  const Start from = read_start(s, s.id());
  const auto fit = [&](auto service) {
    return service(s.model, *from.values, s.seed(), s.id(), from.radius,
                   a["grad_samples"].integer(), a["elbo_samples"].integer(), a["iter"].integer(),
                   a["tol_rel_obj"].real(), a["eta"].real(), adapt["engaged"].flag(),
                   adapt["iter"].integer(), a["eval_elbo"].integer(), a["output_samples"].integer(),
                   s.interrupt, s.logger, s.unwritten, s.draws, s.diagnostics);
  };
  using namespace stan::services::experimental::advi;
  return s.ended(a["algorithm"].value() == "meanfield"
                     ? fit([](auto&&... x) { return meanfield(x...); })
                     : fit([](auto&&... x) { return fullrank(x...); }));
}

}  // namespace reliabayes
