@_exported import CaromSession
// Only what the signatures name: all of CoreMetrics would add a second `Timer` beside Foundation's.
@_exported import protocol CoreMetrics.MetricsFactory
@_exported import struct Logging.Logger
