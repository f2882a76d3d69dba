import CaromCore

/// The endpoints and the TXT record of a resolved service.
package struct Resolution: Hashable, Sendable {
  /// The full name of the service, as written in its SRV record.
  package var name: Name
  /// The name of the host that offers the service.
  package var host: Name
  /// The endpoints to connect to, in order of preference. Link-local IPv6 addresses carry their
  /// scope.
  package var endpoints: [Endpoint]
  /// The TXT record, which is empty if the service has none.
  package var text: TXTRecord
  /// The index of the interface on which the service was found, or zero if a name server supplied
  /// it.
  package var interface: UInt32

  /// Returns whether `other` has the same TXT record, interface and endpoints. The order of the
  /// endpoints is ignored, because it is random among servers of equal priority.
  package func isEquivalent(to other: Resolution) -> Bool {
    text == other.text && interface == other.interface
      && Set(endpoints) == Set(other.endpoints)
  }
}
