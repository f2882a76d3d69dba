import CaromCore

/// What stands before the inputs of an input packet.
///
/// Layout: u16, whose low 11 bits are those of the first input's tick and whose high 5 bits are the
/// count of inputs, 31 meaning that the count less 31 follows in a byte; a `VarInt` of twice the
/// zig-zagged distance from the first tick to the acknowledged one, plus 1 where a byte of flags
/// follows, which is not 0: bit 0 timing, bit 1 hash, bit 2 context. Timing: u8, how many ticks the
/// newest input lies ahead of the sender's tick, then i16, by how much the sender finds itself
/// ahead of the receiver, sixteenths of a tick. Hash: the `VarInt` of the zig-zagged distance from
/// the first tick to the hash's, then the low 32 bits of the state's hash. Context: u8, how many
/// inputs before the first the packing builds on, 0 to 11; without it they are 12.
public struct InputHeader: Hashable, Sendable, PacketCodable {
  /// What the clocks of peers need.
  public struct Timing: Hashable, Sendable {
    /// How many ticks the newest input lies ahead of the sender's tick.
    public var lead: UInt8
    /// By how much the sender finds itself ahead of the receiver, sixteenths of a tick.
    public var advantage: Int16

    /// Both of them.
    public init(lead: UInt8, advantage: Int16) {
      self.lead = lead
      self.advantage = advantage
    }
  }

  /// The hash of a confirmed state.
  public struct Confirmed: Hashable, Sendable {
    /// Of the tick that many after the packet's first.
    public var offset: Int64
    /// The low half of the state's hash.
    public var hash: UInt32

    /// The hash of a tick.
    public init(offset: Int64, hash: UInt32) {
      self.offset = offset
      self.hash = hash
    }
  }

  /// Ticks repeat after this many in a packet: 34 s at 60 Hz.
  public static let tickRange = UInt64(1) << 11
  /// The largest distances that a header can tell.
  static let farthest: Int64 = 1 << 20

  /// The tick of the first input, modulo `tickRange`.
  public var first: UInt16
  /// How many inputs follow: at most `SimulationLimits.ticksInPacket`.
  public var count: Int
  /// The tick whose input the sender needs next from the receiver, less the first tick.
  public var acknowledged: Int64
  /// What the clocks need, now and then.
  public var timing: Timing?
  /// The newest confirmed state's hash.
  public var confirmed: Confirmed?

  /// How many inputs before the first both sides have, at most `fullContext`.
  public var context = InputHeader.fullContext

  /// The inputs before the first that the packing builds on.
  public static let fullContext = 12

  /// A header for inputs from `first` on.
  public init(first: Tick, count: Int, acknowledged: Tick) {
    precondition((0...SimulationLimits.ticksInPacket).contains(count), "0 to 127 inputs")
    self.first = UInt16(first.rawValue % Self.tickRange)
    self.count = count
    self.acknowledged = first.distance(to: acknowledged)
  }

  /// The first input's tick: the one near `tick` that has the same low bits.
  public func first(near tick: Tick) -> Tick {
    let range = Int64(Self.tickRange)
    var ahead = (Int64(first) - Int64(tick.rawValue % Self.tickRange) + range) % range
    if ahead >= range / 2 { ahead -= range }
    guard ahead < 0, tick.rawValue < UInt64(-ahead) else { return tick.advanced(by: ahead) }
    return tick.advanced(by: ahead + range)
  }

  /// Appends the layout above.
  public func encode(into writer: inout PacketWriter) {
    let short = min(count, 31)
    writer.write(first | UInt16(short) << 11)
    if short == 31 { writer.append(UInt8(count - 31)) }
    let flags: UInt8 =
      (timing == nil ? 0 : 1) | (confirmed == nil ? 0 : 2)
      | (context == Self.fullContext ? 0 : 4)
    writer.writeVarInt(VarInt.zigZag(acknowledged) << 1 | (flags == 0 ? 0 : 1))
    guard flags != 0 else { return }
    writer.append(flags)
    if let timing {
      writer.append(timing.lead)
      writer.write(UInt16(bitPattern: timing.advantage))
    }
    if let confirmed {
      writer.writeVarInt(VarInt.zigZag(confirmed.offset))
      writer.write(confirmed.hash)
    }
    if context != Self.fullContext { writer.append(UInt8(context)) }
  }

  /// Reads the layout above; the inputs follow.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    let word = try reader.read(UInt16.self)
    first = word & 0x7FF
    count = Int(word >> 11)
    if count == 31 { count += Int(try reader.read(UInt8.self)) }
    guard count <= SimulationLimits.ticksInPacket else {
      throw .tooLarge(length: UInt64(count), limit: UInt64(SimulationLimits.ticksInPacket))
    }
    let folded = try reader.readVarInt()
    acknowledged = try Self.distance(folded >> 1)
    guard folded & 1 == 1 else { return }
    let flags: UInt8 = try reader.read()
    guard (1...7).contains(flags) else { throw .invalid(what: "input flags") }
    if flags & 1 != 0 {
      timing = Timing(lead: try reader.read(), advantage: Int16(bitPattern: try reader.read()))
    }
    if flags & 2 != 0 {
      let offset = try Self.distance(try reader.readVarInt())
      confirmed = Confirmed(offset: offset, hash: try reader.read())
    }
    guard flags & 4 != 0 else { return }
    context = Int(try reader.read(UInt8.self))
    guard context < Self.fullContext else { throw .invalid(what: "context") }
  }

  private static func distance(_ folded: UInt64) throws(DecodeError) -> Int64 {
    let distance = VarInt.unZigZag(folded)
    guard distance.magnitude <= UInt64(farthest) else { throw .invalid(what: "tick distance") }
    return distance
  }
}
