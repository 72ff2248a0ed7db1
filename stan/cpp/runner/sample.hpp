#pragma once

#include "call.hpp"
#include "json_data.hpp"
#include "output.hpp"
#include "sample_in_units.hpp"
#include "session.hpp"

#include <stan/services/sample/fixed_param.hpp>
#include <stan/services/sample/hmc_nuts_dense_e.hpp>
#include <stan/services/sample/hmc_nuts_dense_e_adapt.hpp>
#include <stan/services/sample/hmc_nuts_diag_e.hpp>
#include <stan/services/sample/hmc_nuts_diag_e_adapt.hpp>
#include <stan/services/sample/hmc_nuts_unit_e.hpp>
#include <stan/services/sample/hmc_nuts_unit_e_adapt.hpp>
#include <stan/services/util/create_unit_e_dense_inv_metric.hpp>
#include <stan/services/util/create_unit_e_diag_inv_metric.hpp>
#include <stan/services/util/inv_metric.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

namespace reliabayes {

inline Outcome fixed_param(Session& s) {
  const Argument& a = s.method();
  const Start from = read_start(s);
  return s.ended(stan::services::sample::fixed_param(
      s.model, *from.values, s.seed(), s.id(), from.radius, a["num_samples"].integer(),
      a["thin"].integer(), s.refresh(), s.interrupt, s.logger, s.unwritten, s.draws,
      s.diagnostics));
}

// The inverse metric from a file, checked here because Stan's messages do not name the file.
inline std::unique_ptr<stan::io::var_context> read_metric(const std::string& file, const Session& s,
                                                          bool dense) {
  auto metric = std::make_unique<JsonData>("metric_file", file_of_chain(file, s.id()));
  const std::size_t size = s.model.num_params_r();
  stan::callbacks::logger silent;
  try {
    using namespace stan::services::util;
    if (dense)
      validate_dense_inv_metric(read_dense_inv_metric(*metric, size, silent), silent);
    else
      validate_diag_inv_metric(read_diag_inv_metric(*metric, size, silent), silent);
  } catch (const std::domain_error&) {
    const std::string n = std::to_string(size);
    throw UsageError("metric_file=" + file + ": expected inv_metric to be " +
                     (dense ? "a positive definite matrix of " + n + " x " + n + " numbers"
                            : "a vector of " + n + " positive numbers"));
  }
  return metric;
}

inline std::unique_ptr<stan::io::var_context> start_metric(const Argument& hmc, const Session& s) {
  const bool dense = hmc["metric"].value() == "dense_e";
  const Argument& file = hmc["metric_file"];
  if (file.given) return read_metric(*file.given, s, dense);
  using namespace stan::services::util;
  using array = stan::io::array_var_context;
  const std::size_t size = s.model.num_params_r();
  if (dense) return std::make_unique<array>(create_unit_e_dense_inv_metric(size));
  return std::make_unique<array>(create_unit_e_diag_inv_metric(size));
}

// Refuses arguments that would have no effect in combination with others.
inline void refuse_idle_arguments(const Session& s) {
  const Argument& a = s.method();
  const Argument& adapt = a["adapt"];
  const Argument& hmc = a["algorithm"].chosen();
  if (!adapt["engaged"].flag()) {
    for (const Argument& each : adapt.children)
      if (each.name != "engaged") s.refuse(each, "with engaged=0 nothing is adapted");
  } else if (a["num_warmup"].integer() == 0) {
    throw UsageError("num_warmup=0: expected warmup, or engaged=0 to do without adaptation");
  }
  if (hmc["metric"].value() == "unit_e") {
    for (const char* name : {"init_buffer", "term_buffer", "window", "save_metric"})
      s.refuse(adapt[name], "metric=unit_e has no metric to adapt");
    s.refuse(hmc["metric_file"], "metric=unit_e has no metric to start from");
  }
}

inline Outcome hmc(Session& s) {
  refuse_idle_arguments(s);
  const Argument& a = s.method();
  const Argument& adapt = a["adapt"];
  const Argument& hmc = a["algorithm"].chosen();
  const Start from = read_start(s);
  const auto inverse_metric = start_metric(hmc, s);
  if (hmc["engine"].value() == "static") return sample_in_units(s, from, *inverse_metric);
  std::optional<OutputFile> metric_file;
  std::optional<JsonWriter> json;
  stan::callbacks::structured_writer unwritten;
  if (adapt["save_metric"].flag()) {
    const std::string& csv = s.arguments["output"]["file"].value();
    metric_file.emplace("save_metric", beside(csv, "_metric.json"));
    json.emplace(json_on(*metric_file));
  }

  // All services take these groups of arguments in the same order; each takes a subset of the groups.
  const auto model = std::tie(s.model, *from.values);
  const auto geometry = std::tie(*inverse_metric);
  const auto run = std::make_tuple(
      s.seed(), s.id(), from.radius, a["num_warmup"].integer(), a["num_samples"].integer(),
      a["thin"].integer(), a["save_warmup"].flag(), s.refresh(), hmc["stepsize"].real(),
      hmc["stepsize_jitter"].real(), hmc["engine"].chosen()["max_depth"].integer());
  const auto step = std::make_tuple(adapt["delta"].real(), adapt["gamma"].real(),
                                    adapt["kappa"].real(), adapt["t0"].real());
  const auto windows = std::make_tuple(adapt["init_buffer"].integer(),
                                       adapt["term_buffer"].integer(), adapt["window"].integer());
  const auto out = std::tie(s.interrupt, s.logger, s.unwritten, s.draws, s.diagnostics);
  const auto metric_out = std::tie(json ? *json : unwritten);

  using namespace stan::services::sample;
  const auto unit = [](auto&&... x) { return hmc_nuts_unit_e(x...); };
  const auto diag = [](auto&&... x) { return hmc_nuts_diag_e(x...); };
  const auto dense = [](auto&&... x) { return hmc_nuts_dense_e(x...); };
  const auto unit_adapt = [](auto&&... x) { return hmc_nuts_unit_e_adapt(x...); };
  const auto diag_adapt = [](auto&&... x) { return hmc_nuts_diag_e_adapt(x...); };
  const auto dense_adapt = [](auto&&... x) { return hmc_nuts_dense_e_adapt(x...); };

  const std::string& metric = hmc["metric"].value();
  const bool adapted = adapt["engaged"].flag();
  int code = 0;
  if (metric == "unit_e")
    code = adapted ? call(unit_adapt, model, run, step, out, metric_out)
                   : call(unit, model, run, out);
  else if (metric == "diag_e")
    code = adapted ? call(diag_adapt, model, geometry, run, step, windows, out, metric_out)
                   : call(diag, model, geometry, run, out);
  else
    code = adapted ? call(dense_adapt, model, geometry, run, step, windows, out, metric_out)
                   : call(dense, model, geometry, run, out);
  // If no step size can be found, the service logs that but does not return an error.
  if (code != 0 || !s.draws.has_names()) return Outcome::failed;
  if (metric_file) metric_file->publish();
  return Outcome::done;
}

inline Outcome sample(Session& s) {
  const Argument& a = s.method();
  if (a["algorithm"].value() == "fixed_param") {
    if (a["adapt"].given) throw UsageError("adapt: algorithm=fixed_param has nothing to adapt");
    return fixed_param(s);
  }
  if (s.model.num_params_r() > 0) return hmc(s);
  // cmdstanpy recognises this message.
  s.logger.info("Model contains no parameters, running fixed_param sampler");
  return fixed_param(s);
}

}  // namespace reliabayes
