import CaromCore
import CaromDNS

/// What a nearby peer advertises about itself in its service's TXT record: its id, its display
/// name, and the key-value pairs of the application.
///
/// The record is only a hint where a peer may be found. Who the peer is, its connection proves.
struct NearbyRecord: Hashable, Sendable {
  /// The version of the record's format.
  static let version = 1
  /// The keys that the format reserves.
  static let reservedKeys = ["txtvers", "id", "name"]

  var id: PeerID
  /// The display name, at most 63 bytes of UTF-8. The service's own name has the peer's id
  /// appended, so that it is unique and need not be probed for.
  var name: String
  /// The application's key-value pairs, without those of the format.
  var info: TXTRecord

  /// The record as it is advertised: the version, the id, the name, and the application's pairs.
  var text: TXTRecord {
    get throws(TXTRecordError) {
      var text: TXTRecord = ["txtvers": "\(Self.version)", "id": id.description, "name": name]
      for key in info.keys {
        if let value = info.value(for: key) { try text.set(key, to: value) }
      }
      return text
    }
  }

  /// Creates a record for a peer to advertise. The reserved keys of `info` are ignored.
  init(id: PeerID, name: String, info: TXTRecord) {
    self.id = id
    self.name = name
    self.info = info
    for key in Self.reservedKeys { self.info.remove(key) }
  }

  /// Reads a record that another peer advertises. Returns nil if the record has another version, no
  /// id, or no name of at most 63 bytes.
  init?(_ text: TXTRecord) {
    guard text.version == Self.version, let id = text["id"].flatMap({ PeerID($0) }),
      let name = text["name"], name.utf8.count <= PeerID.maximumNameLength
    else { return nil }
    self.init(id: id, name: name, info: text)
  }

  /// The name of the peer's service: the display name, shortened if necessary, and the first 16
  /// digits of the id.
  var serviceName: String {
    let suffix = " \(id.description.prefix(16))"
    var name = name
    while name.utf8.count + suffix.utf8.count > PeerID.maximumNameLength { name.removeLast() }
    return name + suffix
  }
}
