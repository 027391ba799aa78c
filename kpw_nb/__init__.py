"Do two samples come from the same distribution, and if not, where do they differ?"
__version__ = "0.1.0"

from .distance import KPWProjector, KPWResult, kpw_distance

__all__ = ["KPWProjector", "KPWResult", "kpw_distance"]
