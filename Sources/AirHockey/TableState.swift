import CaromCore
import CaromSimulation

/// What a host sends each tick: everything but the guest's own mallet. A newer one replaces an
/// older one.
public struct TableState: Hashable, Sendable, PacketCodable {
  /// The host's clock when the tick was made, nanoseconds: for the age of the state.
  public var clock: Instant
  /// The guest's tick whose input this state holds; 0 before the first.
  public var inputTick: Tick
  /// The match; the away mallet in it is a placeholder, since its owner knows better.
  public var rink: RinkState

  /// The state of one tick.
  public init(clock: Instant, inputTick: Tick, rink: RinkState) {
    self.clock = clock
    self.inputTick = inputTick
    self.rink = rink
  }

  /// Appends clock i64, input tick u64 and the rink's state without the away mallet.
  public func encode(into writer: inout PacketWriter) {
    writer.write(UInt64(bitPattern: clock.nanoseconds))
    writer.write(inputTick.rawValue)
    rink.encode(into: &writer, omitting: .away)
  }

  /// Reads what `encode(into:)` wrote.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    clock = Instant(nanoseconds: Int64(bitPattern: try reader.read(UInt64.self)))
    inputTick = Tick(try reader.read(UInt64.self))
    rink = try RinkState(decoding: &reader)
  }
}
