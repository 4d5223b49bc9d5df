# SPDX-License-Identifier: Apache-2.0
"""Settings that pyproject.toml cannot have: the wheel contains a library, so it is of one platform, but of no Python version."""
import os
import sysconfig

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class Wheel(bdist_wheel):
    def get_tag(self):
        platform = os.environ.get("TILE_WHEEL_PLATFORM") or sysconfig.get_platform()
        return "py3", "none", platform.replace("-", "_").replace(".", "_")


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"bdist_wheel": Wheel}, distclass=WithLibrary)
