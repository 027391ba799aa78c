"Do two samples come from the same distribution, and if not, where do they differ?"
__version__ = "0.1.0"

from .distance import KPWProjector, KPWResult, kpw_distance
from .twosample import KPWTest, KPWTestResult, MeanProjector, WitnessProjector, kpw_test

__all__ = ["KPWProjector", "KPWResult", "KPWTest", "KPWTestResult", "MeanProjector", "WitnessProjector", "kpw_distance", "kpw_test"]
