# SPDX-License-Identifier: Apache-2.0
# A package for the tests of imports. It hands on a name, and imports what is not there.
import nowhere.at.all
from .scaled import scaled, FACTOR as HANDED_ON
from .circle import around
