"""What a design with objectFifos means, before any of it is lowered.

`meaning.meaning` runs a design as its fifos stand in the source: queues of objects, cores that acquire and release
them, streams in between. `plan` says by the specification's rules what holds how many objects, `store` is such a place,
`ends` move objects over streams, `wiring` puts them together, `access` gives cores theirs. Nothing here knows how the
lowering does it, so what both say of one design can be compared.
"""
