import CaromCore

/// The routing bytes on a session's datagrams, for a UDP proxy such as Quilkin between the players
/// and the host. The bytes stand outside the encryption. Streams carry none.
///
/// A player sends the bytes that the proxy looks for, and usually removes the same bytes from what
/// comes back:
///
/// ```swift
/// try await Session.join(proxies, as: me, routing: .bothWays(.suffix(token)), loop: loop) { … }
/// ```
///
/// A host needs nothing if the proxy removes the bytes, which is usual. If the proxy keeps them,
/// set `received`.
public struct SessionRouting: Hashable, Sendable {
  /// The bytes on each datagram that the session sends; nil if there are none. They leave less room
  /// for messages in a datagram. A host that sends some sends them to all of its players, so each
  /// of them must remove them.
  public var sent: DatagramRouting?
  /// The bytes that are removed from each received datagram that carries them. Datagrams without
  /// them are accepted too: they may come past the proxy.
  public var received: DatagramRouting?

  /// Creates the routing of a session, which is none if both arguments are nil.
  public init(sent: DatagramRouting? = nil, received: DatagramRouting? = nil) {
    self.sent = sent
    self.received = received
  }

  /// Returns routing with the same bytes on the datagrams of both directions.
  public static func bothWays(_ routing: DatagramRouting) -> SessionRouting {
    SessionRouting(sent: routing, received: routing)
  }

  /// Whether there are no routing bytes.
  var isEmpty: Bool { sent == nil && received == nil }

  /// The number of bytes that are added to each datagram that is sent.
  var sentLength: UInt8 { UInt8(sent?.bytes.count ?? 0) }
}
