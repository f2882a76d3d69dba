import CaromDNS
import CaromDiscovery

/// A service type as it is written on the command line, such as `_http._tcp`. A subtype may stand
/// before the type, as in `_printer._sub._http._tcp`, or after it and a comma, as dns-sd writes it.
/// A domain may follow, as in `_http._tcp.local`.
struct TypeArgument: Equatable {
  let type: ServiceType
  var subtype: String?
  var domain: Name?

  init(_ text: String) throws {
    let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
    guard var labels = try? Name(text: String(parts[0])).labels.map(Self.text) else {
      throw CommandFailure.type(text)
    }
    if parts.count == 2 { subtype = String(parts[1]) }
    if labels.count >= 4, labels[1].lowercased() == "_sub" {
      guard subtype == nil else { throw CommandFailure.type(text) }
      subtype = labels[0]
      labels.removeFirst(2)
    }
    let isQualified = labels.count > 2 && labels[0].hasPrefix("_") && labels[1].hasPrefix("_")
    type = try ServiceType(labels.prefix(isQualified ? 2 : labels.count).joined(separator: "."))
    if isQualified { domain = try Name(labels: labels.dropFirst(2).map { Array($0.utf8) }) }
  }

  private static func text(_ label: [UInt8]) -> String { String(decoding: label, as: UTF8.self) }

  /// Returns the domain that is given in `texts` or as `qualified`, the domain of a type, or
  /// "local" if no domain is given. Throws if two of the given domains differ.
  static func domain(_ texts: [String?], _ qualified: Name? = nil) throws -> Name {
    let given =
      try texts.compactMap { $0 }.map(CommandFailure.domain) + [qualified].compactMap { $0 }
    guard let first = given.first else { return "local" }
    for other in given where other != first {
      throw CommandFailure(.usage, "two domains are given, '\(first)' and '\(other)': use one")
    }
    return first
  }
}

extension CommandFailure {
  fileprivate static func type(_ text: String) -> CommandFailure {
    CommandFailure(.badName, "'\(text)' is not a service type: write it like _http._tcp")
  }
}
