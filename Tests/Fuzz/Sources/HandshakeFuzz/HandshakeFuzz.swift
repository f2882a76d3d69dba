import FuzzSupport

/// Makes the stages before the first input, so that their time does not count as its.
@c(LLVMFuzzerInitialize)
public func initializeFuzzer(
  _ count: UnsafeMutablePointer<CInt>?,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> CInt {
  precondition(!Stages.all.isEmpty, "there are handshakes to continue")
  return 0
}

/// Runs the input as a script between a host and an initiator whose encrypted connection is being
/// opened, from the stage on that the first two bytes choose; see `HandshakeScript`.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var script = FuzzScript(fuzzInput(data, count))
  let number = Int(script.next()) | Int(script.next()) << 8
  var run = Stages.all[number % Stages.all.count]
  run.run(script)
  return 0
}
