import CaromDNS

/// The name under which this host's addresses stand: one label of ASCII letters, digits and
/// hyphens.
package enum HostLabel {
  /// Behind the system's name. The bare name belongs to the system's own responder, which may
  /// publish other addresses under it and would take ours for another host's. Processes that
  /// use this package publish the same ones, so that they share the name.
  package static let suffix = "-carom"

  /// What people call the host: "maya.example.com" is "maya".
  package static func systemName(from hostName: String) -> String {
    let first = hostName.split(separator: ".").first.map(String.init) ?? ""
    return (try? InstanceName.validate(first)) == nil ? "host" : first
  }

  /// The label of the system's host name: "maya.example.com" to "maya-carom".
  package static func make(from hostName: String) -> String {
    let first = hostName.split(separator: ".").first ?? ""
    let allowed = first.prefix(63 - suffix.count).map { character in
      character.isASCII && (character.isLetter || character.isNumber) ? character : "-"
    }
    let trimmed = String(allowed).split(separator: "-").joined(separator: "-")
    return (trimmed.isEmpty ? "host" : trimmed) + suffix
  }
}
