/// What the server's side of a run came to.
struct FramesServerFigures: Sendable {
  var seconds = 0.0
  /// Ticks made, and due ticks that were not.
  var ticks = 0
  var lostTicks = 0
  var lateness: [Duration] = []
  var bytesSent = 0
  var bytesReceived = 0
  var cpuNanoseconds = 0
  var allocations = 0
}
