import CaromProtocol
import CaromTransport

/// The sockets of one node.
struct NodeSockets {
  var listeners: [TCPListener] = []
  /// The timer that ends a pause of the listeners.
  var acceptingTimer: LoopTimer?
  /// The number of times that the listeners have paused.
  var acceptingPauses: UInt64 = 0
  /// The UDP sockets. A `Route` identifies its socket by the index in this array.
  var datagrams: [UDPSocket] = []
  /// The data channels with pages; nil before the first page asks for one, and after the end.
  var channels: DataChannels?
  var streams: [ConnectionID: TCPStream] = [:]
  /// The accepted streams whose protocol is not known yet, that wait to become connections, or on
  /// which the answer to an HTTP request is being sent.
  var doors = Doors()
  /// The streams that are being closed, kept until they have closed.
  var closing: [ObjectIdentifier: TCPStream] = [:]
  /// The connections whose streams had no room for all of their output.
  var stalled: [ConnectionID] = []

  mutating func closeListeners() {
    for listener in listeners { listener.close() }
    listeners = []
    acceptingTimer?.cancel()
  }

  /// Closes the UDP sockets whose index is `start` or higher.
  mutating func closeDatagrams(from start: Int = 0) {
    for socket in datagrams[start...] { socket.close() }
    datagrams.removeSubrange(start...)
  }
}
