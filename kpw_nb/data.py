"""The paper's data sets, at an address that stays.

>>> from kpw_nb.data import load_mnist, load_msrc12
"""

from .study.problems import load_mnist, load_msrc12

__all__ = ["load_mnist", "load_msrc12"]
