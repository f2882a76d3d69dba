import CaromDiscovery
import CaromNearby

/// Which network interfaces this module uses: a setting that Apple's frameworks do not have.
///
/// By default, all interfaces are used that are up and can carry multicast, without loopback,
/// tunnels and those of container software. The environment variable `CAROM_INTERFACES` names
/// others, such as `lo` or `eth0,wlan0`, so that a program need not be changed.
public enum BonjourNetwork {
  private static let setting = InterfaceSetting()

  /// The names of the interfaces to use, such as `["lo"]`. If it is nil, the environment variable
  /// decides. Set it before the first service or browser starts.
  public static var interfaces: [String]? {
    get { setting.names }
    set { setting.names = newValue }
  }

  static var selection: InterfaceSelection { setting.selection }
}
