import ArgumentParser

/// Measures groups of nearby peers in which everyone is connected with everyone.
struct NearbyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "nearby",
    abstract: "Measures meshes of nearby peers: time to connect, idle traffic, CPU, memory.",
    discussion: """
      On the virtual network: the time from the first start until everyone is connected with \
      everyone, when all peers start within a second, and the bytes of an idle connection, IP \
      and UDP headers included, without and with a group that has a leader.

      On loopback, all peers in one process and on one loop: the same time with DNS-SD. Then one \
      peer in a process of its own, connected with all the others in a second process: its CPU \
      time while nothing happens, and the memory of each connection after the first.

      Of more than 64 peers, only one is measured: each multicast message on one computer reaches \
      all of them.
      """)

  @Option(help: "Numbers of peers.")
  var peers = [8, 32]

  @Option(help: "Seconds for which the idle peers on loopback are measured.")
  var seconds = 10

  @Flag(help: "Only count on the virtual network, and fail if a count exceeds its threshold.")
  var check = false

  @Option(help: "The JSON file with the thresholds.")
  var thresholds = "Benchmarks/Thresholds/nearby.json"

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  func validate() throws {
    guard peers.allSatisfy({ $0 >= 3 }), seconds > 0 else {
      throw ValidationError("--peers must be at least 3, and --seconds at least 1")
    }
  }

  func run() async throws {
    if check {
      var counts: [(name: String, count: Double)] = []
      for count in peers { counts += try await NearbyMesh.measure(count).counts }
      return try WorldThresholds.check(counts, thresholds)
    }
    var machine = Machine()
    var report = Report(title: "bench nearby: everyone connected with everyone")
    var goals: [BenchmarkGoal] = []
    for count in peers {
      machine.sampleNoise()
      var figures: [Report.Figure] = []
      if count <= NearbyLoopback.limit {
        progress("\(count) peers on the virtual network")
        let mesh = try await NearbyMesh.measure(count)
        progress("\(count) peers on loopback")
        let time = try await NearbyLoopback.measure(count).inSeconds
        figures = [
          .init("connected, virtual", mesh.time.inSeconds, "s"),
          .init("idle link", mesh.idleBytes, "B/s"),
          .init("idle link to the leader", mesh.groupBytes, "B/s"),
          .init("connected, loopback", time, "s"),
        ]
        goals += [
          BenchmarkGoal("\(count) peers connected on loopback", time, "s", .atMost, 3),
          BenchmarkGoal("idle link of \(count) peers", mesh.idleBytes, "B/s", .atMost, 400),
        ]
      }
      progress("one of \(count) peers in a process of its own")
      let pair = try await NearbyPair.measure(count, seconds: seconds)
      figures += [
        .init("CPU of an idle peer", pair.processor * 100, "%"),
        .init("memory of a link", pair.memory, "B"),
      ]
      goals += [
        BenchmarkGoal(
          "CPU of an idle peer of \(count)", pair.processor * 100, "%", .atMost,
          count <= 32 ? 0.5 : 4),
        BenchmarkGoal("memory of a link of \(count) peers", pair.memory, "B", .atMost, 16_384),
      ]
      report.add("\(count) peers", figures)
    }
    machine.sampleNoise()
    report.sessionGoals = goals
    if let remark = machine.busyRemark { report.remarks.append(remark) }
    report.machine = machine.line
    report.print(json: json)
  }
}
