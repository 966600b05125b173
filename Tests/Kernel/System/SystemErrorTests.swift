import Glibc
import PawlBase
import PawlSystem
import Testing

@Suite struct SystemErrorTests {
    @Test(
        arguments: [
            (ECONNREFUSED, .connectionRefused, "connection refused"),
            (ENETUNREACH, .unreachable, "network is unreachable"),
            (EACCES, .unreachable, "permission denied"), (ETIMEDOUT, .connectTimeout, "connection timed out"),
            (ECONNRESET, .connectionLost, "connection reset by peer"), (ENOMEM, .other, "cannot allocate memory"),
            (EINVAL, .connectionRefused, "invalid argument"),
        ] as [(Int32, TransferFault.Kind, String)])
    func `an attempt to connect that fails`(number: Int32, kind: TransferFault.Kind, text: String) {
        let fault = TransferFault(connecting: SystemError(number: number))
        #expect(fault.kind == kind && fault.text == text)
    }

    @Test(arguments: [EMFILE, ENFILE]) func `a descriptor that is refused is scarcity, not the host's fault`(
        number: Int32
    ) {
        #expect(TransferFault(connecting: SystemError(number: number)) == .noDescriptor)
    }
}
