import CaromCore
import CaromDNS
import CaromProtocol

extension Sighting {
  /// The TXT record of an advertised match, with the keys `txtvers`, `id`, `status` and `free`.
  ///
  /// The record is a hint for players who look for a match. The handshake decides.
  public var text: TXTRecord {
    [
      "txtvers": "1", "id": id.description, "status": status.rawValue, "free": String(freeSeats),
    ]
  }

  /// Decodes the TXT record of an advertised match. Returns nil if it is not one, or if it has
  /// another version.
  public init?(_ text: TXTRecord) {
    guard text["txtvers"] == "1", let id = text["id"].flatMap({ PeerID($0) }),
      let status = text["status"].flatMap(Status.init(rawValue:)),
      let free = text["free"].flatMap({ Int($0) }), (0...255).contains(free)
    else { return nil }
    self.init(id: id, status: status, freeSeats: free)
  }
}
