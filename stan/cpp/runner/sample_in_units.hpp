// Sampling in units of a normal distribution near the posterior, whose mean and covariance are in metric_file.
#pragma once

#include "json_data.hpp"
#include "normal_units.hpp"
#include "session.hpp"
#include "split_hmc.hpp"

#include <stan/mcmc/hmc/hamiltonians/dense_e_point.hpp>
#include <stan/mcmc/hmc/hamiltonians/diag_e_point.hpp>
#include <stan/services/util/create_rng.hpp>
#include <stan/services/util/initialize.hpp>
#include <stan/services/util/inv_metric.hpp>
#include <stan/services/util/run_adaptive_sampler.hpp>
#include <stan/services/util/run_sampler.hpp>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace reliabayes {

// Only the step is adapted.
inline void refuse_adapted_metric(const Session& s) {
  const Argument& adapt = s.method()["adapt"];
  if (!adapt["engaged"].flag()) return;
  for (const char* name : {"init_buffer", "term_buffer", "window"})
    if (adapt[name].integer() != 0)
      throw UsageError(std::string(name) + "=" + adapt[name].value() +
                       ": expected 0, because engine=static keeps its metric");
  s.refuse(adapt["save_metric"], "engine=static keeps its metric");
}

inline Vector mean_of(const stan::io::var_context& normal, const Session& s) {
  const std::vector<double> values = normal.vals_r("mean");
  const Vector mean = Eigen::Map<const Vector>(values.data(), values.size());
  if (normal.dims_r("mean").size() != 1 || values.size() != s.model.num_params_r() ||
      !mean.allFinite())
    throw UsageError("metric_file=" + s.method()["algorithm"].chosen()["metric_file"].value() +
                     ": expected mean, for engine=static, to be a vector of " +
                     std::to_string(s.model.num_params_r()) + " numbers");
  return mean;
}

// The program with the data whose gradient trajectories follow between their ends, if others are given.
inline std::unique_ptr<RememberedModel> read_rough(const Session& s) {
  const Argument& file = s.method()["algorithm"].chosen()["engine"].chosen()["rough_data_file"];
  if (!file.given) return nullptr;
  auto rough = s.load(file);
  if (rough->num_params_r() != s.model.num_params_r())
    throw UsageError("rough_data_file=" + *file.given + ": expected " +
                     std::to_string(s.model.num_params_r()) + " parameters as with data file, not " +
                     std::to_string(rough->num_params_r()));
  return std::make_unique<RememberedModel>(std::move(rough));
}

template <typename Point>
Outcome sample_in_units(Session& s, const Start& from, const NormalUnits& units,
                        const Point& metric) {
  namespace service = stan::services::util;
  const Argument& a = s.method();
  const Argument& adapt = a["adapt"];
  const Argument& hmc = a["algorithm"].chosen();
  const int warmup = a["num_warmup"].integer(), draws = a["num_samples"].integer();
  const int thin = a["thin"].integer(), refresh = s.refresh();
  const bool save_warmup = a["save_warmup"].flag();
  ModelInUnits in_units(s.remembered, units);
  stan::model::model_base& model = in_units;
  const auto rough = read_rough(s);
  const ModelInUnits between(rough ? *rough : s.remembered, units);
  stan::rng_t rng = service::create_rng(s.seed(), s.id());
  SplitHmc<ModelInUnits, stan::rng_t> sampler(
      in_units, between, rng, hmc["engine"].chosen()["int_time"].real(), hmc["stepsize"].real(),
      [&](auto& writer) { Point(metric).write_metric(writer); });
  sampler.set_stepsize_jitter(hmc["stepsize_jitter"].real());
  const bool adapts = adapt["engaged"].flag();
  if (adapts) {
    stan::mcmc::stepsize_adaptation& steps = sampler.get_stepsize_adaptation();
    steps.set_delta(adapt["delta"].real());
    steps.set_gamma(adapt["gamma"].real());
    steps.set_kappa(adapt["kappa"].real());
    steps.set_t0(adapt["t0"].real());
  }
  try {
    std::vector<double> start = service::initialize(model, *from.values, rng, from.radius, true,
                                                    s.logger, s.unwritten);
    if (adapts)
      service::run_adaptive_sampler(sampler, model, start, warmup, draws, thin, refresh,
                                    save_warmup, rng, s.interrupt, s.logger, s.draws,
                                    s.diagnostics);
    else
      service::run_sampler(sampler, model, start, warmup, draws, thin, refresh, save_warmup, rng,
                           s.interrupt, s.logger, s.draws, s.diagnostics);
  } catch (const std::exception& error) {
    s.logger.error(error.what());
    return Outcome::failed;
  }
  return Outcome::done;
}

inline Outcome sample_in_units(Session& s, const Start& from, const stan::io::var_context& normal) {
  using namespace stan::services::util;
  const Argument& hmc = s.method()["algorithm"].chosen();
  if (hmc["metric"].value() == "unit_e" || !hmc["metric_file"].given)
    throw UsageError("engine=static: expected metric=diag_e or dense_e, and a metric_file");
  s.refuse(s.arguments["output"]["diagnostic_file"], "engine=static writes none");
  refuse_adapted_metric(s);
  const Vector mean = mean_of(normal, s);
  const auto size = static_cast<std::size_t>(mean.size());
  if (hmc["metric"].value() == "dense_e") {
    stan::mcmc::dense_e_point metric(mean.size());
    metric.set_metric(read_dense_inv_metric(normal, size, s.logger));
    return sample_in_units(s, from, NormalUnits(mean, metric.inv_e_metric_), metric);
  }
  stan::mcmc::diag_e_point metric(mean.size());
  metric.set_metric(read_diag_inv_metric(normal, size, s.logger));
  return sample_in_units(s, from, NormalUnits(mean, Vector(metric.inv_e_metric_.cwiseSqrt())),
                         metric);
}

}  // namespace reliabayes
