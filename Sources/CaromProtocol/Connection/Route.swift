import CaromCore

/// Where a datagram goes, and by which of the shell's sockets.
package struct Route: Hashable, Sendable {
  package var endpoint: Endpoint
  /// The shell numbers its sockets from 0.
  package var socket: Int

  package init(_ endpoint: Endpoint, socket: Int = 0) {
    self.endpoint = endpoint
    self.socket = socket
  }
}
