import CaromCore

/// A remote endpoint and the local socket that sends datagrams to it and receives datagrams from
/// it.
package struct Route: Hashable, Sendable {
  package var endpoint: Endpoint
  /// The index of the local socket. The owner of the sockets numbers them from 0.
  package var socket: Int

  package init(_ endpoint: Endpoint, socket: Int = 0) {
    self.endpoint = endpoint
    self.socket = socket
  }
}
