import CaromCore

/// Which name servers this host asks, and in which domains its people are at home, as
/// resolv.conf(5) says.
package struct UnicastConfiguration: Hashable, Sendable {
  /// Bytes of the file that are read.
  package static let textLimit = 65_536
  /// Servers that are kept, in order; they are asked one after the other.
  package static let serverLimit = UnicastResolver.serverLimit
  /// Search domains that are kept, in order: each costs five questions when domains are listed.
  package static let domainLimit = 16
  /// The port of name servers.
  package static let port: UInt16 = 53

  /// The servers, the preferred first.
  package var servers: [Endpoint]
  /// The search domains, the preferred first; none that belongs to the link.
  package var domains: [Name]

  /// These servers and domains.
  package init(servers: [Endpoint] = [], domains: [Name] = []) {
    self.servers = servers
    self.domains = domains
  }

  /// Reads the file's text; what it does not understand is skipped. Without a line of domains
  /// the host's own is taken, which is what follows the first dot of `hostName`.
  /// `interfaceIndex` finds the interface that a link-local server's address names.
  package init(
    parsing text: [UInt8], hostName: String = "", interfaceIndex: (String) -> UInt32? = { _ in nil }
  ) {
    self.init()
    var domains: [Substring]?
    let text = String(decoding: text.prefix(Self.textLimit), as: UTF8.self)
    for line in text.split(whereSeparator: \.isNewline) {
      let words = line.split { $0 == " " || $0 == "\t" }
      switch words.first {
      case "nameserver" where words.count > 1 && servers.count < Self.serverLimit:
        guard let address = Self.address(words[1], interfaceIndex) else { continue }
        servers.append(Endpoint(address, port: Self.port))
      // Of several lines the last counts.
      case "search": domains = Array(words.dropFirst())
      case "domain": domains = Array(words.dropFirst().prefix(1))
      default: continue
      }
    }
    self.domains = Self.names(domains ?? Self.ownDomain(hostName))
  }

  private static func address(
    _ text: Substring, _ interfaceIndex: (String) -> UInt32?
  ) -> IPAddress? {
    if let address = IPAddress(text) { return address }
    let parts = text.split(separator: "%", maxSplits: 1)
    guard parts.count == 2, let address = IPAddress(parts[0]), address.isLinkLocal,
      let index = interfaceIndex(String(parts[1]))
    else { return nil }
    return address.scoped(to: index)
  }

  private static func ownDomain(_ hostName: String) -> [Substring] {
    guard let dot = hostName.firstIndex(of: ".") else { return [] }
    return [hostName[hostName.index(after: dot)...]]
  }

  private static func names(_ texts: [Substring]) -> [Name] {
    var seen: Set<Name> = [.root]
    let names = texts.compactMap { try? Name(text: String($0)) }
      .filter { !$0.isLinkLocal && seen.insert($0).inserted }
    return Array(names.prefix(domainLimit))
  }
}
