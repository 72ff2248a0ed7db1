#pragma once

#include "argument.hpp"
#include "json_data.hpp"
#include "read_file.hpp"

#include <stan/model/model_base.hpp>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace reliabayes {

inline std::vector<std::string> cells(const std::string& row) {
  std::vector<std::string> result;
  std::istringstream stream(row);
  for (std::string cell; std::getline(stream, cell, ',');) result.push_back(cell);
  return result;
}

// The parameters of the program in a CSV of Stan: a row for each draw, whatever its other columns.
inline std::vector<std::vector<double>> read_csv(const std::string& asked, const std::string& name,
                                                 const stan::model::model_base& model) {
  const auto fail = [&](const std::string& what) -> UsageError {
    return UsageError(asked + "=" + name + ": " + what);
  };
  const std::string text = read_file(asked, name);
  if (text.empty() || text.back() != '\n')
    throw fail("expected a whole CSV, the last line breaks off");
  std::vector<std::string> parameters;
  model.constrained_param_names(parameters, false, false);

  std::vector<std::string> header;
  std::vector<std::size_t> columns;
  std::vector<std::vector<double>> draws;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> row = cells(line);
    if (header.empty()) {
      header = row;
      for (const std::string& parameter : parameters) {
        const auto found = std::find(header.begin(), header.end(), parameter);
        if (found == header.end()) throw fail("expected a column " + parameter);
        columns.push_back(static_cast<std::size_t>(found - header.begin()));
      }
      continue;
    }
    const std::string place = "draw " + std::to_string(draws.size() + 1);
    if (row.size() != header.size())
      throw fail(place + ": expected " + std::to_string(header.size()) + " values, found " +
                 std::to_string(row.size()));
    draws.emplace_back();
    for (const std::size_t column : columns) {
      char* end = nullptr;
      draws.back().push_back(std::strtod(row[column].c_str(), &end));
      if (row[column].empty() || *end != '\0')
        throw fail(place + ", " + header[column] + ": expected a number, found " + row[column]);
    }
  }
  if (draws.empty()) throw fail("expected draws, found none");
  return draws;
}

inline bool is_csv(const std::string& name) {
  return name.size() > 4 && name.compare(name.size() - 4, 4, ".csv") == 0;
}

// The parameters in a CSV of Stan, or in JSON, on the unconstrained scale: one vector or several.
inline std::vector<std::vector<double>> read_unconstrained(const std::string& asked,
                                                           const std::string& name,
                                                           const stan::model::model_base& model) {
  return naming(asked + "=" + name, [&] {
    std::vector<std::vector<double>> result;
    if (is_csv(name)) {
      for (const std::vector<double>& draw : read_csv(asked, name, model))
        model.unconstrain_array(draw, result.emplace_back());
    } else {
      std::vector<int> none;
      model.transform_inits(JsonData(asked, name), none, result.emplace_back(), nullptr);
    }
    return result;
  });
}

}  // namespace reliabayes
