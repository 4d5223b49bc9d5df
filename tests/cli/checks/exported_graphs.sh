# SPDX-License-Identifier: Apache-2.0
# Graphs that PyTorch 2.15 printed of small models, in tests/graph/exported: their results for the stored inputs are PyTorch's, and
# with another size the interpreter's. tests/compatibility/check_graphs.py --store writes them.

for folder in "$root"/tests/graph/exported/*; do
  arguments=(--graph "$folder/graph.py" --run --target cpu --weights "$folder/inputs.safetensors" --rtol 1e-3 --atol 1e-4)
  while read -r size; do arguments+=(--arg "$size"); done < "$folder/sizes"
  for file in "$folder"/*.npy; do
    output=$(basename "$file" .npy)
    arguments+=(--expect "$output=@$file")
  done
  check "PyTorch's results: $(basename "$folder")" 0 '!error' "${arguments[@]}"
done
for size in boxes.exported:s52=1 boxes.exported:s52=0 graph_net.decomposed:s6=1 graph_net.decomposed:s43=0 static_cache.exported:s52=2 unet_sides.decomposed:s39=1 running.decomposed:s11=0 running.decomposed:s11=1 long_convolution.captured:s27=1 shapes_in_place.exported:s97=1 shapes_in_place.exported:s97=0 \
  spectra.exported:s97=1 pairs_of_any.captured:s33=2 norms_in_training.exported:s97=2 branches.exported:s97=1; do
  folder=$root/tests/graph/exported/${size%%:*} changed=${size##*:}
  arguments=(--arg "$changed") # and the others as they are stored
  while read -r other; do arguments+=(--arg "$other"); done < <(grep -v "^${changed%=*}=" "$folder/sizes")
  check "another size: $size" 0 '!error' --graph "$folder/graph.py" --run --check --target cpu "${arguments[@]}"
done
