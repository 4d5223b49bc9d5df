# SPDX-License-Identifier: Apache-2.0
"""Host code that asks PyTorch for a GPU gets memory of the CPU: `device="cuda"` means "cpu", and `torch.cuda` answers for a made-up GPU
of compute capability 9.0. `install()` replaces PyTorch's and Triton's queries for the rest of the process."""
import contextlib

import torch
import triton
from torch.overrides import TorchFunctionMode

CUDA = ("cuda", "gpu")


class Generator:
    """A random number generator with the state of a GPU's: seed and offset, 8 bytes each."""

    def __init__(self):
        self.state = torch.tensor([42, 0], dtype=torch.int64).view(torch.uint8)

    def get_state(self):
        return self.state.clone()

    def set_state(self, state):
        self.state = state.clone()

    def manual_seed(self, seed):
        self.state = torch.tensor([seed, 0], dtype=torch.int64).view(torch.uint8)
        return self


class Driver:
    """What host code asks of a GPU."""
    multi_processor_count, major, minor, name, total_memory, L2_cache_size = 4, 9, 0, "NVIDIA H100", 1 << 34, 1 << 25
    max_threads_per_multi_processor, warp_size, shared_memory_per_multiprocessor = 2048, 32, 233472
    shared_memory_per_block_optin, regs_per_multiprocessor, gcnArchName = 232448, 65536, ""

    class utils:
        get_device_properties = staticmethod(lambda d: {"max_shared_mem": 232448, "multiprocessor_count": 4,
                                                        "max_num_regs": 65536, "warpSize": 32})

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget
        return GPUTarget("cuda", 90, 32)

    def get_active_torch_device(self):
        return torch.device("cpu")

    def __getattr__(self, name):  # current device and stream
        return lambda *a: 0


def to_cpu(value):
    if isinstance(value, str) and value.split(":")[0] in CUDA:
        return "cpu"
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    return value


class CudaIsCpu(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function == torch.Tensor.is_cuda.__get__:
            return True
        if function is torch.Tensor.cuda:
            return args[0]
        named = {n: to_cpu(v) for n, v in (kwargs or {}).items()}
        named.pop("pin_memory", None)
        if function in (torch.empty, torch.zeros, torch.rand, torch.randn, torch.randint) and isinstance(named.get("generator"), Generator):
            named.pop("generator")
        return function(*[to_cpu(a) for a in args], **named)


def install():
    driver = Driver()
    triton.runtime.driver.set_active(driver)
    for module in (torch.cpu, torch.cuda):
        module.get_device_properties = lambda *a: driver
        module.get_device_capability = lambda *a: (9, 0)
        module.get_device_name = lambda *a: driver.name
        module.current_device = lambda: 0
        module.device = lambda *a: contextlib.nullcontext()
        module.default_generators = [Generator()]
    stream = type("Stream", (), {"cuda_stream": 0, "synchronize": lambda s: None, "wait_stream": lambda s, o: None})()
    for name, value in {"is_available": True, "device_count": 1, "current_stream": stream, "synchronize": None, "empty_cache": None,
                        "mem_get_info": (1 << 34, 1 << 34), "manual_seed": None, "manual_seed_all": None, "set_device": None,
                        "is_bf16_supported": True, "is_current_stream_capturing": False}.items():
        setattr(torch.cuda, name, lambda *a, value=value, **k: value)
    torch.cuda.nvtx.range = lambda *a, **k: contextlib.nullcontext()
    CudaIsCpu().__enter__()
