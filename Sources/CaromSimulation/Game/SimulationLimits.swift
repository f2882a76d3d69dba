/// The bounds that rollback play has everywhere.
public enum SimulationLimits {
  /// The most players of one simulation: packets name them in a byte, and masks have 64 bits.
  public static let players = 64
  /// The most fields of an input.
  public static let inputFields = 16
  /// The most ticks of inputs in one packet.
  public static let ticksInPacket = 127
  /// The most ticks that may be predicted: half a second at 60 Hz.
  public static let window = 30
  /// The longest input delay, ticks.
  public static let inputDelay = 30
}
