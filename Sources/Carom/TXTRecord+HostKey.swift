import CaromCrypto
import CaromDNS

extension TXTRecord {
  /// The public key that a host advertises under the key `key`, as 64 hexadecimal digits; nil if
  /// there is none.
  ///
  /// A client that knows the host's key beforehand saves a round trip (see `Session.join`). Anybody
  /// on the network can advertise any key, so it proves nothing: whether the client trusts the host
  /// depends on the key that the host proves to have.
  public var hostKey: PublicKey? {
    get { self["key"].flatMap { PublicKey($0) } }
    set {
      remove("key")
      if let newValue { self["key"] = newValue.description }
    }
  }
}
