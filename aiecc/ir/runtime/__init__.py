"""What the passes over runtime sequences have in common. The passes stand in `aiecc/ir/passes`, one file each."""
