import CaromCore
import CaromTransport
import Testing

@testable import CaromProtocol
@testable import CaromSession

/// The tasks that wait for a node, in virtual time, and the search for a free port.
@Suite struct NodeWaitersTests {
  private typealias Outcome = Result<UInt64?, SendError>
  private let connection = ConnectionID(1)
  private let other = ConnectionID(2)

  /// Adds a waiting message to `waiters`.
  private func add(
    _ continuation: CheckedContinuation<Outcome, Never>, until deadline: Int64?,
    on connection: ConnectionID, to waiters: inout NodeWaiters
  ) {
    let options = SendOptions(.reliableOrdered, deadline: deadline.map { Instant(nanoseconds: $0) })
    let entry = BackpressureQueue.Entry(
      id: waiters.makeSendID(), bytes: [], channel: 0, options: options,
      continuation: continuation)
    waiters.sends[connection, default: BackpressureQueue()].append(entry)
  }

  @Test func `a waiting message expires at the end of its lifetime, and others wait on`() async {
    var waiters = NodeWaiters()
    #expect(waiters.nextTimeout == nil)
    var results: [Outcome] = []
    let last =
      await withCheckedContinuation { endless in
        add(endless, until: nil, on: connection, to: &waiters)
        #expect(waiters.nextTimeout == nil)
        #expect(waiters.expireSends(at: .distantFuture) == [])
        #expect(waiters.sends[connection]?.entries.count == 1)
        waiters.cancelSend(2, on: connection)
        waiters.cancelSend(1, on: other)
        #expect(waiters.sends[connection]?.entries.count == 1)
        waiters.failAll(of: other)
        waiters.cancelSend(1, on: connection)
      } as Outcome
    #expect(last == .failure(.cancelled) && waiters.sends.isEmpty)
    results.append(
      await withCheckedContinuation { continuation in
        add(continuation, until: 10, on: connection, to: &waiters)
        #expect(waiters.nextTimeout == Instant(nanoseconds: 10))
        #expect(waiters.expireSends(at: Instant(nanoseconds: 9)) == [])
        #expect(waiters.sends[connection]?.entries.count == 1)
        #expect(waiters.expireSends(at: Instant(nanoseconds: 10)) == [connection])
        // Nothing waits any more, so that the next message is sent at once.
        #expect(waiters.sends.isEmpty)
      })
    results.append(
      await withCheckedContinuation { continuation in
        add(continuation, until: nil, on: other, to: &waiters)
        waiters.failAll(of: connection)
        #expect(waiters.sends[other]?.entries.count == 1)
        waiters.failAll(of: other)
      })
    #expect(results == [.failure(.expired), .failure(.notConnected)])
    #expect(waiters.sends.isEmpty && waiters.makeSendID() == 4)
  }

  @Test func `a receipt is kept until its sender waits, and the first result counts`() async {
    var waiters = NodeWaiters()
    let keys = (0..<3).map { ReceiptKey(connection: connection, message: $0) }
    let foreign = ReceiptKey(connection: other, message: 0)
    waiters.receipts = [keys[0]: .pending, keys[1]: .pending, foreign: .pending]
    waiters.resolve(keys[0], true)
    waiters.resolve(keys[0], false)
    waiters.resolve(keys[2], true)
    waiters.failAll(of: connection)
    guard case .resolved(true) = waiters.receipts[keys[0]],
      case .resolved(false) = waiters.receipts[keys[1]],
      case .pending = waiters.receipts[foreign], waiters.receipts[keys[2]] == nil
    else {
      Issue.record("\(waiters.receipts)")
      return
    }
    for isDelivered in [true, false] {
      let result = await withCheckedContinuation { continuation in
        waiters.receipts[keys[2]] = .awaited(continuation)
        waiters.resolve(keys[2], isDelivered)
      }
      #expect(result == isDelivered && waiters.receipts[keys[2]] == nil)
    }
    let cancelled = await withCheckedContinuation { continuation in
      waiters.receipts[keys[2]] = .awaited(continuation)
      waiters.cancelReceipt(keys[2])
    }
    #expect(!cancelled && waiters.receipts[keys[2]] == nil)
    waiters.cancelReceipt(foreign)
    #expect(waiters.receipts[foreign] == nil)
  }

  @Test(arguments: [
    (0 as UInt16, 15, 16, true), (0, 16, 16, false), (0, 0, 1, true), (7_777, 1, 1, false),
    (7_777, 0, 1, true),
  ])
  func `16 ports of the system's choice are tried, but only one that was asked for`(
    port: UInt16, failures: Int, calls: Int, isFound: Bool
  ) {
    var count = 0
    let listen = { () throws(TransportError) -> UInt16 in
      count += 1
      if count <= failures { throw .addressInUse(port: UInt16(count)) }
      return UInt16(count)
    }
    do throws(TransportError) {
      let found = try SessionNode.retrying(port, listen)
      #expect(isFound && found == UInt16(count))
    } catch {
      #expect(!isFound && error == .addressInUse(port: UInt16(count)))
    }
    #expect(count == calls)
  }

  @Test func `only a port in use leads to another attempt`() {
    var count = 0
    #expect(throws: TransportError.permissionDenied) {
      try SessionNode.retrying(0) { () throws(TransportError) in
        count += 1
        throw .permissionDenied
      }
    }
    #expect(count == 1)
  }
}
