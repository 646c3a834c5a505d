"""The papers behind the methods, as BibTeX; only what a paper uses enters its bibliography."""

from __future__ import annotations

from collections.abc import Collection

_ENTRIES: dict[str, str] = {
    "agresti1998": """@article{agresti1998,
  author  = {Agresti, Alan and Coull, Brent A.},
  title   = {Approximate Is Better than ``Exact'' for Interval Estimation of Binomial Proportions},
  journal = {The American Statistician},
  volume  = {52},
  number  = {2},
  pages   = {119--126},
  year    = {1998},
  doi     = {10.1080/00031305.1998.10480550}
}""",
    "chen2021": """@misc{chen2021,
  author = {Chen, Mark and others},
  title  = {Evaluating Large Language Models Trained on Code},
  year   = {2021},
  note   = {arXiv:2107.03374}
}""",
    "clopper1934": """@article{clopper1934,
  author  = {Clopper, C. J. and Pearson, E. S.},
  title   = {The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial},
  journal = {Biometrika},
  volume  = {26},
  number  = {4},
  pages   = {404--413},
  year    = {1934},
  doi     = {10.1093/biomet/26.4.404}
}""",
    "cohen1960": """@article{cohen1960,
  author  = {Cohen, Jacob},
  title   = {A Coefficient of Agreement for Nominal Scales},
  journal = {Educational and Psychological Measurement},
  volume  = {20},
  number  = {1},
  pages   = {37--46},
  year    = {1960},
  doi     = {10.1177/001316446002000104}
}""",
    "conover1999": """@book{conover1999,
  author    = {Conover, W. J.},
  title     = {Practical Nonparametric Statistics},
  edition   = {3},
  publisher = {Wiley},
  year      = {1999}
}""",
    "efron1979": """@article{efron1979,
  author  = {Efron, Bradley},
  title   = {Bootstrap Methods: Another Look at the Jackknife},
  journal = {The Annals of Statistics},
  volume  = {7},
  number  = {1},
  pages   = {1--26},
  year    = {1979},
  doi     = {10.1214/aos/1176344552}
}""",
    "efron1987": """@article{efron1987,
  author  = {Efron, Bradley},
  title   = {Better Bootstrap Confidence Intervals},
  journal = {Journal of the American Statistical Association},
  volume  = {82},
  number  = {397},
  pages   = {171--185},
  year    = {1987},
  doi     = {10.1080/01621459.1987.10478410}
}""",
    "fisher1935": """@book{fisher1935,
  author    = {Fisher, Ronald A.},
  title     = {The Design of Experiments},
  publisher = {Oliver and Boyd},
  address   = {Edinburgh},
  year      = {1935}
}""",
    "fleiss1971": """@article{fleiss1971,
  author  = {Fleiss, Joseph L.},
  title   = {Measuring Nominal Scale Agreement among Many Raters},
  journal = {Psychological Bulletin},
  volume  = {76},
  number  = {5},
  pages   = {378--382},
  year    = {1971},
  doi     = {10.1037/h0031619}
}""",
    "hake1998": """@article{hake1998,
  author  = {Hake, Richard R.},
  title   = {Interactive-Engagement versus Traditional Methods: A Six-Thousand-Student Survey of Mechanics Test Data
             for Introductory Physics Courses},
  journal = {American Journal of Physics},
  volume  = {66},
  number  = {1},
  pages   = {64--74},
  year    = {1998},
  doi     = {10.1119/1.18809}
}""",
    "holm1979": """@article{holm1979,
  author  = {Holm, Sture},
  title   = {A Simple Sequentially Rejective Multiple Test Procedure},
  journal = {Scandinavian Journal of Statistics},
  volume  = {6},
  number  = {2},
  pages   = {65--70},
  year    = {1979}
}""",
    "kendall1945": """@article{kendall1945,
  author  = {Kendall, M. G.},
  title   = {The Treatment of Ties in Ranking Problems},
  journal = {Biometrika},
  volume  = {33},
  number  = {3},
  pages   = {239--251},
  year    = {1945},
  doi     = {10.1093/biomet/33.3.239}
}""",
    "kish1965": """@book{kish1965,
  author    = {Kish, Leslie},
  title     = {Survey Sampling},
  publisher = {Wiley},
  address   = {New York},
  year      = {1965}
}""",
    "krippendorff2004": """@book{krippendorff2004,
  author    = {Krippendorff, Klaus},
  title     = {Content Analysis: An Introduction to Its Methodology},
  edition   = {2},
  publisher = {Sage},
  address   = {Thousand Oaks, CA},
  year      = {2004}
}""",
    "liang1986": """@article{liang1986,
  author  = {Liang, Kung-Yee and Zeger, Scott L.},
  title   = {Longitudinal Data Analysis Using Generalized Linear Models},
  journal = {Biometrika},
  volume  = {73},
  number  = {1},
  pages   = {13--22},
  year    = {1986},
  doi     = {10.1093/biomet/73.1.13}
}""",
    "miller2024": """@misc{miller2024,
  author = {Miller, Evan},
  title  = {Adding Error Bars to Evals: A Statistical Approach to Language Model Evaluations},
  year   = {2024},
  note   = {arXiv:2411.00640}
}""",
    "phipson2010": """@article{phipson2010,
  author  = {Phipson, Belinda and Smyth, Gordon K.},
  title   = {Permutation {P}-values Should Never Be Zero: Calculating Exact {P}-values When Permutations Are Randomly
             Drawn},
  journal = {Statistical Applications in Genetics and Molecular Biology},
  volume  = {9},
  number  = {1},
  pages   = {Article 39},
  year    = {2010},
  doi     = {10.2202/1544-6115.1585}
}""",
    "wilson1927": """@article{wilson1927,
  author  = {Wilson, Edwin B.},
  title   = {Probable Inference, the Law of Succession, and Statistical Inference},
  journal = {Journal of the American Statistical Association},
  volume  = {22},
  number  = {158},
  pages   = {209--212},
  year    = {1927},
  doi     = {10.1080/01621459.1927.10502953}
}""",
}

