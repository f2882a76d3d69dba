import CaromDiscovery
import CaromTransport

/// Which network interfaces this module uses: a setting that Apple's frameworks do not have.
///
/// By default, all interfaces are used that are up and can carry multicast, without loopback,
/// tunnels and those of container software. The environment variable `CAROM_INTERFACES` names
/// others, such as `lo` or `eth0,wlan0`, so that a program need not be changed.
public enum BonjourNetwork {
  private static let names = Locked<[String]?>(nil)

  /// The names of the interfaces to use, such as `["lo"]`. If it is nil, the environment variable
  /// decides. Set it before the first service or browser starts.
  public static var interfaces: [String]? {
    get { names.withLock { $0 } }
    set { names.withLock { $0 = newValue } }
  }

  static var selection: InterfaceSelection {
    let named = interfaces ?? environment
    return named.isEmpty ? .automatic : .named(named)
  }

  private static var environment: [String] {
    PrivateFile.environment("CAROM_INTERFACES")?.split(separator: ",").map { name in
      String(name.drop { $0 == " " })
    } ?? []
  }
}
