import CaromCore
import CaromDNS

/// A peer that advertises itself on the network.
public struct NearbyPeer: Hashable, Sendable {
  /// The peer's id, as it says. A connection to the peer proves it.
  public let id: PeerID
  /// The peer's display name. Peers may share a name.
  public let name: String
  /// The key-value pairs with which the peer describes itself.
  public let info: TXTRecord

  /// Creates a description of a peer.
  public init(id: PeerID, name: String, info: TXTRecord = [:]) {
    self.id = id
    self.name = name
    self.info = info
  }

  init(_ record: NearbyRecord) {
    self.init(id: record.id, name: record.name, info: record.info)
  }
}

extension NearbyPeer: CustomStringConvertible {
  /// The peer's name and the beginning of its id, for logs: "Maya (66e55068)".
  public var description: String {
    "\(name.isEmpty ? "unnamed" : name) (\(id.description.prefix(8)))"
  }
}
