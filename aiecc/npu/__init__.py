"""Runtime words: descriptors, queue commands and transactions, to the bit and back. Nothing here knows the IR.

`bits` packs fields, `bd` has the descriptors' layouts, `txn` the operations, `registers` what an address means,
`disasm` all of it as text.
"""
