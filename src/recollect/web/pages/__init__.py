"""The pages: functions from typed parameters to a template and its frozen context."""
