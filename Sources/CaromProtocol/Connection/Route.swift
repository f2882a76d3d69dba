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

  /// What the indices of sockets have in common through which data channels run.
  private static let dataChannelBit = 1 << 30

  /// The route of a page to its host. There is one, and what is below it is known to the browser
  /// alone.
  package static let hostOfPage = Route(throughChannel: Endpoint(.any4, port: 0), socket: 0)

  /// Creates the route through the WebRTC data channel with the peer at `endpoint`, which runs
  /// through `socket`. Apart from that, such a route is like that through the socket alone.
  package init(throughChannel endpoint: Endpoint, socket: Int) {
    self.init(endpoint, socket: socket | Self.dataChannelBit)
  }

  /// Whether a data channel carries the datagrams.
  package var isDataChannel: Bool { socket & Self.dataChannelBit != 0 }
}
