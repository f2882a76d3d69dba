import CaromCore

/// One player's inputs, a tick each, without a gap: those that came, or those that were made.
///
/// A packet carries every input that its receiver has not acknowledged, so that an input is never
/// lost and none is ever waited for twice; a second copy of an input changes nothing. The last
/// `capacity` inputs are kept, and nothing is allocated after the beginning.
public struct InputBuffer<Input: SimulationInput>: Sendable {
  /// How many inputs are kept: more than the newest that a peer can lack, by far.
  public static var capacity: Int { 256 }

  @usableFromInline var ring: [Input]
  @usableFromInline var first: Tick
  @usableFromInline var next: Tick
  /// How many inputs contradicted one that was there, which stayed.
  public private(set) var conflicts = 0

  /// An empty buffer: the input of tick `start` comes first.
  public init(from start: Tick = .zero) {
    ring = Array(repeating: Input(), count: Self.capacity)
    first = start
    next = start
  }

  /// The tick of the first input that there ever was.
  @inlinable public var start: Tick { first }
  /// The tick whose input is missing next: every earlier one is known.
  @inlinable public var end: Tick { next }
  /// The earliest tick whose input is still kept.
  public var oldest: Tick {
    first.distance(to: next) > Int64(Self.capacity)
      ? next.advanced(by: -Int64(Self.capacity)) : first
  }

  /// The input of a tick that is kept.
  @inlinable public subscript(tick: Tick) -> Input {
    precondition(tick < next && tick.distance(to: next) <= Int64(Self.capacity), "a kept tick")
    return ring[Int(truncatingIfNeeded: tick.rawValue) & (Self.capacity - 1)]
  }

  /// What the player does at `tick` as far as is known: the input itself, or the last one held.
  @inlinable public func input(at tick: Tick) -> Input {
    if tick < next { return self[tick] }
    return next == first ? Input() : self[next.advanced(by: -1)].held
  }

  /// Adds the input of tick `end`.
  @inlinable public mutating func append(_ input: Input) {
    ring[Int(truncatingIfNeeded: next.rawValue) & (Self.capacity - 1)] = input
    next = next.next
  }

  // MARK: Runs

  /// How many inputs before `tick` a run from there can build on, where the receiver has those
  /// from `base` on.
  func context(before tick: Tick, from base: Tick? = nil) -> Int {
    Int(min(max(first, base ?? first).distance(to: tick), Int64(InputHeader.fullContext)))
  }

  /// Appends `count` inputs from `tick` on in packed form; they and the context have to be kept.
  func writeRun(
    from tick: Tick, count: Int, context: Int, coder: inout InputCoder<Input>,
    bits: inout InputBitWriter,
    into writer: inout PacketWriter
  ) {
    prepare(&coder, for: tick, context)
    coder.encode(count, into: &writer, bits: &bits) { self[tick.advanced(by: Int64($0))] }
  }

  /// Reads `count` inputs from `tick` on into the coder's `run`: nothing is kept yet. A run that
  /// begins after a gap, or before what is kept, is `invalid`.
  func readRun(
    from tick: Tick, count: Int, context: Int, coder: inout InputCoder<Input>,
    bits: inout InputBitReader, _ reader: inout PacketReader
  ) throws(DecodeError) {
    guard tick >= oldest, tick <= next, oldest.distance(to: tick) >= Int64(context) else {
      throw .invalid(what: "first tick")
    }
    prepare(&coder, for: tick, context)
    try coder.decode(count, from: &reader, bits: &bits)
  }

  /// Keeps those of `run`, from `tick` on, that are new and before `limit`.
  mutating func take(_ run: [Input], from tick: Tick, before limit: Tick) {
    var at = tick
    for input in run {
      if at == next, at < limit {
        append(input)
      } else if at < next, at >= oldest, self[at] != input {
        conflicts += 1
      }
      at = at.next
    }
  }

  private func prepare(_ coder: inout InputCoder<Input>, for tick: Tick, _ context: Int) {
    coder.reset()
    var at = tick.advanced(by: -Int64(context))
    while at < tick {
      coder.note(self[at])
      at = at.next
    }
  }
}
