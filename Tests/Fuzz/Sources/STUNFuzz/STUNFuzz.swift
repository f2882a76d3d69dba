import CaromCore
import CaromDataChannel
import FuzzSupport

/// Reads the input as a STUN message and answers it, as it is and behind the header of a request.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = fuzzInput(data, count)
  let length = input.count & ~3
  let header: [UInt8] =
    [0, 1, UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), 0x21, 0x12, 0xA4, 0x42]
    + [UInt8](repeating: 7, count: 12)
  for bytes in [input, header + input.prefix(length)] {
    if let message = try? STUNMessage(bytes.span) {
      precondition(message.username.count <= STUN.maximumUsernameLength)
      if let fragment = message.receiverFragment {
        precondition(fragment.count < message.username.count)
      }
    }
    var responder = CheckResponder()
    let source = Endpoint(.loopback6, port: 1)
    let answer = responder.answer(bytes.span, from: source) { fragment in
      Array(copying: fragment)
    }
    if answer != .dropped { precondition(STUN.isMessage(responder.response)) }
  }
  return 0
}
