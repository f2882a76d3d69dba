import CaromDNS
import CaromTransport

extension UnicastConfiguration {
  /// The path of the system's resolver configuration.
  package static let systemPath = "/etc/resolv.conf"

  private static let override = Locked<UnicastConfiguration?>(nil)

  /// The configuration of this process: the one last passed to `use`, or else the system's current
  /// configuration.
  package static var current: UnicastConfiguration { override.withLock { $0 } ?? system() }

  /// Replaces the system's configuration for this process, or restores it if `configuration` is
  /// nil.
  package static func use(_ configuration: UnicastConfiguration?) {
    override.withLock { $0 = configuration }
  }

  /// Returns the system's current configuration; empty if the file does not exist.
  package static func system(at path: String = systemPath) -> UnicastConfiguration {
    let text = SystemFile.content(of: path, limit: textLimit) ?? []
    let interfaces = (try? Interfaces.list()) ?? []
    return UnicastConfiguration(parsing: text, hostName: HostName.current) { name in
      interfaces.first { $0.name == name }?.index
    }
  }
}
