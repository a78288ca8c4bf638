"""One file per pass, named as upstream names it."""
