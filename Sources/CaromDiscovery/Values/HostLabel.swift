import CaromDNS
import CaromTransport

/// The label under which this host's addresses are published: ASCII letters, digits and hyphens.
package enum HostLabel {
  /// The suffix that is appended to the system's host name. The plain name belongs to the system's
  /// own responder, which may publish other addresses under it and would report a conflict. All
  /// processes that use this package publish the same addresses and so share the name.
  package static let suffix = "-carom"

  /// Returns the first label of the host name, such as "maya" for "maya.example.com", or "host" if
  /// the label is not a valid instance name.
  package static func systemName(from hostName: String) -> String {
    let first = hostName.split(separator: ".").first.map(String.init) ?? ""
    return (try? InstanceName.validate(first)) == nil ? "host" : first
  }

  /// Returns a label that no other host has: that of this host and 64 random bits in hexadecimal.
  package static func makeUnique() -> String {
    let bits = String(UInt64.random(in: .min ... .max), radix: 16)
    let token = String(repeating: "0", count: 16 - bits.count) + bits
    return make(from: HostName.current).prefix(46) + "-" + token
  }

  /// Returns the label for a host name, such as "maya-carom" for "maya.example.com".
  package static func make(from hostName: String) -> String {
    let first = hostName.split(separator: ".").first ?? ""
    let allowed = first.prefix(63 - suffix.count).map { character in
      character.isASCII && (character.isLetter || character.isNumber) ? character : "-"
    }
    let trimmed = String(allowed).split(separator: "-").joined(separator: "-")
    return (trimmed.isEmpty ? "host" : trimmed) + suffix
  }
}
