import Carom
import Testing

@Suite(.turns) struct MatchFinderTests {
  private actor Owner {
    func handle(_ event: SessionEvent) {}
  }

  @Test(arguments: ["bell\u{7}", "two\nlines"])
  func `an invalid service name is an error before the finder listens`(
    name: String
  ) async {
    await withNetworkLoop { loop in
      var options = MatchFinder.Options(type: "_caromtest._tcp")
      options.interfaces = .named(["lo"])
      let finder = MatchFinder(
        as: PeerInfo(id: .random(), name: name, application: "test"), options, on: loop)
      await #expect(throws: DiscoveryError.self) {
        _ = try await finder.begin(owner: Owner()) { owner, event in owner.handle(event) }
      }
    }
  }
}
