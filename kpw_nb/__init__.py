"Do two samples come from the same distribution, and if not, where do they differ?"

__version__ = "0.2.0"

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what type checkers and editors read; at run time see below
    from .compare.equivalence import kpw_equivalence
    from .compare.gate import assert_same_distribution
    from .compare.groups import kpw_groups
    from .compare.twosample import KPWTest, KPWTestResult, kpw_test
    from .compare.visible import visible
    from .study.planning import sample_size
    from .study.power import power_study
    from .theory.distance import KPWProjector, KPWResult, MeanProjector
    from .theory.distance import WitnessProjector, kpw_distance
    from .watch.detect import KPWDetector
    from .watch.monitor import KPWMonitor
    from .watch.segment import KPWChangePoints, kpw_changepoint
    from .watch.sequential import SequentialTest

# Where each name lives. Modules are loaded at first use, so that `kpw-nb --help` needs
# neither numba nor scikit-learn.
_HOME = {
    "KPWChangePoints": "watch.segment",
    "KPWDetector": "watch.detect",
    "KPWMonitor": "watch.monitor",
    "KPWProjector": "theory.distance",
    "KPWResult": "theory.distance",
    "KPWTest": "compare.twosample",
    "KPWTestResult": "compare.twosample",
    "MeanProjector": "theory.distance",
    "SequentialTest": "watch.sequential",
    "WitnessProjector": "theory.distance",
    "assert_same_distribution": "compare.gate",
    "kpw_changepoint": "watch.segment",
    "kpw_distance": "theory.distance",
    "kpw_equivalence": "compare.equivalence",
    "kpw_groups": "compare.groups",
    "kpw_test": "compare.twosample",
    "power_study": "study.power",
    "sample_size": "study.planning",
    "visible": "compare.visible",
}
__all__ = sorted(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'kpw_nb' has no attribute {name!r}")
    from importlib import import_module

    home = import_module(f".{_HOME[name]}", __name__)
    value = globals()[name] = getattr(home, name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})
