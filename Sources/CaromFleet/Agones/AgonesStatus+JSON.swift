import CaromPlacement

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension AgonesStatus {
  /// A game server as the sidecar describes it; all fields of JSON that have a default may be
  /// missing.
  private struct GameServer: Decodable {
    struct Specification: Decodable { var health: Health? }
    struct Health: Decodable {
      var disabled: Bool?
      var period: Int?

      enum CodingKeys: String, CodingKey {
        case disabled
        case period = "period_seconds"
      }
    }
    struct Status: Decodable {
      var state: String?
      var address: String?
      var ports: [Port]?
    }
    struct Port: Decodable {
      var name: String?
      var port: UInt16?
    }

    var spec: Specification?
    var status: Status?
  }

  /// Reads what the sidecar has answered; nil if that is no game server.
  init?(json: [UInt8]) {
    guard let server = try? JSONDecoder().decode(GameServer.self, from: Data(json)),
      let status = server.status
    else { return nil }
    let health = server.spec?.health
    // A duration has no room for every number.
    let seconds = health?.period.map { Duration.seconds(min(max($0, 1), 1 << 20)) }
    self.init(
      state: status.state ?? "",
      healthPeriod: health?.disabled == true ? nil : seconds ?? AgonesGameServer.defaultPeriod,
      address: status.address ?? "",
      ports: status.ports?.compactMap { port in
        port.port.map { Port(port.name ?? "", $0) }
      } ?? [])
  }
}
