import Glibc

/// An FTP server on 127.0.0.1 whose file changes while it is served.
///
/// It serves the file `content` of its folder under every name. Words in the file `mode` change its
/// behaviour; each command reads it
/// again: `nosize`, `norest`, `cut` (end the connection after half of the content), `early` (`next` becomes `content`
/// before it is sent), `late` (after it was sent), `states` (the length begins the transfer), `silent` (nothing is said
/// after the content), `550` (the reply to an offset behind the end), `eager` (MLSD is unknown, and the reply to the
/// next EPSV is there before the command), `folder` (the name is a folder's).
package struct UnsteadyFTPServer {
    package let process: PawlProcess
    package let port: UInt16

    package init(in folder: String) throws(SetupFailure) {
        let script = """
            import os,socket,threading
            def read(n):
                try: return open(n,'rb').read()
                except OSError: return b''
            def turn():
                try: os.rename('next','content'); open('turned','w')
                except OSError: pass
            def serve(c):
                say=lambda t: c.sendall((t+'\\r\\n').encode())
                say('220 ready'); rest=0; p=None; owed=[]
                for line in c.makefile('rb'):
                    cmd,_,arg=line.decode().strip().partition(' '); mode=read('mode').decode().split(); data=read('content')
                    if cmd in owed: owed.remove(cmd)
                    elif cmd=='USER': say('331 password')
                    elif cmd=='PASS': say('230 in')
                    elif cmd=='PWD': say('257 "/"')
                    elif cmd=='TYPE': say('200 ok')
                    elif cmd=='CWD': say('250 ok' if arg!='f' or 'folder' in mode else '550 no')
                    elif cmd=='SIZE': say('502 no' if 'nosize' in mode else '213 %d'%len(data))
                    elif cmd=='MDTM': say('213 20230102100000' if not os.path.exists('turned') else '213 20230102100001')
                    elif cmd=='REST':
                        if 'norest' in mode: say('502 no')
                        else: rest=int(arg); say('350 ok')
                    elif cmd=='EPSV':
                        p=socket.create_server(('127.0.0.1',0)); say('229 x (|||%d|)'%p.getsockname()[1])
                    elif cmd=='MLSD' and 'eager' in mode:
                        p=socket.create_server(('127.0.0.1',0)); owed=['EPSV']
                        say('500 unknown\\r\\n229 x (|||%d|)'%p.getsockname()[1])
                    elif cmd=='LIST':
                        say('150 opening'); d,_=p.accept()
                        d.sendall(b'-rw-r--r-- 1 o g %d Nov 29 2020 f\\r\\n'%len(data)); d.close(); say('226 done')
                    elif cmd=='RETR' and 'folder' in mode: say('550 not a plain file')
                    elif cmd=='RETR':
                        if rest>len(data): say('550 no' if '550' in mode else '554 beyond the end'); rest=0; continue
                        if 'early' in mode: turn(); data=read('content')
                        body=data[rest:]; rest=0
                        say('150 opening (%d bytes)'%len(body) if 'states' in mode else '150 opening')
                        d,_=p.accept()
                        try: d.sendall(body[:len(data)//2] if 'cut' in mode else body)
                        except OSError: pass
                        d.close()
                        if 'cut' in mode: c.close(); return
                        if 'late' in mode: turn()
                        if 'silent' not in mode: say('226 done')
                    elif cmd=='QUIT': say('221 bye'); return
                    else: say('502 unknown')
            def safe(c):
                try: serve(c)
                except OSError: pass
            s=socket.create_server(('127.0.0.1',0)); print(s.getsockname()[1],flush=True)
            while True:
                c,_=s.accept(); threading.Thread(target=safe,args=(c,),daemon=True).start()
            """
        process = try PawlProcess("/usr/bin/python3", ["-c", script], folder: folder)
        let line = process.line(in: .out, where: { !$0.isEmpty })
        guard let port = line.flatMap({ UInt16($0) }) else { throw SetupFailure("FTP server", EADDRINUSE) }
        self.port = port
    }

    package var url: String { "ftp://127.0.0.1:\(port)/f" }
}
