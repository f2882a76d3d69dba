#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Access to this host's name.
public enum HostName {
  /// The current host name, such as "maya" or "maya.example.com"; empty if the host has none.
  public static var current: String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&bytes, bytes.count - 1) == 0 else { return "" }
    return String(
      decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
