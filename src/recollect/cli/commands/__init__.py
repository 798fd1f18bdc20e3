"""The commands, one module each: arguments, a call to the layer below, and output."""
