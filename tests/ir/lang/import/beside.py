# SPDX-License-Identifier: Apache-2.0
ONE = 1.0
