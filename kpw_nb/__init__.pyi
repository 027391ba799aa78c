# Made from the package by tools/stubs.py: do not edit.
from .detect import KPWDetector as KPWDetector
from .distance import KPWProjector as KPWProjector
from .distance import KPWResult as KPWResult
from .twosample import KPWTest as KPWTest
from .twosample import KPWTestResult as KPWTestResult
from .distance import MeanProjector as MeanProjector
from .distance import WitnessProjector as WitnessProjector
from .segment import kpw_changepoint as kpw_changepoint
from .distance import kpw_distance as kpw_distance
from .equivalence import kpw_equivalence as kpw_equivalence
from .groups import kpw_groups as kpw_groups
from .twosample import kpw_test as kpw_test
from .power import power_study as power_study
from .power import sample_size as sample_size

__version__: str
