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
// where odds are those of knowing, and guess[k] is the same whatever is true. So an item takes one product over all its
// ratings, and one over its ratings of each category that it has; all other true categories are alike.

static double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
static double logistic(double x) { return 0.5 * (1 + std::tanh(0.5 * x)); }

namespace {

// Tables by node, of raters and of cells: of those who do not know, ratios, and derivatives, which are expected
// ratings, of raters whatever is true and of cells whose category is true.
struct Tables {
  std::vector<Aligned> unknown, ratio, by_all, by_own;

  // Those of a thread: to get their memory anew would take a tenth of a gradient's time.
  static Tables& here() {
    thread_local Tables own;
    return own;
  }
};

class Mixture {
 public:
  Mixture(const Vector& level, const Vector& difficulty, const Guesses& guesses,
          const Matrix& log_prevalence, const ConstVector& node_weight, const DistinctItems& data)
      : level_(level), difficulty_(difficulty), guess_(guesses.probability()),
        log_guess_(guesses.log_probability()), log_prevalence_(log_prevalence),
        prevalence_(log_prevalence.array().exp()), node_weight_(node_weight), raters_(level.size()),
        categories_(log_guess_.cols()), nodes_(difficulty.size()),
        blocks_(in_whole_lanes(nodes_) / lanes), design_(design_of(data, raters_, categories_)),
        moderate_((level.array().abs() < largest_log_odds).all() &&
                  (difficulty.array().abs() < largest_log_odds).all() &&
                  (log_guess_.array() > -largest_log_odds).all()),
        tables_(Tables::here()) {
    tables_.unknown.resize(blocks_ * raters_);
    tables_.ratio.resize(blocks_ * guess_.size());
  }

  double value(GuessingMixtureGradient* gradient) {
    if (gradient != nullptr) {
      tables_.by_all.assign(tables_.unknown.size(), {all(0)});
      tables_.by_own.assign(tables_.ratio.size(), {all(0)});
      gradient->by_prevalence = Matrix::Zero(categories_, prevalence_.cols());
    }
    std::vector<ItemRatings> left;  // to logarithms
    double total = log_guesses();
    if (moderate_)
      total += add_products(gradient, left);
    else
      for (ItemRatings of = design_.begin(); of.item != design_.end(); of = of.next()) left.push_back(of);
    for (const ItemRatings& of : left) {
      total += add_logarithms(of, gradient);
      if (!(total > -std::numeric_limits<double>::infinity())) break;  // or NaN
    }
    if (gradient != nullptr) finish(*gradient);
    return total;
  }

 private:
  static constexpr double largest_log_odds = 300;  // beyond which odds and guesses need logarithms

  // What guesses contribute whatever is true.
  double log_guesses() const {
    const Vector& ratings = design_.ratings();
    double sum = 0;
    for (Eigen::Index v = 0; v < ratings.size(); ++v)
      if (ratings(v) > 0) sum += ratings(v) * log_guess_(v);
    return sum;
  }

  // The log-probability of items by products, but for those that are left.
  double add_products(GuessingMixtureGradient* gradient, std::vector<ItemRatings>& left) {
    std::vector<Aligned> of_node(blocks_, {all(0)}), weight(blocks_, {all(0)});  // 0 beyond all nodes
    for (Eigen::Index q = 0; q < nodes_; ++q) {
      of_node[q / lanes].lanes[q % lanes] = std::exp(-difficulty_(q));
      weight[q / lanes].lanes[q % lanes] = node_weight_(q);
    }
    const Vector of_rater = level_.array().exp();
    const Matrix inverse = guess_.cwiseInverse();
    fill_tables(raters_, guess_.size(), blocks_, of_node.data(), of_rater.data(), inverse.data(),
                design_.ratings().data(), tables_.unknown.data(), tables_.ratio.data());
    ItemSums sums{blocks_, categories_, prevalence_.cols(), prevalence_.data(),
                  weight.data(), tables_.unknown.data(), tables_.ratio.data()};
    if (gradient != nullptr) {
      sums.by_all = tables_.by_all.data();
      sums.by_own = tables_.by_own.data();
      sums.by_prevalence = gradient->by_prevalence.data();
    }
    return add_items(design_, sums, left);
  }

