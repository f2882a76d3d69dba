import CaromCore

/// The host's name servers and search domains, as in resolv.conf(5).
package struct UnicastConfiguration: Hashable, Sendable {
  /// The maximum number of bytes of resolv.conf that are read.
  package static let textLimit = 65_536
  /// The maximum number of name servers, which are queried one after another.
  package static let serverLimit = UnicastResolver.serverLimit
  /// The maximum number of search domains. Five queries for recommended domains are sent in each.
  package static let domainLimit = 16
  /// The port of name servers.
  package static let port: UInt16 = 53

  /// The name servers, in order of preference.
  package var servers: [Endpoint]
  /// The search domains, in order of preference, without link-local ones.
  package var domains: [Name]

  /// Creates a configuration.
  package init(servers: [Endpoint] = [], domains: [Name] = []) {
    self.servers = servers
    self.domains = domains
  }

  /// Creates a configuration from the text of resolv.conf. Unknown options are skipped. If the file
  /// sets no domains, the part of `hostName` after its first dot is used. `interfaceIndex` returns
  /// the index of an interface by its name, for link-local server addresses.
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
      // If there are several such lines, the last one applies.
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
