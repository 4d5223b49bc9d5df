# SPDX-License-Identifier: Apache-2.0
from .back import around
