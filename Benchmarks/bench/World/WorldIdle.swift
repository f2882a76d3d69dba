import BenchProbe
import CaromCore
import CaromSimulation

/// Sixteen clients that have received ten thousand entities. At first no entity changes; later 32
/// entities change in each tick.
struct WorldIdle {
  private(set) var idleMicroseconds = 0.0
  private(set) var busyMicroseconds = 0.0
  private(set) var bytes = 0
  private(set) var allocations: UInt64 = 0

  private var world = WorldReplicator(WorldConfiguration(schema: WorldCrowd.schema))
  private var clients: [WorldReplicator.ClientID] = []
  private var tick = 0

  init() {
    let crowd = WorldCrowd(count: 10_000)
    for index in 0..<crowd.count { world.set(UInt32(index), values: crowd.values(index)) }
    for _ in 0..<16 { clients.append(world.addClient()) }
    // Run until every client has acknowledged every entity.
    while step() > 0 || tick < 50 { continue }
    measureIdle()
    measureBusy()
  }

  /// Makes one tick, after which all snapshots arrive and are acknowledged. Returns the bytes of
  /// the snapshots.
  private mutating func step() -> Int {
    tick += 1
    var sum = 0
    world.advance(to: Tick(UInt64(tick)))
    for client in clients where world.writeSnapshot(for: client) {
      sum += world.snapshot(for: client).count
      world.acknowledge(Tick(UInt64(tick)), from: client)
    }
    return sum
  }

  private mutating func measureIdle() {
    var times: [Double] = []
    for _ in 0..<9 {
      let before = bench_thread_allocations()
      let start = bench_thread_cpu_nanoseconds()
      for _ in 0..<100 { bytes += step() }
      let end = bench_thread_cpu_nanoseconds()
      allocations += bench_thread_allocations() - before
      times.append(Double(end - start) / 100_000)
    }
    idleMicroseconds = median(times)
  }

  private mutating func measureBusy() {
    var times: [Double] = []
    for round in 0..<40 {
      let start = bench_thread_cpu_nanoseconds()
      for index in 0..<32 {
        let id = UInt32((index * 311 + round) % 10_000)
        world.set(id, values: [Int64(round), Int64(index), 3])
      }
      _ = step()
      times.append(Double(bench_thread_cpu_nanoseconds() - start) / 1_000)
    }
    busyMicroseconds = median(times)
  }
}
