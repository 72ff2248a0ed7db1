#include "crossed_quadratic_form_pass.hpp"

#include "digits.hpp"

namespace reliabayes {
namespace {

// Products of residuals, summed over the rows of each pattern, with weights and derivatives. The
// number of pools is known when this is compiled, where it is small: rows are many and short.
template <int Pools>
class Rows {
  using Square = Eigen::Matrix<double, Pools, Pools>;
  using Column = Eigen::Matrix<double, Pools, 1>;

 public:
  Rows(const ConstVector& weight, const CrossedRatings& ratings)
      : ratings_(ratings), pools_(ratings.square.size()) {
    const Integers& pattern = ratings.pair_pattern;
    weight_.resize(pattern.back(), Square::Zero(pools_, pools_));
    product_ = weight_;
    for (std::size_t pair = 0; pair < pattern.size(); ++pair) {
      const int g = ratings.first[pair] - 1, h = ratings.second[pair] - 1;
      weight_[pattern[pair] - 1](g, h) = weight_[pattern[pair] - 1](h, g) = weight(pools_ + pair);
    }
  }

  void pass(const ConstVector& level, Vector& by_level) {
    const Eigen::Index pools = Pools == Eigen::Dynamic ? pools_ : Pools;
    const int* column = ratings_.column.data();
    const double* count = ratings_.count.data();
    Column residual(pools), slope(pools);
    for (std::size_t row = 0; row < ratings_.pattern.size(); ++row) {
      const int* cells = &ratings_.first_cell[row * pools];
      for (Eigen::Index g = 0; g < pools; ++g) {
        double left = ratings_.total(row * pools + g);
        for (int cell = cells[g] - 1; cell < cells[g + 1] - 1; ++cell)
          left -= count[cell] * level(column[cell] - 1);
        residual(g) = left;
      }
      const int pattern = ratings_.pattern[row] - 1;
      slope.noalias() = -2 * (weight_[pattern] * residual);
      product_[pattern].noalias() += residual * residual.transpose();
      for (Eigen::Index g = 0; g < pools; ++g) {
        const double by_cell = slope(g);
        for (int cell = cells[g] - 1; cell < cells[g + 1] - 1; ++cell)
          by_level(column[cell] - 1) += by_cell * count[cell];
      }
    }
  }

  // What the sum over rows contributes by the weight of each pair.
  Vector by_pair() const {
    Vector by(ratings_.pair_pattern.size());
    for (Eigen::Index pair = 0; pair < by.size(); ++pair) {
      const int g = ratings_.first[pair] - 1, h = ratings_.second[pair] - 1;
      by(pair) = (g == h ? 1 : 2) * product_[ratings_.pair_pattern[pair] - 1](g, h);
    }
    return by;
  }

 private:
  const CrossedRatings& ratings_;
  const Eigen::Index pools_;
  std::vector<Square> weight_, product_;
};

}  // namespace

CrossedQuadraticForm::CrossedQuadraticForm(const ConstVector& weight, const ConstVector& level,
                                           const CrossedRatings& ratings)
    : by_weight(weight.size()), by_level(level.size()) {
  const Eigen::Index pools = ratings.square.size();
  by_weight.head(pools) = ratings.square;
  for (Eigen::Index j = 0; j < level.size(); ++j) {
    const int g = ratings.pool[j] - 1;
    by_weight(g) += level(j) * (ratings.number(j) * level(j) - 2 * ratings.sum(j));
    by_level(j) = 2 * weight(g) * (ratings.number(j) * level(j) - ratings.sum(j));
  }
  const auto pass = [&](auto rows) {
    rows.pass(level, by_level);
    by_weight.tail(weight.size() - pools) = rows.by_pair();
  };
  if (pools == 1)
    pass(Rows<1>(weight, ratings));
  else if (pools == 2)
    pass(Rows<2>(weight, ratings));
  else
    pass(Rows<Eigen::Dynamic>(weight, ratings));
  require_digits(weight.cwiseAbs().dot(by_weight.cwiseAbs()));
}

}  // namespace reliabayes
