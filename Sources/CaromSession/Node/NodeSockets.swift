import CaromProtocol
import CaromTransport

/// The sockets of one node.
struct NodeSockets {
  var listeners: [TCPListener] = []
  /// UDP sockets. A `Route` refers to its socket by the index in this array.
  var datagrams: [UDPSocket] = []
  var streams: [ConnectionID: TCPStream] = [:]
  /// Streams that are being closed, stored until they have closed.
  var closing: [ObjectIdentifier: TCPStream] = [:]
  /// Connections whose stream had no room for all of their output.
  var stalled: [ConnectionID] = []

  mutating func closeListeners() {
    for listener in listeners { listener.close() }
    listeners = []
  }

  /// Closes the UDP sockets whose index is `start` or higher.
  mutating func closeDatagrams(from start: Int = 0) {
    for socket in datagrams[start...] { socket.close() }
    datagrams.removeSubrange(start...)
  }
}
