import BenchProbe
import Carom
import CaromTransport
import Foundation

/// The discovery that `DiscoveryPeerCommand` runs: one `DiscoveryCore` on its loop.
actor DiscoveryPeer: LoopActor {
  nonisolated let loop: NetworkLoop
  private var core: DiscoveryCore?
  private var advertised: [DiscoveryCore.AdvertisingID] = []
  private var found: [String: DiscoveredService] = [:]

  init(on loop: NetworkLoop) { self.loop = loop }

  /// Prints a line that starts with the time in milliseconds.
  func report(_ text: String) {
    let time = String(format: "%.2f", Double(loop.now.nanoseconds) / 1e6)
    FileHandle.standardOutput.write(Data("\(time) \(text)\n".utf8))
  }

  func execute(_ words: [String]) throws {
    switch words.first {
    case "publish" where words.count == 4:
      try publish([words[1]], words[2], port: UInt16(words[3]) ?? 4242)
    case "unique" where words.count == 3:
      try publish([words[1]], words[2], port: 4242, isUnique: true)
    case "many" where words.count == 4:
      try publish((1...(Int(words[3]) ?? 1)).map { "\(words[1]) \($0)" }, words[2], port: 4242)
    case "browse" where words.count == 2: try browse(ServiceType(words[1]), words[0])
    case "watch" where words.count == 2: try browse(ServiceType(words[1]), words[0])
    case "reconfirm" where words.count == 2:
      report("reconfirm")
      if let service = found[words[1]] { core?.reconfirm(service) }
    case "text" where words.count == 2:
      report("text \(words[1])")
      for id in advertised { try core?.update(id, txt: ["k": words[1]]) }
    case "withdraw":
      report("withdraw")
      for id in advertised { core?.withdraw(id) }
      advertised = []
    case "forget": close()
    case "flood" where words.count >= 2:
      try DiscoveryFlood(on: loop).send(
        Int(words[1]) ?? 0, fakesOf: words.count > 2 ? words[2] : nil)
      report("flooded")
    case "usage":
      let cpu = Double(bench_process_cpu_nanoseconds()) / 1e6
      report("usage \(Self.residentKilobytes) \(cpu)")
    case "crash": kill(getpid(), SIGKILL)
    default: report("error unknown command \(words)")
    }
  }

  /// Closes the discovery, so that the next operation starts with an empty cache.
  func close() {
    core?.close()
    core = nil
    advertised = []
    found = [:]
  }

  private func openCore() throws -> DiscoveryCore {
    if let core { return core }
    let core = try DiscoveryCore(on: loop)
    self.core = core
    return core
  }

  private func publish(
    _ names: [String], _ type: String, port: UInt16, isUnique: Bool = false
  ) throws {
    let core = try openCore()
    report("publish")
    for name in names {
      let service = AdvertisedService(
        name: name, type: try ServiceType(type), port: port, txt: ["k": "v"],
        isNameUnique: isUnique)
      let id = try core.advertise(service) { [weak self] event in
        self?.assumeIsolated { $0.report(event) }
      }
      advertised.append(id)
    }
  }

  private func report(_ event: DiscoveryCore.AdvertisingEvent) {
    switch event {
    case .established(let name): report("established \(name)")
    case .renamed(let name): report("renamed \(name)")
    case .failed(let error): report("failed \(error)")
    }
  }

  private func browse(_ type: ServiceType, _ how: String) throws {
    report(how)
    try openCore().browse(type) { [weak self] change in
      self?.assumeIsolated { $0.report(change, resolves: how == "browse") }
    }
  }

  private func report(_ change: ServiceChange, resolves: Bool) {
    switch change {
    case .added(let service):
      report("added \(service.name)")
      if resolves { resolve(service) }
    case .updated(let service): report("text \(service.name) \(service.txt["k"] ?? "")")
    case .removed(let service):
      found[service.name] = nil
      report("removed \(service.name)")
    }
  }

  private func resolve(_ service: DiscoveredService) {
    found[service.name] = service
    _ = try? core?.resolve(service, within: .seconds(30)) { [weak self] result in
      self?.assumeIsolated { peer in
        switch result {
        case .success: peer.report("resolved \(service.name)")
        case .failure: peer.report("unresolved \(service.name)")
        }
      }
    }
  }

  /// The resident memory of this process, in kilobytes.
  private static var residentKilobytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line.flatMap { Int($0.split(whereSeparator: { !$0.isNumber }).first ?? "") } ?? 0
  }
}
