import CaromCore

/// The inputs of one player, one per tick without gaps: either received from the network or entered
/// locally.
///
/// A packet carries every input that its receiver has not acknowledged, so a lost packet needs no
/// retransmission and a duplicate input changes nothing. The buffer holds the last `capacity`
/// inputs and allocates nothing after initialization.
public struct InputBuffer<Input: SimulationInput>: Sendable {
  /// The maximum number of stored inputs. No peer can fall that many inputs behind.
  public static var capacity: Int { 256 }

  @usableFromInline var ring: [Input]
  @usableFromInline var first: Tick
  @usableFromInline var next: Tick
  /// The number of received inputs that contradicted a stored input. The stored input remains.
  public private(set) var conflicts = 0

  /// Creates an empty buffer whose first input will belong to tick `start`.
  public init(from start: Tick = .zero) {
    ring = Array(repeating: Input(), count: Self.capacity)
    first = start
    next = start
  }

  /// The tick of the first input ever added.
  @inlinable public var start: Tick { first }
  /// The first tick without an input. The inputs of all earlier ticks are known.
  @inlinable public var end: Tick { next }
  /// The earliest tick whose input is still stored.
  public var oldest: Tick {
    first.distance(to: next) > Int64(Self.capacity)
      ? next.advanced(by: -Int64(Self.capacity)) : first
  }

  /// Accesses the input of `tick`, which must be stored.
  @inlinable public subscript(tick: Tick) -> Input {
    precondition(
      tick < next && tick.distance(to: next) <= Int64(Self.capacity),
      "the input of this tick must be stored")
    return ring[Int(truncatingIfNeeded: tick.rawValue) & (Self.capacity - 1)]
  }

  /// Returns the best available input for `tick`: the actual input if it is known, otherwise the
  /// `held` form of the last known input.
  @inlinable public func input(at tick: Tick) -> Input {
    if tick < next { return self[tick] }
    return next == first ? Input() : self[next.advanced(by: -1)].held
  }

  /// Appends the input of tick `end`.
  @inlinable public mutating func append(_ input: Input) {
    ring[Int(truncatingIfNeeded: next.rawValue) & (Self.capacity - 1)] = input
    next = next.next
  }

  // MARK: Runs

  /// Returns the number of stored inputs before `tick` that can serve as context for a run that
  /// starts at `tick`. `base` is the tick of the receiver's first input, or nil if the receiver has
  /// all inputs.
  func context(before tick: Tick, from base: Tick? = nil) -> Int {
    Int(min(max(oldest, base ?? oldest).distance(to: tick), Int64(InputHeader.fullContext)))
  }

  /// Encodes `count` inputs, starting at `tick`. These inputs and the `context` inputs before them
  /// must be stored.
  func writeRun(
    from tick: Tick, count: Int, context: Int, coder: inout InputCoder<Input>,
    bits: inout BitWriter,
    into writer: inout PacketWriter
  ) {
    prepare(&coder, for: tick, context)
    coder.encode(count, into: &writer, bits: &bits) { self[tick.advanced(by: Int64($0))] }
  }

  /// Decodes `count` inputs, starting at `tick`, into the coder's `run`, without storing them.
  /// Throws `DecodeError.invalid` if the run starts after a gap, or so early that its `context`
  /// inputs are no longer stored.
  func readRun(
    from tick: Tick, count: Int, context: Int, coder: inout InputCoder<Input>,
    bits: inout BitReader, _ reader: inout PacketReader
  ) throws(DecodeError) {
    guard tick >= oldest, tick <= next, oldest.distance(to: tick) >= Int64(context) else {
      throw .invalid(what: "first tick")
    }
    prepare(&coder, for: tick, context)
    try coder.decode(count, from: &reader, bits: &bits)
  }

  /// Stores the new inputs of `run` for ticks before `limit`; `tick` is the tick of the first input
  /// in `run`. Counts the inputs that contradict a stored input.
  mutating func merge(_ run: [Input], from tick: Tick, before limit: Tick) {
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
      coder.update(with: self[at])
      at = at.next
    }
  }
}
