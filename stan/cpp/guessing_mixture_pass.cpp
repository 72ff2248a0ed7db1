#include "guessing_mixture_pass.hpp"

#include "guessing_loops.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reliabayes {

// The probability of a rating of category k is
//
//     guess[k] unknown            if another category is true,
//     guess[k] unknown ratio[k]   if k is true, with ratio[k] = 1 + odds / guess[k],
//
// where odds are those of knowing, and guess[k] is the same whatever is true. So an item takes one product over all its ratings, and one over its
// ratings of each category that it has; all other true categories are alike.

static double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
static double logistic(double x) { return 0.5 * (1 + std::tanh(0.5 * x)); }

namespace {

class Mixture {
 public:
  Mixture(const Vector& level, const Vector& difficulty, const Guesses& guesses,
          const Matrix& log_prevalence, const ConstVector& node_weight, const DistinctItems& data)
      : level_(level), difficulty_(difficulty), guess_(guesses.probability()),
        log_guess_(guesses.log_probability()), log_prevalence_(log_prevalence),
        prevalence_(log_prevalence.array().exp()), data_(data), raters_(level.size()),
        categories_(log_guess_.cols()), nodes_(difficulty.size()),
        design_(design_of(data, raters_, categories_)), ratings_(design_.ratings),
        stride_((nodes_ + 3) / 4 * 4), weight_(Vector::Zero(stride_)),
        moderate_((level.array().abs() < largest_log_odds).all() &&
                  (difficulty.array().abs() < largest_log_odds).all() &&
                  (log_guess_.array() > -largest_log_odds).all()),
        all_(stride_), mixed_(stride_), own_(stride_, categories_),
        products_{all_.data(), mixed_.data(), own_.data(), stride_} {
    weight_.head(nodes_) = node_weight;
    if (moderate_) tabulate();
  }

  double value(GuessingMixtureGradient* gradient) {
    if (gradient != nullptr) {
      by_all_ = Matrix::Zero(stride_, raters_);
      by_own_ = Matrix::Zero(stride_, raters_ * categories_);
      gradient->by_prevalence = Matrix::Zero(categories_, prevalence_.cols());
    }
    double total = log_guesses(), product = 1;  // the value is total + log(product)
    for (std::size_t i = 0; i < data_.multiplicity.size(); ++i) {
      const ItemRatings item = design_.item(i);
      const int kind = data_.kind[item.number] - 1, multiplicity = data_.multiplicity[item.number];
      double sum = 0, scale = 0;
      if (moderate_ && item.last - item.first <= most_factors) sum = multiply(item, kind);
      const bool is_product = sum > smallest_product;
      if (!is_product) {
        sum = add_logarithms(item, kind, scale);
        if (!(scale > -std::numeric_limits<double>::infinity())) return scale;  // or NaN
      }
      total += multiplicity * scale;
      if (multiplicity > 1) total += multiplicity * std::log(sum);
      else product *= sum;
      if (!(product > smallest_product && product < 1 / smallest_product)) {
        total += std::log(product);
        product = 1;
      }
      if (gradient == nullptr) continue;
      weigh(item, kind, multiplicity / sum, is_product, gradient->by_prevalence.col(kind));
    }
    if (gradient != nullptr) finish(*gradient);
    return total + std::log(product);
  }

 private:
  // Beyond the first of these, odds and guesses need logarithms. Beyond the second, a product might
  // underflow that matters.
  static constexpr double largest_log_odds = 300, largest_ratio = 1e150;

  // Tables by node, of each rater and of the cells that have ratings.
  void tabulate() {
    unknown_.resize(stride_, raters_);
    ratio_.resize(stride_, ratings_.size());
    Vector of_node = Vector::Zero(stride_);
    of_node.head(nodes_) = (-difficulty_.array()).exp();
    const Vector of_rater = level_.array().exp();
    const Matrix inverse = guess_.cwiseInverse();
    fill_tables(raters_, ratings_.size(), stride_, of_node.data(), of_rater.data(), inverse.data(),
                ratings_.data(), unknown_.data(), ratio_.data());
  }

  // What guesses contribute whatever is true.
  double log_guesses() const {
    double sum = 0;
    for (Eigen::Index v = 0; v < ratings_.size(); ++v)
      if (ratings_(v) > 0) sum += ratings_(v) * log_guess_(v);
    return sum;
  }

  // Products over an item's ratings, and their sum over nodes and true categories; 0 if it takes logarithms.
  double multiply(const ItemRatings& item, int kind) {
    const double* const prevalence = prevalence_.col(kind).data();
    double others = 0, largest = 0;
    for (const int* k = item.first_unrated; k < item.last_unrated; ++k) others += prevalence[*k];
    const double sum =
        multiply_entries(item, prevalence, others, weight_.data(), unknown_.data(),
                         ratio_.data(), products_, &largest);
    return largest < largest_ratio ? sum : 0;
  }

