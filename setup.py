"Build configuration: every value comes from settings.ini; edit there."

from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

ini = ConfigParser(delimiters=["="])
ini.read("settings.ini", encoding="utf-8")
cfg = ini["DEFAULT"]
names = ("data", "scale", "peers", "docs", "dev")
extras = {name: cfg[f"{name}_requirements"].split() for name in names}
# real digits, a local cluster, and the libraries we compare with
extras["dev"] += extras["data"] + extras["scale"] + extras["peers"]
templates = cfg["lib_name"] + ".show.templates"

setup(
    name=cfg["lib_name"],
    version=cfg["version"],
    description=cfg["description"],
    long_description=Path("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author=cfg["author"],
    author_email=cfg["author_email"],
    keywords=cfg["keywords"],
    license="Apache-2.0",
    url=cfg["git_url"],
    packages=[*find_packages(include=[f"{cfg['lib_name']}*"]), templates],
    package_data={
        cfg["lib_name"]: ["py.typed"],
        cfg["lib_name"] + ".compare": ["visible.csv"],
        templates: ["*"],
    },
    python_requires=">=" + cfg["min_python"],
    install_requires=cfg["requirements"].split(),
    extras_require=extras,
    entry_points={
        "console_scripts": cfg["console_scripts"].split(),
        "nbdev": [f"{cfg['lib_name']}={cfg['lib_name']}._modidx:d"],
    },
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: " + cfg["audience"],
        "Programming Language :: Python :: 3",
    ],
    zip_safe=False,
)
