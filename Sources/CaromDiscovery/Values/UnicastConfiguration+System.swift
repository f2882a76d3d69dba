import CaromDNS
import CaromTransport
import Foundation
import Synchronization

extension UnicastConfiguration {
  /// Where the system says which servers it asks.
  package static let systemPath = "/etc/resolv.conf"

  private static let chosen = Mutex<UnicastConfiguration?>(nil)

  /// What this process asks: what it was told to `use`, else what the system says now.
  package static var current: UnicastConfiguration { chosen.withLock { $0 } ?? system() }

  /// From now on this process asks these servers instead of the system's; `nil` for those again.
  package static func use(_ configuration: UnicastConfiguration?) {
    chosen.withLock { $0 = configuration }
  }

  /// What the system says now; nothing where there is no such file.
  package static func system(at path: String = systemPath) -> UnicastConfiguration {
    let file = FileHandle(forReadingAtPath: path)
    let text = (try? file?.read(upToCount: textLimit)) ?? Data()
    let interfaces = (try? Interfaces.list()) ?? []
    return UnicastConfiguration(parsing: Array(text), hostName: HostName.current) { name in
      interfaces.first { $0.name == name }?.index
    }
  }
}
