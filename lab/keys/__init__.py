"""Key streams: recorded (record.py), kept (stream.py), replayed (engine.py, replay.py); what a hash costs (cost.py)."""
