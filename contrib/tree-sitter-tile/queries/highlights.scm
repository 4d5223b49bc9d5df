; SPDX-License-Identifier: Apache-2.0
; The lists between the marks are written by tests/check-contrib --update.

(identifier) @variable
(comment) @comment
(string) @string
(escape_sequence) @string.escape
[(integer) (float)] @number
[(none) (true) (false)] @constant.builtin
(decorator) @attribute
(function_definition name: (identifier) @function)
(call function: (identifier) @function.call)
(call function: (attribute attribute: (identifier) @function.call))
(keyword_argument name: (identifier) @variable.parameter)
(parameters (identifier) @variable.parameter)
(typed_parameter (identifier) @variable.parameter)
(typed_default_parameter name: (identifier) @variable.parameter)

; keywords {
["and" "as" "assert" "async" "await" "break" "class" "continue" "def" "del" "elif" "else" "except" "finally" "for" "from" "global" "if" "import" "in" "is" "lambda" "nonlocal" "not" "or" "pass" "raise" "return" "try" "while" "with" "yield"] @keyword
; } keywords

; functions {
((call function: (identifier) @function.builtin) (#any-of? @function.builtin "abs" "add" "advance" "arange" "associative_scan" "assume" "atomic_add" "atomic_and" "atomic_cas" "atomic_max" "atomic_min" "atomic_or" "atomic_poll" "atomic_xchg" "atomic_xor" "bool" "broadcast" "broadcast_to" "cast" "cdiv" "ceil" "clamp" "condition" "constexpr_type" "cos" "cuda_capability_geq" "debug_barrier" "device_assert" "device_print" "div_rn" "dot" "dtype" "enumerate" "erf" "exp" "exp2" "expand_dims" "expect_zero" "extern_elementwise" "fdiv" "finfo" "float" "floor" "fma" "full" "gather" "gdc_launch_dependents" "gdc_wait" "get_int_dtype" "getattr" "globaltimer" "hasattr" "histogram" "iinfo" "inline_asm_elementwise" "int" "is_bf16" "is_block" "is_bool" "is_cuda" "is_floating" "is_fp16" "is_fp32" "is_fp64" "is_fp8" "is_fp8e4b15" "is_fp8e4nv" "is_fp8e5" "is_hip" "is_int" "is_int1" "is_int16" "is_int32" "is_int64" "is_int8" "is_int_signed" "is_int_unsigned" "is_ptr" "is_standard_floating" "is_uint16" "is_uint32" "is_uint64" "is_uint8" "isinstance" "item" "join" "len" "list" "load" "load_tensor_descriptor" "log" "log2" "logical_and" "logical_or" "make_block_ptr" "make_tensor_descriptor" "map_elementwise" "max" "max_constancy" "max_contiguous" "maximum" "min" "minimum" "mul" "multiple_of" "nearbyint" "next_power_of_2" "num_programs" "num_threads" "num_warps" "permute" "pointer_type" "print" "program_id" "range" "ravel" "reduce" "reshape" "rint" "rsqrt" "sigmoid" "sin" "smid" "split" "sqrt" "sqrt_rn" "squeeze" "static_assert" "static_print" "static_range" "store" "store_tensor_descriptor" "str" "sub" "tanh" "tensor" "tensor_descriptor" "tensor_descriptor_base" "to" "to_tensor" "trans" "tuple" "umulhi" "unsqueeze" "view" "where" "zeros" "zeros_like" "zip"))
; } functions

; types {
((identifier) @type.builtin (#any-of? @type.builtin "bf16" "bfloat16" "const_ptr" "constexpr" "f16" "f32" "f64" "f8e4b15" "f8e4nv" "f8e5" "float16" "float32" "float64" "float8e4b15" "float8e4nv" "float8e5" "i1" "i16" "i32" "i64" "i8" "int1" "int16" "int32" "int64" "int8" "ptr" "tensordesc" "u16" "u32" "u64" "u8" "uint16" "uint32" "uint64" "uint8"))
; } types