  // The same sum from logarithms, divided by the exponential of ``scale``, with its terms in place of the
  // products.
  double add_logarithms(const ItemRatings& item, int kind, double& scale) {
    scale = -std::numeric_limits<double>::infinity();
    Matrix logs = Matrix::Zero(nodes_, categories_);
    for (Eigen::Index q = 0; q < nodes_; ++q) {
      double all = std::log(weight_(q));
      const Entry* entry = item.first;
      for (const Rated* rated = item.first_rated; rated < item.last_rated; ++rated)
        for (const Entry* const last = entry + rated->number; entry < last; ++entry) {
          const double log_odds = level_(entry->rater) - difficulty_(q);
          all -= softplus(log_odds);
          logs(q, rated->category) += softplus(log_odds - log_guess_(entry->rater, rated->category));
        }
      logs.row(q).array() += all;
      logs.row(q) += log_prevalence_.col(kind);
    }
    scale = logs.maxCoeff<Eigen::PropagateNaN>();
    own_.topRows(nodes_) = (logs.array() - scale).exp();
    own_.bottomRows(stride_ - nodes_).setZero();
    mixed_ = own_.rowwise().sum();
    all_.setOnes();
    return mixed_.sum();
  }

  // Adds expected numbers of an item, its products or terms times a factor, to derivatives.
  void weigh(const ItemRatings& item, int kind, double factor, bool is_product,
             Eigen::Ref<Vector> by_truth) {
    const double everywhere = weigh_entries(item, factor, products_, by_truth.data(), by_all_.data(),
                                            by_own_.data());
    for (const int* k = item.first_unrated; k < item.last_unrated; ++k)
      by_truth(*k) += is_product ? prevalence_(*k, kind) * everywhere : factor * own_.col(*k).sum();
  }

  // Derivatives from expected ratings: all of a rater, and those of the true category, by node.
  void finish(GuessingMixtureGradient& gradient) {
    if (!moderate_) add_tables();
    gradient.by_level.resize(raters_);
    gradient.by_log_guess.resize(raters_, categories_);
    Vector by_node = Vector::Zero(stride_);
    differentiate(raters_, ratings_.size(), stride_, ratings_.data(), unknown_.data(), ratio_.data(),
                  by_all_.data(), by_own_.data(), gradient.by_level.data(),
                  gradient.by_log_guess.data(), by_node.data());
    gradient.by_difficulty = -by_node.head(nodes_);
  }

  // The tables where numbers may be beyond all floats: ratios are at most infinite.
  void add_tables() {
    unknown_ = Matrix::Ones(stride_, raters_);
    ratio_ = Matrix::Ones(stride_, ratings_.size());
    for (Eigen::Index q = 0; q < nodes_; ++q)
      for (Eigen::Index j = 0; j < raters_; ++j) {
        const double log_odds = level_(j) - difficulty_(q);
        unknown_(q, j) = logistic(-log_odds);
        for (Eigen::Index k = 0; k < categories_; ++k)
          ratio_(q, k * raters_ + j) = 1 + std::exp(log_odds - log_guess_(j, k));
      }
  }

  const Vector& level_;
  const Vector& difficulty_;
  const Matrix& guess_;
  const Matrix& log_guess_;
  const Matrix& log_prevalence_;
  const Matrix prevalence_;
  const DistinctItems& data_;
  const Eigen::Index raters_, categories_, nodes_;
  const Design& design_;
  const Vector& ratings_;      // by cell
  const Eigen::Index stride_;  // nodes and others of weight 0, to fill registers
  Vector weight_;              // of nodes
  const bool moderate_;        // whether tables do, and nothing needs logarithms
  Matrix unknown_, ratio_;     // tables by node (rows), of raters and of cells
  Vector all_, mixed_;         // products of the current item
  Matrix own_;                 // by true category
  const Products products_;    // all three
  // Derivatives: expected ratings by node, of raters whatever is true, and of cells whose category is true.
  Matrix by_all_, by_own_;
};

}  // namespace

double guessing_mixture_pass(const Vector& level, const Vector& difficulty, const Guesses& guesses,
                             const Matrix& log_prevalence, const ConstVector& node_weight,
                             const DistinctItems& data, GuessingMixtureGradient* gradient) {
  Mixture mixture(level, difficulty, guesses, log_prevalence, node_weight, data);
  return mixture.value(gradient);
}

}  // namespace reliabayes
