import Carom
import CaromDNS
import Foundation

/// Services in a domain that BIND serves on loopback (`Tests/Lab/wide`): registered, changed,
/// removed and listed.
struct DiscoveryRegistrations: Sendable {
  /// The measured times, in milliseconds.
  struct Times: Sendable {
    var registered: [Double] = []
    var changed: [Double] = []
    var removed: [Double] = []
    /// The time of one of `many` updates, one after another.
    var update = Double.nan
    /// The time until all of them are listed over TCP.
    var listed = Double.nan
    /// What dnspython measures of the same server.
    var peer: [String] = []
  }

  static let many = 1_000
  private static let type: ServiceType = "_game._udp"
  private static let zone = "play.example"
  private static let lab = NetworkLab.folder.appending(path: "wide")

  /// The number of services that are registered, changed and removed.
  let services: Int

  func run() async throws -> Times {
    // In memory, since BIND answers an update once its journal is on the disk.
    let folder = URL(filePath: "/dev/shm/carom-bench-\(UInt32.random(in: 0 ... .max))")
    defer { try? FileManager.default.removeItem(at: folder) }
    let port = UInt16.random(in: 20_000..<30_000)
    let line = "\"$@\" 2>&1 & read -r; kill $!; wait $!"
    let server = try ChildProgram(
      ["/bin/bash", "-c", line, "bash", "./named-lab.sh", folder.path, "127.0.0.1", "\(port)"],
      in: Self.lab, ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
    guard await server.line(where: { $0.hasSuffix("running") }) != nil else {
      throw BenchmarkFailure("BIND did not start: \(server.lines().last?.text ?? "no output")")
    }
    let key = folder.appending(path: "key.conf").path
    let result: Result<Times, any Error>
    do {
      result = .success(try await measure(Endpoint(.loopback4, port: port), keyFile: key))
    } catch { result = .failure(error) }
    server.endInput()
    await server.end()
    return try result.get()
  }

  private func measure(_ server: Endpoint, keyFile: String) async throws -> Times {
    let key = try UpdateKey(contentsOf: keyFile)
    let domain = RegistrationDomain(Self.zone, key: key, server: server)
    var times = try await withNetworkLoop { loop in
      var times = Times()
      for number in 0..<services {
        let steps = try await register("Table \(number)", in: domain, on: loop)
        times.registered.append(steps[0])
        times.changed.append(steps[1])
        times.removed.append(steps[2])
      }
      return times
    }
    times.peer = try await measurePeer(server, keyFile: keyFile)
    (times.update, times.listed) = try await withNetworkLoop { loop in
      try await list(key.key, server, on: loop)
    }
    return times
  }

  /// Registers, changes and removes a service. Returns how long each of the three steps took, in
  /// milliseconds.
  private func register(
    _ name: String, in domain: RegistrationDomain, on loop: NetworkLoop
  ) async throws -> [Double] {
    let service = AdvertisedService(
      name: name, type: Self.type, port: 7777, txt: ["seats": "1/2"])
    let advertiser = ServiceAdvertiser(
      service, in: domain, interfaces: .named(["lo"]), on: loop)
    let begin = ContinuousClock.now
    let (registered, changed) = try await advertiser.run { advertisement in
      let registered = ContinuousClock.now
      try await advertisement.update(txt: ["seats": "2/2"])
      return (registered, ContinuousClock.now)
    }
    return [
      Self.milliseconds(registered - begin), Self.milliseconds(changed - registered),
      Self.milliseconds(.now - changed),
    ]
  }

  private static func milliseconds(_ time: Duration) -> Double {
    Double(time / .microseconds(1)) / 1e3
  }

  /// Adds many services and lists them. Returns how long one update and the list took, in
  /// milliseconds.
  private func list(
    _ key: TransactionKey, _ server: Endpoint, on loop: NetworkLoop
  ) async throws -> (Double, Double) {
    let client = UnicastClient(on: loop)
    let type = try Name(text: "_list._udp.\(Self.zone)")
    let begin = ContinuousClock.now
    for number in 0..<Self.many {
      let instance = try type.prefixed(by: "room \(number)")
      var update = DynamicUpdate(zone: try Name(text: Self.zone))
      update.requireUnused(instance)
      update.add(type, .pointer(instance), timeToLive: 60)
      update.add(
        instance, .service(priority: 0, weight: 0, port: 7777, target: "ns.play.example"),
        timeToLive: 60)
      update.add(instance, .text([0]), timeToLive: 60)
      _ = try await client.update(update, signedWith: key, at: [server])
    }
    let updated = ContinuousClock.now
    let answer = try await client.ask(type, .ptr, of: [server])
    let listed = ContinuousClock.now
    guard answer.records.count == Self.many else {
      throw BenchmarkFailure("\(answer.records.count) of \(Self.many) services are listed")
    }
    return (
      Self.milliseconds(updated - begin) / Double(Self.many), Self.milliseconds(listed - updated)
    )
  }

  private func measurePeer(_ server: Endpoint, keyFile: String) async throws -> [String] {
    let script = try ChildProgram(
      ["/usr/bin/python3", "widearea.py", "127.0.0.1", "\(server.port)", keyFile], in: Self.lab, [:]
    )
    await script.end()
    return script.lines().map(\.text).filter { line in
      ["register:", "TXT update:", "remove:", "over TCP:"].contains { line.hasPrefix($0) }
        || line.contains("registrations")
    }
  }
}

extension DiscoveryRun {
  mutating func measureRegistrations() async throws {
    guard ["/usr/sbin/named", "/usr/bin/python3"].allSatisfy(FileManager.default.isExecutableFile)
    else {
      report.remarks.append(
        "BIND is not installed, so no registration was measured: .ci/setup test")
      return
    }
    let times = try await DiscoveryRegistrations(services: 5 * rounds).run()
    report.goals? += [
      .init("G17", "a service is registered in a domain", times.registered, atMost: 10),
      .init("G17", "its TXT record is changed", times.changed, atMost: 10),
      .init("G17", "it is removed", times.removed, atMost: 10),
      .init(
        "G17", "one of \(DiscoveryRegistrations.many) updates (2.5 ms: 400 a second)",
        [times.update], atMost: 2.5),
      .init(
        "G17", "\(DiscoveryRegistrations.many) services are listed over TCP", [times.listed],
        atMost: 100),
    ]
    report.remarks.append("dnspython, same server: " + times.peer.joined(separator: "; "))
  }
}
