import CaromDNS
import CaromDiscovery
import CaromTransport

/// Converts the state of an advertised service to reports.
final class PublishedRows: Sendable {
  static let headings = ["NAME", "TYPE", "PORT", "INTERFACE", "TXT"]

  private struct State {
    var name: String
    var record: TXTRecord
  }

  let service: AdvertisedService
  private let interfaces: [String]
  private let state: Locked<State>

  init(_ service: AdvertisedService, on interfaces: [String]) {
    self.service = service
    self.interfaces = interfaces
    state = Locked(State(name: service.name, record: service.txt))
  }

  /// The TXT record with all changes made so far.
  var record: TXTRecord { state.withLock { $0.record } }

  /// Applies a change to the TXT record. `line` has the form that `TXTPair` describes.
  func change(_ line: String) throws {
    try state.withLock { try TXTPair(line, removes: true).apply(to: &$0.record) }
  }

  /// Returns the report of an event. `newName`, if not nil, becomes the service's name in this and
  /// all later reports.
  func report(_ event: Report.Event, as newName: String? = nil) -> Report {
    let (name, record) = state.withLock { state in
      state.name = newName ?? state.name
      return (state.name, state.record)
    }
    return Report(
      event, "service",
      cells: [
        name, service.type.description, "\(service.port)", interfaces.joined(separator: " "),
        record.description,
      ],
      [
        .init("name", .string(name)), .init("type", .string(service.type.description)),
        .init("port", .number(Int(service.port))), .init("interfaces", .strings(interfaces)),
        .init("txt", record.json),
      ])
  }
}
