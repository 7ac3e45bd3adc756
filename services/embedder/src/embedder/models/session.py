"""One way to open onnxruntime: quiet, on the CPU, with a stated number of threads."""

from pathlib import Path

import onnxruntime


def open_session(model: bytes | Path, threads: int) -> onnxruntime.InferenceSession:
    """A session that computes on `threads` threads and does not spin while it waits for work."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    source = model if isinstance(model, bytes) else str(model)
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
