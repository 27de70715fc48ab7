import type { Connection, Reply } from '../load/connection.ts';

/** One join on its way. */
export interface Join {
  /** Counts all joins of a measurement: whoever joins is made of it. */
  readonly number: number;
  readonly browser: Browser;
  /** The session's id, once it has begun. */
  id: string;
  intent: { id: string; clientSecret: string; revision: number } | undefined;
}

/** One call of a join. */
export interface Step {
  name: string;
  run(join: Join): Promise<unknown>;
}

/** A joiner's browser: the server it asks, its cookie, and the address that it is seen to come from. */
export class Browser {
  readonly #connection: Connection;
  readonly #from: string;
  #cookie = '';

  constructor(connection: Connection, address?: string) {
    this.#connection = connection;
    this.#from = address === undefined ? '' : `x-forwarded-for: ${address}\r\n`;
  }

  get(path: string): Promise<Reply> {
    return this.#send('GET', path, '');
  }

  post(path: string, body: unknown): Promise<Reply> {
    return this.#send('POST', path, 'content-type: application/json\r\n', JSON.stringify(body));
  }

  put(path: string, body: unknown): Promise<Reply> {
    return this.#send('PUT', path, 'content-type: application/json\r\n', JSON.stringify(body));
  }

  /** Throws when the answer is not a success: a join that went wrong measures nothing. */
  async #send(method: string, path: string, type: string, body?: string): Promise<Reply> {
    const reply = await this.#connection.request(method, path, `${this.#from}${this.#cookie}${type}`, body);
    if (reply.status >= 400)
      throw new Error(`${method} ${path}: ${reply.status} ${reply.body.slice(0, 300)}`);
    if (reply.cookie !== undefined) this.#cookie = `cookie: ${reply.cookie}\r\n`;
    return reply;
  }
}
