/// The configuration of a world and of the snapshots that its clients receive.
public struct WorldConfiguration: Hashable, Sendable {
  /// The fields of each entity.
  public var schema: EntitySchema
  /// The area around a client's focus from which the client receives entities, or nil if every
  /// client receives all entities.
  public var area: InterestArea?
  /// The number of ticks per second.
  public var ticksPerSecond: Int
  /// The maximum size of a snapshot in bytes. The default leaves room for headers in a datagram.
  public var snapshotLimit: Int
  /// The maximum number of snapshot bytes per second for each client, or nil for no limit.
  public var bandwidth: Int?

  /// Creates the configuration of a world. By default, a snapshot is at most 1,150 bytes long and
  /// the bandwidth is not limited.
  public init(
    schema: EntitySchema, area: InterestArea? = nil, ticksPerSecond: Int = 60,
    snapshotLimit: Int = 1_150, bandwidth: Int? = nil
  ) {
    precondition(snapshotLimit >= 64, "the snapshot limit must be at least 64 bytes")
    self.schema = schema
    self.area = area
    self.ticksPerSecond = ticksPerSecond
    self.snapshotLimit = snapshotLimit
    self.bandwidth = bandwidth
  }
}
