import CaromCore

/// The remote endpoint of datagrams, and the local socket that they are sent and received on.
package struct Route: Hashable, Sendable {
  package var endpoint: Endpoint
  /// The index of the socket; the owner of the sockets numbers them from 0.
  package var socket: Int

  package init(_ endpoint: Endpoint, socket: Int = 0) {
    self.endpoint = endpoint
    self.socket = socket
  }
}
