import CaromCore
import CaromDiscovery
import CaromTransport
import Testing

@Suite struct InterfaceSelectionTests {
  private func makeInterface(
    _ name: String, _ index: UInt32, _ change: (inout Interface) -> Void = { _ in }
  ) -> Interface {
    var interface = Interface(name: name, index: index)
    interface.isUp = true
    interface.isRunning = true
    interface.supportsMulticast = true
    interface.addresses = [.init(.v4(0x0A00_0001), prefixLength: 24)]
    change(&interface)
    return interface
  }

  @Test func `the automatic selection has every physical interface that supports multicast`() {
    let interfaces = [
      makeInterface("lo", 1) { $0.isLoopback = true }, makeInterface("eth0", 2),
      makeInterface("wlan0", 3), makeInterface("docker0", 4), makeInterface("veth1a", 5),
      makeInterface("br-0a1b", 6), makeInterface("tun0", 7) { $0.isPointToPoint = true },
      makeInterface("eth1", 8) { $0.isUp = false },
      makeInterface("eth2", 9) { $0.isRunning = false },
      makeInterface("eth3", 10) { $0.addresses = [] },
      makeInterface("eth4", 11) { $0.supportsMulticast = false },
    ]
    let selected = InterfaceSelection.automatic.selected(from: interfaces)
    #expect(selected.map(\.name) == ["eth0", "wlan0"])
  }

  @Test func `an interface that is selected by name needs no particular properties`() {
    let interfaces = [
      makeInterface("lo", 1) {
        $0.isLoopback = true
        $0.supportsMulticast = false
      }, makeInterface("docker0", 4),
    ]
    let selected = InterfaceSelection.named(["lo"]).selected(from: interfaces)
    #expect(selected.map(\.name) == ["lo"])
  }

  @Test func `the default service name is the first label of the host name, or "host"`() {
    let names = ["maya.example.com", "maya", "", ".x", "a\u{1}b"].map(HostLabel.systemName)
    #expect(names == ["maya", "maya", "host", "x", "host"])
  }

  @Test func `a predicate selects among the interfaces that are up and equals only its copies`() {
    let interfaces = [
      makeInterface("lo", 1) { $0.isLoopback = true }, makeInterface("eth0", 2),
      makeInterface("docker0", 4), makeInterface("eth1", 8) { $0.isUp = false },
    ]
    let wired = InterfaceSelection.matching { $0.name.hasPrefix("eth") }
    #expect(wired.selected(from: interfaces).map(\.name) == ["eth0"])
    let others = InterfaceSelection.matching {
      !$0.name.hasPrefix("eth") && !InterfaceSelection.isUsual($0)
    }
    #expect(others.selected(from: interfaces).map(\.name) == ["lo", "docker0"])
    let copy = wired
    #expect(Set([wired, copy]).count == 1 && wired != others)
    #expect(wired != .automatic && InterfaceSelection.named(["a"]) == .named(["a"]))
  }

  @Test func `the host label is the first label of the host name, cleaned, with a suffix`() {
    #expect(HostLabel.make(from: "maya.example.com") == "maya-carom")
    #expect(HostLabel.make(from: "maya's mac (2)") == "maya-s-mac-2-carom")
    #expect(HostLabel.make(from: "") == "host-carom")
    #expect(HostLabel.make(from: String(repeating: "a", count: 99)).utf8.count == 63)
  }

  @Test func `each error is described in a short line of its own`() {
    let errors: [DiscoveryError] = [
      .portInUse, .permissionDenied, .noMulticastInterface, .noSuchInterface("x"), .nameMissing,
      .nameTooLong(64), .nameInvalid, .nameTaken, .hostNameContested, .portMissing, .timedOut,
      .cancelled, .closed,
      .transport(.unreachable), .tooManyServices, .tooManyQuestions, .subtypeInvalid,
      .textTooLong(9000), .domainNotLocal("x"), .noNameServer, .hostHasNoAddress("x"), .notOffered,
    ]
    #expect(Set(errors.map(\.description)).count == errors.count)
    #expect(errors.allSatisfy { !$0.description.contains("\n") && $0.description.count <= 72 })
    #expect(Set(errors.map(\.netServiceCode)) == Set(-72007 ... -72000))
  }
}
