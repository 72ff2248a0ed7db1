// A table by its factors or by the logarithms of these. Logarithms of factors are computed at first use,
// because many evaluations never need them.
#pragma once
#include "linear_algebra.hpp"

#include <utility>

namespace reliabayes {

class FactorTable {
 public:
  FactorTable() = default;

  static FactorTable of_logs(const Matrix& logs) { return {logs.array().exp(), logs}; }
  static FactorTable of(Matrix factor) { return {std::move(factor), Matrix()}; }

  const Matrix& factor() const { return factor_; }
  const Matrix& log() const {
    if (log_.size() == 0) log_ = factor_.array().log();
    return log_;
  }

 private:
  FactorTable(Matrix factor, Matrix log) : factor_(std::move(factor)), log_(std::move(log)) {}

  Matrix factor_;
  mutable Matrix log_;
};

}  // namespace reliabayes
