import ArgumentParser
import Foundation

/// Measures what browsers cost a host, and what a match costs a page.
struct BrowserCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browser",
    abstract: "Measures what browsers cost a host, and what a match costs a page.",
    discussion: """
      60 players send 60 bytes each and receive 300 bytes, 60 times a second: over WebSockets, the \
      same over TLS and over WebRTC data channels, and beside that over datagrams. Then the same \
      for a busy host, whose ticks follow each other without a pause, so that its caches stay \
      warm; the memory of idle browsers and of requests that have only begun; the size of air \
      hockey's page (make wasm); and its engine in Node: ticks by itself, and frames of a match \
      whose host is 300 ms away, each of which makes some 20 ticks again.
      """)

  @Option(help: "The measured ticks of each kind of link.")
  var ticks = 600

  @Option(help: "The folder with air hockey's page.")
  var page = ".build/page"

  @Flag(help: "Only count bytes, allocations and system calls, and fail if one exceeds its limit.")
  var check = false

  @Option(help: "The JSON file with the limits.")
  var thresholds = "Benchmarks/Thresholds/browser.json"

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  func validate() throws {
    guard ticks > 0 else { throw ValidationError("--ticks must be at least 1") }
  }

  func run() async throws {
    guard check else { return try await measure() }
    let run = BrowserRun(warmUp: 100, ticks: 500)
    let costs = try await run.webSocketCosts()
    let encrypted = try await run.webSocketCosts(isEncrypted: true)
    let channels = try await run.webSocketCosts(usesChannels: true)
    try WorldThresholds.check(
      [
        ("bytes", costs.bytes), ("allocations", costs.allocations),
        ("systemCalls", costs.systemCalls),
        ("bytesOverTLS", encrypted.bytes), ("allocationsOverTLS", encrypted.allocations),
        ("systemCallsOverTLS", encrypted.systemCalls),
        ("bytesOverChannels", channels.bytes), ("allocationsOverChannels", channels.allocations),
        ("systemCallsOverChannels", channels.systemCalls),
        ("heapOfIdlePeerWithChannel", try await BrowserRun.idlePeerHeap(usesChannels: true)),
        ("heapOfIdlePeer", try await BrowserRun.idlePeerHeap()),
        ("heapOfOpenDoor", try await BrowserRun.openDoorHeap()),
      ], thresholds)
  }

  private func measure() async throws {
    var machine = Machine()
    machine.sampleNoise()
    let run = BrowserRun(warmUp: 60, ticks: ticks, rate: 60)
    let busyRun = BrowserRun(warmUp: 60, ticks: 4 * ticks, rate: nil)
    func measure(_ costs: (BrowserRun) async throws -> BrowserCosts) async throws -> Costs {
      defer { machine.sampleNoise() }
      return Costs(at60Hz: try await costs(run), busy: try await costs(busyRun))
    }
    let web = try await measure { try await $0.webSocketCosts() }
    let encrypted = try await measure { try await $0.webSocketCosts(isEncrypted: true) }
    let channels = try await measure { try await $0.webSocketCosts(usesChannels: true) }
    let datagrams = try await measure { try await $0.datagramCosts() }
    let heap = (
      peer: try await BrowserRun.idlePeerHeap() / 1000,
      encryptedPeer: try await BrowserRun.idlePeerHeap(isEncrypted: true) / 1000,
      channelPeer: try await BrowserRun.idlePeerHeap(usesChannels: true) / 1000,
      door: try await BrowserRun.openDoorHeap() / 1000
    )
    let page = try await BrowserPage(in: URL(filePath: page))
    machine.sampleNoise()
    var report = Report(
      title: "bench browser: what browsers cost a host, and what a match costs a page")
    report.summary = [
      "\(BrowserRun.players) players send \(BrowserRun.inputLength) bytes and receive"
        + " \(BrowserRun.stateLength), 60 times a second; figures of the host's thread, for each"
        + " player and tick. On a busy host, ticks follow each other without a pause."
    ]
    report.rows = [
      .init(name: "WebSocket", figures: web.figures),
      .init(name: "WebSocket over TLS", figures: encrypted.figures),
      .init(name: "data channel", figures: channels.figures),
      .init(name: "UDP", figures: datagrams.figures),
    ]
    report.sessionGoals =
      Self.timeGoals("", web.at60Hz, channels.at60Hz, datagrams.at60Hz)
      + Self.timeGoals(" on a busy host", web.busy, channels.busy, datagrams.busy)
      + Self.goals(heap, page)
    report.remarks = page.remarks + [machine.busyRemark].compactMap { $0 }
    report.machine = machine.line
    report.print(json: json)
  }

  /// What a player costs a host that pauses after each of 60 ticks a second, so that it finds its
  /// caches cold, and one whose ticks follow each other without a pause.
  private struct Costs {
    var at60Hz: BrowserCosts
    var busy: BrowserCosts

    var figures: [Report.Figure] {
      [
        .init("processorTime", at60Hz.processorTime, "us", heading: "processor time"),
        .init("busyProcessorTime", busy.processorTime, "us", heading: "on a busy host"),
        .init("systemCalls", at60Hz.systemCalls, heading: "system calls"),
        .init("allocations", at60Hz.allocations), .init("bytes", at60Hz.bytes),
      ]
    }
  }

  /// Returns the goals for one kind of host.
  private static func timeGoals(
    _ host: String, _ web: BrowserCosts, _ channels: BrowserCosts, _ datagrams: BrowserCosts
  ) -> [BenchmarkGoal] {
    [
      .init(
        "processor time of a browser peer-tick\(host)", web.processorTime, "us", .atMost, 10,
        beside: [("UDP", datagrams.processorTime)]),
      .init(
        "the same, over a data channel", channels.processorTime, "us", .atMost, 12,
        beside: [("UDP", datagrams.processorTime)]),
    ]
  }

  private static func goals(
    _ heap: (peer: Double, encryptedPeer: Double, channelPeer: Double, door: Double),
    _ page: BrowserPage
  ) -> [BenchmarkGoal] {
    func figure(_ name: String) -> Double { page.figures[name] ?? .nan }
    return [
      .init("heap of an idle browser peer", heap.peer, "kB", .atMost, 24),
      .init("the same, over TLS", heap.encryptedPeer, "kB", .atMost, 24),
      .init("the same, with a data channel", heap.channelPeer, "kB", .atMost, 24),
      .init("heap of an open door", heap.door, "kB", .atMost, 4),
      .init("a tick in the page, p95", figure("tick95"), "ms", .atMost, 0.1),
      .init(
        "a frame that makes \(Report.text(figure("predicted"))) ticks again, p50",
        figure("frame50"), "ms", .atMost, 2),
      .init("the same, p95", figure("frame95"), "ms", .atMost, 4),
      .init("the page's files", page.size, "KiB", .atMost, 700),
      .init("the same, compressed", page.compressedSize, "KiB", .atMost, 300),
    ]
  }
}
