"""Reading drafting counters from what engines print: one module per format."""
