/// The limits that apply to every rollback session.
public enum SimulationLimits {
  /// The maximum number of players: packets name a player in one byte, and player masks have 64
  /// bits.
  public static let players = 64
  /// The maximum number of integers in an input.
  public static let inputFields = 16
  /// The maximum number of ticks of input in one packet.
  public static let ticksInPacket = 127
  /// The maximum prediction window in ticks: half a second at 60 Hz.
  public static let window = 30
  /// The maximum input delay in ticks.
  public static let inputDelay = 30
}
