import CaromCore

/// Where a service listens, and its strings.
package struct Resolution: Hashable, Sendable {
  /// Its host's name.
  package var host: Name
  /// Where to connect to, the best first: link-local IPv6 addresses carry their scope.
  package var endpoints: [Endpoint]
  /// Its strings; empty where it has none.
  package var text: TXTRecord
  /// The interface that it was heard on.
  package var interface: UInt32
}
