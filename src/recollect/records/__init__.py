"""Pure data types of the transcript and of the stream, and the step from JSON text to them."""
