import CaromDNS
import CaromTransport
import Foundation

extension UnicastConfiguration {
  /// Where the system says which servers it asks.
  package static let systemPath = "/etc/resolv.conf"

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
