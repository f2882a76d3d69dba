/// The server's results of one run.
struct FramesServerFigures: Sendable {
  var seconds = 0.0
  /// The ticks that were made (`ticks`), and the due ticks that were skipped (`lostTicks`).
  var ticks = 0
  var lostTicks = 0
  /// Clients whose connection closed before the run ended.
  var lostClients = 0
  /// How late each measured tick was made.
  var lateness: [Duration] = []
  var bytesSent = 0
  var bytesReceived = 0
  var cpuNanoseconds = 0
  var allocations = 0
}
