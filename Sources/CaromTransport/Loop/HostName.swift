#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What the system calls this host.
public enum HostName {
  /// The name at this moment: "maya" or "maya.example.com"; empty where there is none.
  public static var current: String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&bytes, bytes.count - 1) == 0 else { return "" }
    return String(
      decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
