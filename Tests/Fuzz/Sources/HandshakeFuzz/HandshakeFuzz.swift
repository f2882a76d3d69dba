import FuzzSupport

/// Runs the input as a script between a host and an initiator that have not begun yet, whose
/// connection is encrypted as the first byte says; see `HandshakeScript`.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var script = FuzzScript(fuzzInput(data, count))
  let security = ScriptSecurity.encrypted[Int(script.next()) % ScriptSecurity.encrypted.count]
  var run = HandshakeScript(security, script)
  run.run()
  return 0
}
