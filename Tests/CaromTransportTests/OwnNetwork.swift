#if os(Linux)
  import Glibc
  import Testing

  /// A network namespace for the calling thread alone, empty but for a loopback that is down.
  enum OwnNetwork {
    /// What it takes: root, and the tools.
    static let isPossible = geteuid() == 0 && tools.contains { unsafe access($0, X_OK) == 0 }
    private static let tools: [String] = ["/sbin/ip", "/usr/sbin/ip", "/bin/ip", "/usr/bin/ip"]

    /// Moves the calling thread there (`unshare(CLONE_NEWNET)`); false where that is forbidden.
    static func enter() -> Bool {
      guard let symbol = unsafe dlsym(nil, "unshare") else { return false }
      typealias Unshare = @convention(c) (Int32) -> Int32
      let unshare = unsafe unsafeBitCast(symbol, to: Unshare.self)
      return unshare(0x4000_0000) == 0
    }

    /// Runs lines of `ip` there, and returns when they are done.
    static func ip(_ lines: String...) { ip(lines) }

    static func ip(_ lines: [String]) {
      let script = "ip -batch - <<'END'\n\(lines.joined(separator: "\n"))\nEND"
      #expect(unsafe system(script) == 0)
    }

    /// A cable with the ends "near" and "far", both up.
    static func addCable() {
      ip("link add near type veth peer name far", "link set near up", "link set far up")
    }
  }
#endif
