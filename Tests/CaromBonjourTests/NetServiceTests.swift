import CaromBonjour
import Foundation
import TestEvents
import Testing

/// The old names of services and browsers, over the loopback interface.
@Suite(.timeLimit(.minutes(1)), .serialized) struct NetServiceTests {
  private func resolve(_ service: NetService) async -> TestServiceOwner {
    let owner = TestServiceOwner()
    service.delegate = owner
    service.resolve(withTimeout: 5)
    await owner.log.wait { $0 == "resolved" || $0.hasPrefix("unresolved") }
    return owner
  }

  @Test func `a service is published, found, resolved, and gone once it is stopped`() async throws {
    let type = makeServiceType()
    let service = NetService(domain: "", type: type, name: "Maya's table", port: 7777)
    let owner = TestServiceOwner()
    service.setTXTRecord(NetService.data(fromTXTRecord: ["seats": Data("2".utf8)]))
    service.delegate = owner
    service.publish()
    await owner.log.wait { $0 == "published" }
    let browser = NetServiceBrowser()
    let searcher = TestSearcher()
    browser.delegate = searcher
    browser.searchForServices(ofType: type, inDomain: "local.")
    let found = try #require(
      await searcher.log.next { event in
        if case .found(let service) = event { service } else { nil }
      })
    #expect((found.name, found.type, found.domain) == ("Maya's table", type, "local."))
    #expect(found.port == -1)
    let finder = await resolve(found)
    #expect(finder.log.events == ["will resolve", "resolved"])
    #expect(found.port == 7777)
    #expect(found.hostName?.hasSuffix(".local.") == true)
    let address = try #require(found.addresses?.first)
    #expect(Array(address.prefix(8)) == [UInt8(AF_INET), 0, 0x1E, 0x61, 127, 0, 0, 1])
    let record = NetService.dictionary(fromTXTRecord: try #require(found.txtRecordData()))
    #expect(record == ["seats": Data("2".utf8)])
    service.stop()
    await owner.log.wait { $0 == "stopped" }
    let removed = await searcher.log.next { event in
      if case .removed(let service) = event { service } else { nil }
    }
    #expect(removed === found)
    browser.stop()
    await searcher.log.wait { if case .stopped = $0 { true } else { false } }
    #expect(owner.log.events == ["will publish", "published", "stopped"])
  }

  @Test func `a name that is taken gets a number, or is an error`() async {
    let type = makeServiceType()
    let services = (0..<3).map { _ in NetService(domain: "", type: type, name: "X", port: 1) }
    let owners = services.map { _ in TestServiceOwner() }
    for (service, owner) in zip(services, owners) { service.delegate = owner }
    services[0].publish()
    await owners[0].log.wait { $0 == "published" }
    services[1].publish()
    await owners[1].log.wait { $0 == "published" }
    services[2].publish(options: .noAutoRename)
    await owners[2].log.wait { $0.hasPrefix("unpublished") }
    #expect(services.map(\.name) == ["X", "X (2)", "X"])
    #expect(owners[2].log.events.last == "unpublished -72001")
    for service in services { service.stop() }
  }

  @Test func `what is not valid is an error with the code of Apple's framework`() async {
    let service = NetService(domain: "", type: "chat", name: "X", port: 1)
    let owner = TestServiceOwner()
    service.delegate = owner
    service.publish()
    await owner.log.wait { $0 == "unpublished -72004" }
    service.resolve(withTimeout: 1)
    await owner.log.wait { $0 == "unresolved -72004" }
    let searcher = TestSearcher()
    let browser = NetServiceBrowser()
    browser.delegate = searcher
    browser.searchForServices(ofType: "chat", inDomain: "")
    let code = await searcher.log.next { event in
      if case .failed(let code) = event { code } else { nil }
    }
    #expect(code == -72004)
  }

  @Test func `a service that does not exist is not resolved in time`() async {
    let owner = TestServiceOwner()
    let service = NetService(domain: "", type: makeServiceType(), name: "Nobody")
    service.delegate = owner
    service.resolve(withTimeout: 0.3)
    await owner.log.wait { $0.hasPrefix("unresolved") }
    #expect(owner.log.events == ["will resolve", "unresolved -72007"])
  }

  @Test func `a monitored TXT record is reported when it changes`() async {
    let type = makeServiceType()
    let service = NetService(domain: "", type: type, name: "X", port: 1)
    let owner = TestServiceOwner()
    service.delegate = owner
    service.setTXTRecord(NetService.data(fromTXTRecord: ["a": Data([1])]))
    service.publish()
    await owner.log.wait { $0 == "published" }
    let watched = NetService(domain: "", type: type, name: "X")
    let monitor = TestServiceOwner()
    watched.delegate = monitor
    watched.startMonitoring()
    await monitor.log.wait { $0 == "text [\"a\"]" }
    service.setTXTRecord(NetService.data(fromTXTRecord: ["b": Data([2])]))
    await monitor.log.wait { $0 == "text [\"b\"]" }
    watched.stopMonitoring()
    service.stop()
  }

  @Test func `TXT records come back as dictionaries`() {
    let pairs = ["a": Data([0, 255]), "B": Data(), "c=d": Data([1])]
    let data = NetService.data(fromTXTRecord: pairs)
    // A key cannot contain "=".
    #expect(NetService.dictionary(fromTXTRecord: data) == ["a": Data([0, 255]), "B": Data()])
    #expect(NetService.dictionary(fromTXTRecord: Data([1, 0x61])) == ["a": Data()])
    #expect(NetService(domain: "", type: "_a._tcp.", name: "").txtRecordData() == nil)
  }
}

final class TestServiceOwner: NetServiceDelegate, Sendable {
  let log = EventLog<String>()

  private func code(_ dictionary: [String: NSNumber]) -> Int {
    dictionary[NetService.errorCode]?.intValue ?? 0
  }

  func netServiceWillPublish(_ sender: NetService) { log.add("will publish") }
  func netServiceDidPublish(_ sender: NetService) { log.add("published") }
  func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber]) {
    log.add("unpublished \(code(errorDict))")
  }
  func netServiceWillResolve(_ sender: NetService) { log.add("will resolve") }
  func netServiceDidResolveAddress(_ sender: NetService) { log.add("resolved") }
  func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber]) {
    log.add("unresolved \(code(errorDict))")
  }
  func netServiceDidStop(_ sender: NetService) { log.add("stopped") }
  func netService(_ sender: NetService, didUpdateTXTRecord data: Data) {
    log.add("text \(NetService.dictionary(fromTXTRecord: data).keys.sorted())")
  }
}

final class TestSearcher: NetServiceBrowserDelegate, Sendable {
  enum Event: Sendable {
    case found(NetService), removed(NetService), failed(Int), stopped
  }

  let log = EventLog<Event>()

  func netServiceBrowser(
    _ browser: NetServiceBrowser, didFind service: NetService, moreComing: Bool
  ) { log.add(.found(service)) }

  func netServiceBrowser(
    _ browser: NetServiceBrowser, didRemove service: NetService, moreComing: Bool
  ) { log.add(.removed(service)) }

  func netServiceBrowser(
    _ browser: NetServiceBrowser, didNotSearch errorDict: [String: NSNumber]
  ) { log.add(.failed(errorDict[NetService.errorCode]?.intValue ?? 0)) }

  func netServiceBrowserDidStopSearch(_ browser: NetServiceBrowser) { log.add(.stopped) }
}
