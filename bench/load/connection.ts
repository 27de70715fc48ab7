import { connect, type Socket } from 'node:net';

export interface Reply {
  status: number;
  /** The name and value of the last cookie that it sets, as they are sent back. */
  cookie: string | undefined;
  body: string;
}

/**
 * One kept-alive HTTP/1.1 connection with one request at a time. It knows only what the measured servers answer (a
 * Content-Length, no chunks): Node's own clients would take more of the processors that the servers need.
 */
export class Connection {
  readonly #address: URL;
  #socket: Socket | undefined;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve(reply: Reply): void; reject(error: Error): void } | undefined;

  constructor(url: string) {
    this.#address = new URL(url);
  }

  /** `headers` are whole lines, each with its line end. Rejects when the connection breaks. */
  request(method: string, path: string, headers: string, body = ''): Promise<Reply> {
    const length = method === 'GET' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket ??= this.#open();
      this.#socket.write(
        `${method} ${path} HTTP/1.1\r\nhost: ${this.#address.host}\r\n${headers}${length}\r\n${body}`,
      );
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    const { hostname: host, port } = this.#address;
    const socket = connect({ host, port: Number(port), noDelay: true });
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => {
      this.#socket = undefined;
      this.#fail(new Error('the connection was closed'));
    });
    return socket;
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#received.toString('latin1', 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#fail(new Error(`an answer without a length:\n${head}`));
      return;
    }
    const from = end + 4;
    const to = from + Number(length);
    if (this.#received.length < to) return;
    const body = this.#received.toString('utf8', from, to);
    this.#received = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({
      status: Number(head.slice(9, 12)),
      cookie: /\r\nset-cookie: *([^;\r]+)/i.exec(head)?.[1],
      body,
    });
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#received = Buffer.alloc(0);
    waiting?.reject(error);
  }
}
