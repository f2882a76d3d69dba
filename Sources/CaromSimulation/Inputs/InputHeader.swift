import CaromCore

/// The header of an input packet.
///
/// Layout: a u16 with the low 11 bits of the first input's tick in its low bits and the number of
/// inputs in its high 5 bits, where 31 means that a byte with the number minus 31 follows; a
/// `VarInt` of twice the zig-zag encoded distance from the first tick to the acknowledged tick,
/// plus 1 if a byte of flags follows. That byte is not 0: bit 0 timing, bit 1 hash, bit 2 context.
/// Timing: u8, the number of ticks by which the newest input is ahead of the sender's tick, then
/// i16, the sender's advantage over the receiver in sixteenths of a tick. Hash: a `VarInt` of the
/// zig-zag encoded distance from the first tick to the hash's tick, then the low 32 bits of the
/// state's hash. Context: u8, the number of earlier inputs that the encoding builds on, 0 to 11; it
/// is 12 if this field is absent.
public struct InputHeader: Hashable, Sendable, PacketCodable {
  /// Measurements that a peer needs to adjust its clock.
  public struct Timing: Hashable, Sendable {
    /// The number of ticks by which the newest input is ahead of the sender's tick. In a packet
    /// from a server, it is the mean deviation of the arrival margins of the receiver's inputs, in
    /// sixteenths of a tick.
    public var lead: UInt8
    /// How far the sender's clock is ahead of the receiver's, in sixteenths of a tick. In a packet
    /// from a server, it is how early the receiver's inputs arrive on average, in the same unit.
    public var advantage: Int16

    /// Creates the measurements that a packet carries.
    public init(lead: UInt8, advantage: Int16) {
      self.lead = lead
      self.advantage = advantage
    }
  }

  /// The hash of a confirmed state.
  public struct Confirmed: Hashable, Sendable {
    /// The tick of the hashed state, as a distance in ticks from the packet's first tick.
    public var offset: Int64
    /// The low 32 bits of the state's hash.
    public var hash: UInt32

    /// Creates the hash of the state `offset` ticks after the packet's first tick.
    public init(offset: Int64, hash: UInt32) {
      self.offset = offset
      self.hash = hash
    }
  }

  /// The number of ticks that the low 11 bits of a tick can distinguish: 2,048 ticks, 34 s at 60
  /// Hz.
  public static let tickRange = UInt64(1) << 11
  /// The maximum magnitude, in ticks, of an offset from the first input's tick in a header.
  static let farthest: Int64 = 1 << 20

  /// The low 11 bits of the first input's tick.
  public var first: UInt16
  /// The number of inputs that follow, at most `SimulationLimits.ticksInPacket`.
  public var count: Int
  /// The number of ticks from the first input's tick to the next tick whose input the sender needs
  /// from the receiver.
  public var acknowledged: Int64
  /// The clock measurements, or nil. Not every packet carries them.
  public var timing: Timing?
  /// The hash of the newest confirmed state, or nil. Not every packet carries one.
  public var confirmed: Confirmed?

  /// The number of earlier inputs from which the encoding predicts the new ones, at most
  /// `fullContext`. Both sides must have these inputs.
  public var context = InputHeader.fullContext

  /// The maximum of `context`. Also its value in a packet without the context field.
  public static let fullContext = 12

  /// Creates a header for `count` inputs that start at tick `first`. `acknowledged` is the tick
  /// whose input the sender needs next.
  public init(first: Tick, count: Int, acknowledged: Tick) {
    precondition(
      (0...SimulationLimits.ticksInPacket).contains(count), "a packet must hold 0 to 127 inputs")
    self.first = UInt16(first.rawValue % Self.tickRange)
    self.count = count
    self.acknowledged = first.distance(to: acknowledged)
  }

  /// Returns the tick of the first input: of the ticks whose low bits are `first`, the one closest
  /// to `tick`.
  public func first(near tick: Tick) -> Tick {
    let range = Int64(Self.tickRange)
    var ahead = (Int64(first) - Int64(tick.rawValue % Self.tickRange) + range) % range
    if ahead >= range / 2 { ahead -= range }
    guard ahead < 0, tick.rawValue < UInt64(-ahead) else { return tick.advanced(by: ahead) }
    return tick.advanced(by: ahead + range)
  }

  /// Appends the header in the layout documented at `InputHeader`.
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

  /// Creates a header by decoding the layout documented at `InputHeader`. The encoded inputs remain
  /// in `reader`.
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
