"Do two samples come from the same distribution, and if not, where do they differ?"
__version__ = "0.1.0"

# Where each name lives. Modules are loaded at first use, so that `kpw-nb --help` needs neither numba nor scikit-learn.
_HOME = {"KPWProjector": "distance", "KPWResult": "distance", "kpw_distance": "distance",
         "KPWTest": "twosample", "KPWTestResult": "twosample", "MeanProjector": "twosample", "WitnessProjector": "twosample", "kpw_test": "twosample",
         "power_study": "power", "sample_size": "power", "KPWDetector": "changepoint", "kpw_changepoint": "changepoint"}
__all__ = sorted(_HOME)


def __getattr__(name):
    if name not in _HOME: raise AttributeError(f"module 'kpw_nb' has no attribute {name!r}")
    from importlib import import_module
    value = globals()[name] = getattr(import_module(f".{_HOME[name]}", __name__), name)
    return value


def __dir__(): return sorted({*globals(), *__all__})
