"""Builder, and what it makes of a network and a configuration for tenfold.build()."""
