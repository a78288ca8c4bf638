"""One file per pass, named as upstream names it. `base.py` says what a pass is.

`PASSES` maps a pass's name to `module:Class`, relative to this package, so that naming passes imports none of them.
"""

from __future__ import annotations

PASSES: dict[str, str] = {
    "aie-assign-bd-ids": "assign_bd_ids:AssignBdIds",
    "aie-assign-core-link-files": "core_link_files:AssignCoreLinkFiles",
    "aie-assign-lock-ids": "assign_lock_ids:AssignLockIds",
    "aie-assign-packet-ids": "fifo_packet_ids:AssignPacketIds",
    "aie-assign-runtime-sequence-bd-ids": "assign_sequence_ids:AssignRuntimeSequenceBdIds",
    "aie-assign-tile-controller-ids": "controller_ids:AssignTileControllerIds",
    "aie-canonicalize-device": "canonicalize_device:CanonicalizeDevice",
    "aie-canonicalize-runtime-sequences": "canonicalize_sequences:CanonicalizeRuntimeSequences",
    "aie-decompose-large-dma-bd": "decompose_bds:DecomposeLargeDmaBd",
    "aie-default-stack-size": "default_stack_size:DefaultStackSize",
    "aie-dma-tasks-to-npu": "tasks_to_npu:DmaTasksToNpu",
    "aie-dma-to-npu": "dma_to_npu:DmaToNpu",
    "aie-localize-locks": "localize_locks:LocalizeLocks",
    "aie-lower-core-reset": "lower_resets:LowerCoreReset",
    "aie-lower-dma-channel-reset": "lower_resets:LowerDmaChannelReset",
    "aie-lower-dynamic-bd-pool": "dynamic_pool:LowerDynamicBdPool",
    "aie-lower-set-lock": "lower_set_lock:LowerSetLock",
    "aie-materialize-bd-chains": "bd_chains:MaterializeBdChains",
    "aie-materialize-runtime-sequences": "materialize_sequences:MaterializeRuntimeSequences",
    "aie-normalize-address-spaces": "address_spaces:NormalizeAddressSpaces",
    "aie-objectFifo-unroll": "fifo_unroll:ObjectFifoUnroll",
    "aie-objectfifo-allocate": "fifo_allocate:ObjectFifoAllocate",
    "aie-objectfifo-erase-pools": "fifo_erase_pools:ErasePools",
    "aie-objectfifo-split": "fifo_split:ObjectFifoSplit",
    "aie-objectfifo-verify": "fifo_verify:ObjectFifoVerify",
    "aie-objectfifo-lower-dmas": "fifo_lower_dmas:ObjectFifoLowerDmas",
    "aie-objectFifo-stateful-transform": "fifo_transform:ObjectFifoStatefulTransform",
    "aie-objectfifo-lower-cores": "fifo_lower_cores:ObjectFifoLowerCores",
    "aie-objectfifo-verify-transfers": "fifo_verify_transfers:VerifyTransfers",
    "aie-prepare-buffers": "prepare_buffers:PrepareBuffers",
    "aie-standard-lowering": "standard_lowering:StandardLowering",
    "aie-substitute-shim-dma-allocations": "shim_allocations:SubstituteShimDmaAllocations",
    "aie-unroll-runtime-sequence-loops": "unroll_sequences:UnrollRuntimeSequenceLoops",
    "aie-vector-transfer-lowering": "vector_transfers:LowerVectorTransfers",
    "aiex-standard-lowering": "aiex_standard_lowering:AiexStandardLowering",
    "canonicalize": "generic:Canonicalize",
    "cse": "generic:Cse",
    "lower-affine": "generic:LowerAffine",
}
