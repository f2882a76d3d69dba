/// What a world's clients get.
public struct WorldConfiguration: Hashable, Sendable {
  /// What the entities' values mean.
  public var schema: EntitySchema
  /// What a client sees around its focus; `nil` where everybody sees everything.
  public var area: InterestArea?
  /// Ticks a second.
  public var ticksPerSecond: Int
  /// The most bytes of a snapshot: it shares a datagram with nothing larger than a header.
  public var snapshotLimit: Int
  /// Bytes a second that a client gets at most, snapshots alone; `nil` for as many as it takes.
  public var bandwidth: Int?

  /// A world of these entities.
  public init(
    schema: EntitySchema, area: InterestArea? = nil, ticksPerSecond: Int = 60,
    snapshotLimit: Int = 1_150, bandwidth: Int? = nil
  ) {
    precondition(snapshotLimit >= 64, "a snapshot of 64 bytes at least")
    self.schema = schema
    self.area = area
    self.ticksPerSecond = ticksPerSecond
    self.snapshotLimit = snapshotLimit
    self.bandwidth = bandwidth
  }
}
