import CaromCore
import CaromSimulation

/// What a guest sends each tick: where it wants its mallet. A newer one replaces an older one.
public struct GuestInput: Hashable, Sendable, PacketCodable {
  /// The guest's own tick, counted from 1; the host keeps only newer ones.
  public var tick: Tick
  /// The guest's clock when it was sent, nanoseconds: for the age of the input.
  public var clock: Instant
  /// The wanted place.
  public var mallet: MalletInput

  /// The input of one tick.
  public init(tick: Tick, clock: Instant, mallet: MalletInput) {
    self.tick = tick
    self.clock = clock
    self.mallet = mallet
  }

  /// Appends tick u64, clock i64 and the mallet's four bytes.
  public func encode(into writer: inout PacketWriter) {
    writer.write(tick.rawValue)
    writer.write(UInt64(bitPattern: clock.nanoseconds))
    mallet.encode(into: &writer)
  }

  /// Reads what `encode(into:)` wrote.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    tick = Tick(try reader.read(UInt64.self))
    clock = Instant(nanoseconds: Int64(bitPattern: try reader.read(UInt64.self)))
    mallet = try MalletInput(decoding: &reader)
  }
}
