import BenchProbe
import Carom
import CaromTransport
import Foundation

/// What `DiscoveryPeerCommand` runs: one discovery, as a program that lives on its loop has it.
actor DiscoveryPeer: LoopActor {
  nonisolated let loop: NetworkLoop
  private var core: DiscoveryCore?
  private var advertised: [DiscoveryCore.AdvertisingID] = []
  private var found: [String: DiscoveredService] = [:]

  init(on loop: NetworkLoop) { self.loop = loop }

  /// Says a line, behind the time.
  func tell(_ text: String) {
    let time = String(format: "%.2f", Double(loop.now.nanoseconds) / 1e6)
    FileHandle.standardOutput.write(Data("\(time) \(text)\n".utf8))
  }

  func obey(_ words: [String]) throws {
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
      tell("reconfirm")
      if let service = found[words[1]] { core?.reconfirm(service) }
    case "withdraw":
      tell("withdraw")
      for id in advertised { core?.withdraw(id) }
      advertised = []
    case "forget": forget()
    case "flood" where words.count >= 2:
      try DiscoveryFlood(on: loop).send(
        Int(words[1]) ?? 0, fakesOf: words.count > 2 ? words[2] : nil)
      tell("flooded")
    case "usage":
      let cpu = Double(bench_process_cpu_nanoseconds()) / 1e6
      tell("usage \(Self.residentKilobytes) \(cpu)")
    case "crash": kill(getpid(), SIGKILL)
    default: tell("what? \(words)")
    }
  }

  /// Closes everything: what comes next begins without knowledge.
  func forget() {
    core?.close()
    core = nil
    advertised = []
    found = [:]
  }

  private func opened() throws -> DiscoveryCore {
    if let core { return core }
    let core = try DiscoveryCore(on: loop)
    self.core = core
    return core
  }

  private func publish(
    _ names: [String], _ type: String, port: UInt16, isUnique: Bool = false
  ) throws {
    let core = try opened()
    tell("publish")
    for name in names {
      let service = AdvertisedService(
        name: name, type: try ServiceType(type), port: port, txt: ["k": "v"],
        isNameUnique: isUnique)
      let id = try core.advertise(service) { [weak self] event in
        self?.assumeIsolated { $0.note(event) }
      }
      advertised.append(id)
    }
  }

  private func note(_ event: DiscoveryCore.AdvertisingEvent) {
    switch event {
    case .established(let name): tell("established \(name)")
    case .renamed(let name): tell("renamed \(name)")
    case .failed(let error): tell("failed \(error)")
    }
  }

  private func browse(_ type: ServiceType, _ how: String) throws {
    tell(how)
    try opened().browse(type) { [weak self] change in
      self?.assumeIsolated { $0.note(change, resolves: how == "browse") }
    }
  }

  private func note(_ change: ServiceChange, resolves: Bool) {
    switch change {
    case .added(let service):
      tell("added \(service.name)")
      if resolves { resolve(service) }
    case .updated: break
    case .removed(let service):
      found[service.name] = nil
      tell("removed \(service.name)")
    }
  }

  private func resolve(_ service: DiscoveredService) {
    found[service.name] = service
    core?.resolve(service, within: .seconds(30)) { [weak self] result in
      self?.assumeIsolated { peer in
        switch result {
        case .success: peer.tell("resolved \(service.name)")
        case .failure: peer.tell("unresolved \(service.name)")
        }
      }
    }
  }

  /// Memory of this process that is in use, kilobytes.
  private static var residentKilobytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line.flatMap { Int($0.split(whereSeparator: { !$0.isNumber }).first ?? "") } ?? 0
  }
}
