import type { Socket } from 'node:net';

/** Writes endlessly, as fast as the client reads. */
export function pour(socket: Socket, chunk: string | Uint8Array): void {
  const more = () => {
    while (socket.writable && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

/** Writes one chunk after another, slowly and endlessly. */
export function drip(socket: Socket, piece: string | Uint8Array): void {
  const timer = setInterval(() => socket.write(piece), 5);
  socket.on('close', () => clearInterval(timer));
}
