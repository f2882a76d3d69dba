#if os(Linux)
  import Glibc
  import Testing

  /// A network namespace for the calling thread only, empty except for a loopback that is down.
  enum OwnNetwork {
    /// Whether the test runs as root and has the `ip` tool.
    static let isPossible = geteuid() == 0 && tools.contains { unsafe access($0, X_OK) == 0 }
    private static let tools: [String] = ["/sbin/ip", "/usr/sbin/ip", "/bin/ip", "/usr/bin/ip"]

    /// Moves the calling thread into a new namespace (`unshare(CLONE_NEWNET)`). Returns false if
    /// that is not permitted.
    static func enter() -> Bool {
      guard let symbol = unsafe dlsym(nil, "unshare") else { return false }
      typealias Unshare = @convention(c) (Int32) -> Int32
      let unshare = unsafe unsafeBitCast(symbol, to: Unshare.self)
      return unshare(0x4000_0000) == 0
    }

    /// Runs commands of the `ip` tool in the thread's namespace.
    static func ip(_ lines: String...) { ip(lines) }

    static func ip(_ lines: [String]) {
      let script = "ip -batch - <<'END'\n\(lines.joined(separator: "\n"))\nEND"
      #expect(unsafe system(script) == 0)
    }

    /// Creates a pair of connected interfaces, "near" and "far", which are both up.
    static func addCable() {
      ip("link add near type veth peer name far", "link set near up", "link set far up")
    }
  }
#endif
