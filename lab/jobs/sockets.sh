#!/bin/bash
# sockets: servers and clients in Python and Perl: threads, coroutines, processes with their pools, queues and shared memory, files passed along, a log.
# packages: bash coreutils findutils perl python3
# settings: SOCKETS=y EVENTS=y
. "${0%/*}/common.sh"
cat > threads.py <<'P'
import os, socket, socketserver, stat, threading

class Server(socketserver.ThreadingUnixStreamServer):
    request_queue_size = 8  # all clients at once

class Upper(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(line.upper())

with Server("upper", Upper) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    def ask(number):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(60)
            client.connect("upper")
            client.sendall(b"one line\n" * 5000)
            client.shutdown(socket.SHUT_WR)
            answers[number] = len(client.makefile("rb").read())
    answers = {}
    clients = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    [client.start() for client in clients], [client.join() for client in clients]
    print(sorted(answers.items()), stat.S_ISSOCK(os.stat("upper").st_mode))
    server.shutdown()

here, there = socket.socketpair()
if not os.fork():
    data, files, flags, name = socket.recv_fds(there, 10, 4)
    os.write(files[0], b"from the child\n")
    os._exit(0)
with open("passed", "wb") as file:
    socket.send_fds(here, [b"a file"], [file.fileno()])
os.wait()
print(open("passed").read(), end="")
here.settimeout(0.01)
try:
    here.recv(1)
except TimeoutError as error:
    print("too late:", error)
P
cat > coroutines.py <<'P'
import asyncio, multiprocessing

async def echo(reader, writer):
    while data := await reader.read(5000):
        writer.write(data)
        await writer.drain()
    writer.close()

async def talk(number):
    reader, writer = await asyncio.open_unix_connection("echo", limit=1 << 21)
    writer.write(bytes([number]) * 300000 + b"\n")
    await writer.drain()
    line = await reader.readline()
    writer.close()
    return len(line), line[0], line[-2]

async def main():
    server = await asyncio.start_unix_server(echo, "echo")
    print(await asyncio.gather(*map(talk, range(65, 75))))
    server.close()

asyncio.run(main())
if __name__ == "__main__":
    with multiprocessing.Manager() as manager:
        numbers = manager.list()
        children = [multiprocessing.Process(target=numbers.append, args=(number,)) for number in range(4)]
        [child.start() for child in children], [child.join() for child in children]
        print(sorted(numbers))
P
cat > processes.py <<'P'
import multiprocessing, multiprocessing.shared_memory, concurrent.futures, os, sys

def square(number):
    return number * number

def count(lock, value, queue, pipe):
    for _ in range(100):
        with lock:
            value.value += 1
    queue.put(value.value > 0)
    pipe.send([1, "two"])

def fill(name):
    memory = multiprocessing.shared_memory.SharedMemory(name)
    memory.buf[:5] = b"there"
    memory.close()

if __name__ == "__main__":
    for way in "fork", "spawn", "forkserver":
        context = multiprocessing.get_context(way)
        with context.Pool(3) as pool:
            print(way, pool.map(square, range(10)))
        lock, value, queue, (here, there) = context.Lock(), context.Value("i", lock=False), context.Queue(), context.Pipe()
        children = [context.Process(target=count, args=(lock, value, queue, there)) for _ in range(3)]
        [child.start() for child in children]
        print([queue.get() for _ in children], [here.recv() for _ in children])
        [child.join() for child in children]
        print(value.value, [child.exitcode for child in children])
        memory = multiprocessing.shared_memory.SharedMemory(create=True, size=10000)
        child = context.Process(target=fill, args=(memory.name,))
        child.start(), child.join()
        print(bytes(memory.buf[:5]), child.exitcode)
        memory.close(), memory.unlink()
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
            print(list(executor.map(square, range(5))))
P
cat > log.pl <<'P'
use strict; use warnings; use IO::Socket::UNIX; use Sys::Syslog qw(:standard :macros setlogsock);
my $log = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => 'log') or die "log: $!";
if (!fork) { setlogsock({ type => 'unix', path => 'log' }); openlog('job', 'ndelay', LOG_USER);
	syslog(LOG_INFO, "line %d", $_) for 1 .. 30; exit 0 }
for (1 .. 30) { $log->recv(my $line, 1000); print $line =~ s/.*job/job/r, "\n" if $_ % 10 == 0 }
wait; print "status $?\n";
my $client = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => 'log') or print "no stream: $!\n";
$client = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => 'upper') or print "nobody: $!\n";
P
python3 threads.py
python3 coroutines.py
python3 processes.py; ls -A /dev/shm
perl log.pl
tree_of .
