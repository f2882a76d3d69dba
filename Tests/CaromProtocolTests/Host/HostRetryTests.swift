import CaromCore
import Testing

@testable import CaromProtocol

/// A client that connects again to a host that has just refused it, over the same two sockets.
@Suite struct HostRetryTests {
  private let first = ConnectionKey(prefix: 1, rest: 2)
  private let second = ConnectionKey(prefix: 3, rest: 4)

  /// A pair whose host has refused the first connection as busy. The client's acknowledgement of
  /// the goodbye is lost if `losesAnswer`.
  private func makeRefused(losesAnswer: Bool) -> DatagramPair {
    var pair = DatagramPair()
    pair.refusals = 1
    pair.connect(first)
    for hello in pair.takeToHost() { pair.deliverToHost(hello) }
    for retry in pair.takeToClient() { pair.deliverToClient(retry) }
    for request in pair.takeToHost() { pair.deliverToHost(request) }
    for goodbye in pair.takeToClient() { pair.deliverToClient(goodbye) }
    if losesAnswer { _ = pair.takeToHost() } else { pair.exchange() }
    return pair
  }

  private func isOpen(_ pair: DatagramPair) -> Bool {
    pair.client.connection(pair.id)?.isOpen == true
      && pair.hostID.flatMap { pair.host.connection($0) }?.isOpen == true
  }

  @Test(arguments: [false, true])
  func `a client that was refused connects again at once`(losesAnswer: Bool) {
    var pair = makeRefused(losesAnswer: losesAnswer)
    #expect(pair.clientEvents.endings == [.busy] && pair.client.connectionIDs.count == 1)
    let start = pair.now
    pair.connect(second)
    pair.exchange()
    #expect(isOpen(pair) && pair.now - start < .seconds(1))
    // Nothing of the first connection reaches the second one.
    pair.run(for: .seconds(20))
    #expect(isOpen(pair) && pair.clientEvents.endings == [.busy])
    #expect(pair.client.connectionIDs == [pair.id] && pair.host.connectionIDs.count == 1)
  }

  @Test func `goodbyes of the refused connection are ignored before the host has answered`() {
    var pair = makeRefused(losesAnswer: true)
    pair.connect(second)
    pair.run(for: .seconds(1), delivers: false)
    let goodbyes = pair.takeToClient()
    #expect(goodbyes.count > 1)
    for goodbye in goodbyes { pair.deliverToClient(goodbye) }
    #expect(pair.client.connection(pair.id)?.isEnding == false)
    pair.exchange()
    pair.run(for: .seconds(5))
    #expect(isOpen(pair) && pair.clientEvents.endings == [.busy])
  }
}
