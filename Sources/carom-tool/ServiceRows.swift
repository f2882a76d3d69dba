import CaromDNS
import CaromDiscovery
import Synchronization

/// What is known of services, as rows and objects.
final class ServiceRows: Sendable {
  static let headings = ["NAME", "INTERFACE", "ADDRESS", "TXT"]

  private let domain: String
  private let interfaces = InterfaceNames()
  private let resolved = Mutex<[Name: ResolvedService]>([:])

  /// Services of a domain.
  init(domain: String) { self.domain = domain }

  /// A change of a browsing.
  func report(_ change: ServiceChange) -> Report {
    let service = change.service
    switch change {
    case .added: return report(.added, service)
    case .updated: return report(.updated, service)
    case .removed:
      defer { resolved.withLock { $0[service.fullName] = nil } }
      return report(.removed, service)
    }
  }

  /// Where a service listens; `nil` where nobody said so.
  func report(_ service: DiscoveredService, at place: ResolvedService?) -> Report {
    guard let place else { return report(.unresolved, service) }
    resolved.withLock { $0[service.fullName] = place }
    return report(.resolved, service)
  }

  /// Where the service of that name listens.
  func report(_ name: String, _ type: ServiceType, at place: ResolvedService) -> Report {
    report(
      .resolved, name, type, key: name, on: place.interface == 0 ? [] : [place.interface],
      place.txt, place)
  }

  private func report(_ event: Report.Event, _ service: DiscoveredService) -> Report {
    let place = resolved.withLock { $0[service.fullName] }
    return report(
      event, service.name, service.type, key: service.fullName.description,
      on: service.interfaces, event == .resolved ? place?.txt ?? service.txt : service.txt, place)
  }

  private func report(
    _ event: Report.Event, _ name: String, _ type: ServiceType, key: String,
    on indices: [UInt32], _ txt: TXTRecord, _ place: ResolvedService?
  ) -> Report {
    let names = interfaces[indices]
    let addresses = (place?.endpoints ?? []).map(\.description)
    var fields: [JSONValue.Field] = [
      .init("name", .string(name)), .init("type", .string(type.description)),
      .init("domain", .string(domain)), .init("interfaces", .strings(names)),
      .init("txt", txt.json),
    ]
    if let place {
      fields.append(.init("host", .string(place.host)))
      fields.append(.init("endpoints", .strings(addresses)))
    }
    return Report(
      event, key,
      cells: [
        name, names.joined(separator: " "), addresses.joined(separator: " "),
        txt.description,
      ], fields)
  }
}

extension TXTRecord {
  /// Values by key: text, null for a key alone, and bytes that are no text as numbers.
  var json: JSONValue {
    .object(
      keys.map { key in
        switch value(for: key) {
        case .bytes(let bytes):
          let text = String(validating: bytes, as: UTF8.self).map(JSONValue.string)
          return .init(key, text ?? .array(bytes.map { .number(Int($0)) }))
        case .none?, nil: return .init(key, .null)
        }
      })
  }
}