  // The log-probability of an item from logarithms, of which the largest is taken out of their sum.
  double add_logarithms(ItemRatings of, GuessingMixtureGradient* gradient) {
    const int kind = of.item->kind, multiplicity = of.item->multiplicity;
    Matrix terms = Matrix::Zero(nodes_, categories_);
    const Entry* entry = of.entry;
    for (const Rated* rated = of.rated; rated != of.next().rated; ++rated)
      for (const Entry* const last = entry + rated->ratings; entry != last; ++entry)
        for (Eigen::Index q = 0; q < nodes_; ++q) {
          const double log_odds = level_(entry->rater) - difficulty_(q);
          terms.row(q).array() -= softplus(log_odds);
          terms(q, rated->category) += softplus(log_odds - log_guess_(entry->rater, rated->category));
        }
    terms.colwise() += Vector(node_weight_.array().log());
    terms.rowwise() += log_prevalence_.col(kind).transpose();
    const double largest = terms.maxCoeff<Eigen::PropagateNaN>();
    if (!(largest > -std::numeric_limits<double>::infinity())) return largest;
    terms = (terms.array() - largest).exp();
    const double sum = terms.sum();
    if (gradient != nullptr) weigh(of, terms * (multiplicity / sum), gradient->by_prevalence.col(kind));
    return multiplicity * (largest + std::log(sum));
  }

  // Adds expected numbers of an item, by node and true category, to derivatives.
  void weigh(ItemRatings of, const Matrix& expected, Eigen::Ref<Vector> by_truth) {
    by_truth += expected.colwise().sum().transpose();
    const Vector mixed = expected.rowwise().sum();
    for (const Rated* rated = of.rated; rated != of.next().rated; ++rated)
      for (const Entry* const last = of.entry + rated->ratings; of.entry != last; ++of.entry)
        for (Eigen::Index q = 0; q < nodes_; ++q) {
          tables_.by_all[of.entry->rater * blocks_ + q / lanes].lanes[q % lanes] += mixed(q);
          tables_.by_own[of.entry->cell * blocks_ + q / lanes].lanes[q % lanes] += expected(q, rated->category);
        }
  }

  // Derivatives from expected ratings: all of a rater, and those of the true category, by node.
  void finish(GuessingMixtureGradient& gradient) {
    if (!moderate_) add_tables();
    gradient.by_level.resize(raters_);
    gradient.by_log_guess.resize(raters_, categories_);
    std::vector<Aligned> by_node(blocks_, {all(0)});
    differentiate(raters_, guess_.size(), blocks_, design_.ratings().data(),
                  tables_.unknown.data(), tables_.ratio.data(), tables_.by_all.data(), tables_.by_own.data(),
                  gradient.by_level.data(), gradient.by_log_guess.data(), by_node.data());
    gradient.by_difficulty.resize(nodes_);
    for (Eigen::Index q = 0; q < nodes_; ++q)
      gradient.by_difficulty(q) = -by_node[q / lanes].lanes[q % lanes];
  }

  // The tables where numbers may be beyond all floats: ratios are at most infinite.
  void add_tables() {
    tables_.unknown.assign(tables_.unknown.size(), {all(1)});
    tables_.ratio.assign(tables_.ratio.size(), {all(1)});
    for (Eigen::Index q = 0; q < nodes_; ++q)
      for (Eigen::Index j = 0; j < raters_; ++j) {
        const double log_odds = level_(j) - difficulty_(q);
        tables_.unknown[j * blocks_ + q / lanes].lanes[q % lanes] = logistic(-log_odds);
        for (Eigen::Index k = 0; k < categories_; ++k)
          tables_.ratio[(k * raters_ + j) * blocks_ + q / lanes].lanes[q % lanes] =
              1 + std::exp(log_odds - log_guess_(j, k));
      }
  }

  const Vector& level_;
  const Vector& difficulty_;
  const Matrix& guess_;
  const Matrix& log_guess_;
  const Matrix& log_prevalence_;
  const Matrix prevalence_;
  const ConstVector& node_weight_;
  const Eigen::Index raters_, categories_, nodes_;
  const Eigen::Index blocks_;  // of four nodes, the last of which may have weight 0
  const Design& design_;
  const bool moderate_;  // whether products do, and nothing needs logarithms
  Tables& tables_;
};

}  // namespace

double guessing_mixture_pass(const Vector& level, const Vector& difficulty, const Guesses& guesses,
                             const Matrix& log_prevalence, const ConstVector& node_weight,
                             const DistinctItems& data, GuessingMixtureGradient* gradient) {
  Mixture mixture(level, difficulty, guesses, log_prevalence, node_weight, data);
  return mixture.value(gradient);
}

}  // namespace reliabayes
