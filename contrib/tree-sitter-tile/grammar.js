// SPDX-License-Identifier: Apache-2.0
// Tile kernels are written in Python's grammar. Annotations are any expression: `x: ptr[f32] % 16`.
//
//   npm install && npx tree-sitter generate && npx tree-sitter test
const python = require("tree-sitter-python/grammar");

module.exports = grammar(python, {
  name: "tile",
  rules: { type: ($) => $.expression },
});
