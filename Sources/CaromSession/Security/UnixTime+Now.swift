import CaromCrypto
import CaromTransport

extension UnixTime {
  /// The current time of the system's wall clock.
  public static var now: UnixTime { UnixTime(milliseconds: WallClock.milliseconds) }
}
