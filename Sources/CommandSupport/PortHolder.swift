import CaromTransport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Finds the programs that have a UDP port open, as far as this process is permitted to see them.
/// Finds none on systems other than Linux.
enum PortHolder {
  /// The maximum number of bytes to read from a list of sockets: enough for about 100,000 sockets.
  private static let textLimit = 16 << 20

  /// Returns the other programs that have the port open, such as "avahi-daemon (812)".
  static func names(_ port: UInt16) -> [String] {
    let inodes = Set(["/proc/net/udp", "/proc/net/udp6"].flatMap { sockets(port, in: $0) })
    guard !inodes.isEmpty else { return [] }
    return SystemFile.names(in: "/proc").compactMap { Int32($0) }.sorted()
      .filter { $0 != getpid() && holds($0, inodes) }
      .map { "\(name($0)) (\($0))" }
  }

  /// Returns the inodes of the sockets that are bound to the port.
  private static func sockets(_ port: UInt16, in path: String) -> [String] {
    let digits = String(port, radix: 16, uppercase: true)
    let ending = ":" + String(repeating: "0", count: 4 - digits.count) + digits
    return text(path).split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count > 9, fields[1].hasSuffix(ending) else { return nil }
      return String(fields[9])
    }
  }

  private static func holds(_ process: Int32, _ inodes: Set<String>) -> Bool {
    let folder = "/proc/\(process)/fd"
    return SystemFile.names(in: folder).contains { file in
      guard let target = SystemFile.target(ofLink: "\(folder)/\(file)"),
        target.hasPrefix("socket:["), target.hasSuffix("]")
      else { return false }
      return inodes.contains(String(target.dropFirst(8).dropLast()))
    }
  }

  private static func name(_ process: Int32) -> String {
    String(text("/proc/\(process)/comm").prefix { $0 != "\n" })
  }

  private static func text(_ path: String) -> String {
    String(decoding: SystemFile.content(of: path, limit: textLimit) ?? [], as: UTF8.self)
  }
}
