import CaromCore
import CaromDNS
import CaromProtocol

extension Sighting {
  /// The strings beside a table's service: `txtvers`, `id`, `status` and `free`.
  ///
  /// They are hints for whoever looks for a table; the handshake decides.
  public var text: TXTRecord {
    [
      "txtvers": "1", "id": id.description, "status": status.rawValue, "free": String(freeSeats),
    ]
  }

  /// Reads a table's strings; `nil` where they are not a table's, or of another version.
  public init?(_ text: TXTRecord) {
    guard text["txtvers"] == "1", let id = text["id"].flatMap({ PeerID($0) }),
      let status = text["status"].flatMap(Status.init(rawValue:)),
      let free = text["free"].flatMap({ Int($0) }), (0...255).contains(free)
    else { return nil }
    self.init(id: id, status: status, freeSeats: free)
  }
}
