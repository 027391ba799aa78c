"Do two samples come from the same distribution, and if not, where do they differ?"

__version__ = "0.2.0"

# Where each name lives. Modules are loaded at first use, so that `kpw-nb --help` needs
# neither numba nor scikit-learn.
_HOME = {
    "KPWDetector": "detect",
    "KPWProjector": "distance",
    "KPWResult": "distance",
    "KPWTest": "twosample",
    "KPWTestResult": "twosample",
    "MeanProjector": "distance",
    "WitnessProjector": "distance",
    "kpw_changepoint": "segment",
    "kpw_distance": "distance",
    "kpw_equivalence": "equivalence",
    "kpw_groups": "groups",
    "kpw_test": "twosample",
    "power_study": "power",
    "sample_size": "power",
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
