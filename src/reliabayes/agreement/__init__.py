"""Classical agreement: kappas, alpha, iota, ICC, xRR, k-rater reliability, with intervals."""

from reliabayes.agreement.alpha import krippendorff_alpha
from reliabayes.agreement.alternative_annotator import AltTest, alt_test
from reliabayes.agreement.anova import icc_table
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.cohen import cohen_kappa, light_kappa, scott_pi
from reliabayes.agreement.comparing import difference
from reliabayes.agreement.concordance import concordance
from reliabayes.agreement.conger import conger_kappa, iota
from reliabayes.agreement.correlation import mean_correlation
from reliabayes.agreement.fleiss import fleiss_kappa, fleiss_kappa_by_category, fleiss_z
from reliabayes.agreement.generalizability import GStudyTable, g_study
from reliabayes.agreement.gwet import brennan_prediger, gwet_ac1, gwet_ac2, gwet_error
from reliabayes.agreement.hypothesis_test import Test
from reliabayes.agreement.icc_choice import which_icc
from reliabayes.agreement.information import information_agreement
from reliabayes.agreement.interval import Interval
from reliabayes.agreement.intraclass import icc
from reliabayes.agreement.judging import effective_votes, position, rogan_gladen
from reliabayes.agreement.k_raters import krr, krr_bootstrap, krr_curve
from reliabayes.agreement.kendall import kendall_w
from reliabayes.agreement.limits import LimitsOfAgreement, limits_of_agreement
from reliabayes.agreement.margins import marginal_homogeneity
from reliabayes.agreement.measurement_error import MeasurementError, measurement_error
from reliabayes.agreement.pairwise import pairwise
from reliabayes.agreement.percent import percent_agreement, unanimous_agreement
from reliabayes.agreement.rank_correlation import spearman_rho
from reliabayes.agreement.scales import weight_table
from reliabayes.agreement.spearman_brown import spearman_brown
from reliabayes.agreement.specific import specific_agreement
from reliabayes.agreement.xrr import kappa_x, normalized_kappa_x

__all__ = [
    "AltTest",
    "Coefficient",
    "GStudyTable",
    "Interval",
    "LimitsOfAgreement",
    "MeasurementError",
    "Test",
    "alt_test",
    "brennan_prediger",
    "cohen_kappa",
    "concordance",
    "conger_kappa",
    "difference",
    "effective_votes",
    "fleiss_kappa",
    "fleiss_kappa_by_category",
    "fleiss_z",
    "g_study",
    "gwet_ac1",
    "gwet_ac2",
    "gwet_error",
    "icc",
    "icc_table",
    "information_agreement",
    "iota",
    "kappa_x",
    "kendall_w",
    "krippendorff_alpha",
    "krr",
    "krr_bootstrap",
    "krr_curve",
    "light_kappa",
    "limits_of_agreement",
    "marginal_homogeneity",
    "mean_correlation",
    "measurement_error",
    "normalized_kappa_x",
    "pairwise",
    "percent_agreement",
    "position",
    "rogan_gladen",
    "scott_pi",
    "spearman_brown",
    "spearman_rho",
    "specific_agreement",
    "unanimous_agreement",
    "weight_table",
    "which_icc",
]


def __dir__() -> list[str]:
    return __all__