METHODS: dict[str, tuple[str, ...]] = {
    "agresti_coull_t": ("agresti1998", "kish1965"),
    "clustered_t": ("liang1986", "miller2024"),
    "wilson_neff": ("wilson1927", "kish1965"),
    "wilson": ("wilson1927",),
    "clopper_pearson": ("clopper1934",),
    "bootstrap": ("efron1979",),
    "bca": ("efron1987",),
    "one_sided": ("clopper1934",),
    "mean_interval": ("liang1986", "miller2024"),
    "percentile_interval": ("conover1999",),
    "pass_at_k": ("chen2021",),
    "paired_t": ("miller2024",),
    "sign_flips": ("fisher1935",),
    "drawn_sign_flips": ("phipson2010",),
    "holm": ("holm1979",),
    "gain": ("hake1998",),
    "kappa": ("cohen1960",),
    "kappa_interval": ("efron1979",),
    "fleiss": ("fleiss1971",),
    "krippendorff": ("krippendorff2004",),
    "kendall": ("kendall1945",),
}
"""Which papers each method rests on, by the words of `docs/methods.md`."""


def keys_of(methods: Collection[str]) -> tuple[str, ...]:
    """Give the keys of the papers that some methods rest on, sorted."""
    return tuple(sorted({key for method in methods for key in METHODS[method]}))


def cited(method: str) -> str:
    """Cite the papers of a method."""
    return rf"\cite{{{','.join(METHODS[method])}}}"


def bibliography(methods: Collection[str], *, version: str) -> str:
    """Write the entries of the papers that are used, and one of the tool."""
    tool = f"""@misc{{skilleval,
  title = {{skilleval: Measuring Agent Skills}},
  note  = {{Software, version {version}}}
}}"""
    return "\n\n".join([*(_ENTRIES[key] for key in keys_of(methods)), tool]) + "\n"
