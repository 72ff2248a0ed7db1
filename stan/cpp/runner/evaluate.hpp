#pragma once

#include "json_data.hpp"
#include "session.hpp"

#include <stan/model/log_prob_grad.hpp>
#include <stan/services/diagnose/diagnose.hpp>

#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace reliabayes {

// Parameters on the unconstrained scale: a vector params_r, or an array of vectors.
inline std::vector<std::vector<double>> read_params_r(const std::string& file, std::size_t size) {
  return naming("unconstrained_params=" + file, [&] {
    const JsonData json("unconstrained_params", file);
    const std::vector<double> values = json.vals_r("params_r");
    const std::vector<std::size_t> dims = json.dims_r("params_r");
    if (dims.empty() || dims.size() > 2 || dims.back() != size || values.empty())
      throw std::runtime_error("expected params_r to be one or more vectors of " +
                               std::to_string(size) + " numbers");
    const std::size_t rows = values.size() / size;
    std::vector<std::vector<double>> result(rows, std::vector<double>(size));
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < size; ++j) result[i][j] = values[j * rows + i];
    return result;
  });
}

// The parameters of the program, moved to the unconstrained scale.
inline std::vector<std::vector<double>> read_constrained(const std::string& file,
                                                         const stan::model::model_base& model) {
  return naming("constrained_params=" + file, [&] {
    std::vector<std::vector<double>> result(1);
    std::vector<int> none;
    model.transform_inits(JsonData("constrained_params", file), none, result[0], nullptr);
    return result;
  });
}

inline Outcome log_prob(Session& s) {
  s.refuse(s.arguments["init"], "method=log_prob takes the parameters from its own arguments");
  s.require_parameters();
  const Argument& a = s.method();
  const Argument& constrained = a["constrained_params"];
  const Argument& unconstrained = a["unconstrained_params"];
  if (constrained.given.has_value() == unconstrained.given.has_value())
    throw UsageError("expected either constrained_params or unconstrained_params");
  auto points = unconstrained.given ? read_params_r(*unconstrained.given, s.model.num_params_r())
                                    : read_constrained(*constrained.given, s.model);

  std::vector<std::string> names{"lp__"};
  std::vector<std::string> parameters;
  s.model.unconstrained_param_names(parameters, false, false);
  for (const std::string& parameter : parameters) names.push_back("g_" + parameter);
  s.draws(names);
  std::vector<int> none;
  std::vector<double> gradient;
  for (std::vector<double>& point : points) {
    const double lp =
        a["jacobian"].flag()
            ? stan::model::log_prob_grad<true, true>(s.model, point, none, gradient, &std::cout)
            : stan::model::log_prob_grad<true, false>(s.model, point, none, gradient, &std::cout);
    std::vector<double> row{lp};
    row.insert(row.end(), gradient.begin(), gradient.end());
    s.draws(row);
  }
  return Outcome::done;
}

inline Outcome diagnose(Session& s) {
  s.require_parameters();
  const Argument& test = s.method()["test"].chosen();
  const Start from = read_start(s);
  const int wrong = stan::services::diagnose::diagnose(
      s.model, *from.values, s.seed(), s.id(), from.radius, test["epsilon"].real(),
      test["error"].real(), s.interrupt, s.logger, s.unwritten, s.draws);
  if (wrong == 0) return Outcome::done;
  s.logger.error(std::to_string(wrong) + " partial derivatives differ by more than error=" +
                 test["error"].value() + " from finite differences");
  return Outcome::doubtful;
}

}  // namespace reliabayes
