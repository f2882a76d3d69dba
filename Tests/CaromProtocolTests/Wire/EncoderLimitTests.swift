import CaromCore
import Testing

@testable import CaromProtocol

/// Encoders trap rather than write what the page WireFormat does not allow. The limits themselves
/// are written.
@Suite struct EncoderLimitTests {
  @Test func `a display name of 64 bytes is refused`() async {
    var info = PeerInfo(
      id: PeerID(high: 1, low: 2), name: String(repeating: "a", count: 63), application: "a")
    info.name = String(repeating: "b", count: 63)
    await #expect(processExitsWith: .failure) {
      _ = PeerInfo(
        id: PeerID(high: 1, low: 2), name: String(repeating: "a", count: 64), application: "a")
    }
    await #expect(processExitsWith: .failure) {
      var info = PeerInfo(id: PeerID(high: 1, low: 2), name: "", application: "a")
      info.name = String(repeating: "a", count: 64)
    }
  }

  @Test func `an application name of 0 or 33 bytes is refused`() async {
    var info = PeerInfo(
      id: PeerID(high: 1, low: 2), name: "", application: String(repeating: "a", count: 32))
    info.application = "a"
    await #expect(processExitsWith: .failure) {
      _ = PeerInfo(id: PeerID(high: 1, low: 2), name: "", application: "")
    }
    await #expect(processExitsWith: .failure) {
      _ = PeerInfo(
        id: PeerID(high: 1, low: 2), name: "", application: String(repeating: "a", count: 33))
    }
    await #expect(processExitsWith: .failure) {
      var info = PeerInfo(id: PeerID(high: 1, low: 2), name: "", application: "a")
      info.application = ""
    }
  }

  @Test func `channel 65 is refused`() async {
    #expect(encodeFrames([.message(.unreliable, 64, 0, [])]) != nil)
    #expect(encodeFrames([.fragment(.unreliable, 64, 0, of: 1, at: 0, [1])]) != nil)
    #expect(encodeFrames([.credit(64, 0)]) != nil)
    await #expect(processExitsWith: .failure) {
      _ = encodeFrames([.message(.unreliable, 65, 0, [])])
    }
    await #expect(processExitsWith: .failure) {
      _ = encodeFrames([.fragment(.unreliable, 65, 0, of: 1, at: 0, [1])])
    }
    await #expect(processExitsWith: .failure) { _ = encodeFrames([.credit(65, 0)]) }
  }

  @Test func `a message of more than 1 MiB is refused`() async {
    let longest = [UInt8](repeating: 0, count: 1 << 20)
    #expect(encodeFrames([.message(.reliableOrdered, 0, 0, longest)], limit: 1 << 21) != nil)
    #expect(encodeFrames([.fragment(.reliableOrdered, 0, 0, of: 1 << 20, at: 0, [1])]) != nil)
    await #expect(processExitsWith: .failure) {
      let longer = [UInt8](repeating: 0, count: 1 << 20 + 1)
      _ = encodeFrames([.message(.reliableOrdered, 0, 0, longer)], limit: 1 << 21)
    }
    await #expect(processExitsWith: .failure) {
      _ = encodeFrames([.fragment(.reliableOrdered, 0, 0, of: 1 << 20 + 1, at: 0, [1])])
    }
  }

  @Test func `a fragment without bytes or past the end is refused`() async {
    #expect(encodeFrames([.fragment(.unreliable, 0, 0, of: 3, at: 2, [1])]) != nil)
    await #expect(processExitsWith: .failure) {
      _ = encodeFrames([.fragment(.unreliable, 0, 0, of: 3, at: 2, [])])
    }
    await #expect(processExitsWith: .failure) {
      _ = encodeFrames([.fragment(.unreliable, 0, 0, of: 3, at: 2, [1, 2])])
    }
  }

  @Test func `a 65th range and a packet number of one or five bytes are refused`() async {
    await #expect(processExitsWith: .failure) {
      var ranges = AcknowledgedRanges()
      for number in (0..<65 as Range<UInt64>).reversed() { ranges.append(2 * number...2 * number) }
    }
    await #expect(processExitsWith: .failure) {
      _ = DataHeader(role: .initiator, number: 1, numberLength: 1)
    }
    await #expect(processExitsWith: .failure) {
      _ = DataHeader(role: .initiator, number: 1, numberLength: 5)
    }
  }
}
