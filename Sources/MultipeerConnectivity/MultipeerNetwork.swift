import CaromDiscovery
import CaromNearby

/// Which network interfaces this module uses: a setting that Apple's framework does not have.
///
/// By default, all interfaces are used that are up and can carry multicast, without loopback,
/// tunnels and those of container software. The environment variable `CAROM_INTERFACES` names
/// others, such as `lo` or `eth0,wlan0`, so that a program need not be changed.
public enum MultipeerNetwork {
  /// The name of the environment variable with the names of interfaces, separated by commas.
  public static let environmentVariable = InterfaceSetting.environmentVariable

  private static let setting = InterfaceSetting()

  /// The names of the interfaces to use, such as `["lo"]`. If it is nil, the environment variable
  /// decides. Set it before the first session, advertiser or browser starts; a later change
  /// concerns only own ids that were not used yet.
  public static var interfaces: [String]? {
    get { setting.names }
    set { setting.names = newValue }
  }

  static var selection: InterfaceSelection { setting.selection }
}
