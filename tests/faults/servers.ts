import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Child, startChild } from '../../tools/local/child.ts';
import { freePort } from '../../tools/local/ports.ts';
import type { KillPoint } from './operations.ts';
import type { Armed, Order, ServerSettings } from './server.ts';

const program = resolve(import.meta.dirname, 'server.ts');

/** How long a server may take to notice that its connections were ended (ms). */
const BROKEN_MS = 1_000;

/** What the test does while a server waits at a point. */
type WhileWaiting = () => Promise<unknown>;

/** One of the two servers. Whenever its process dies, it is restarted on the same port. */
export class Server {
  readonly url: string;
  /** Where the server died: named points, and `any` for kills from outside. */
  readonly kills: (KillPoint | 'any')[] = [];
  /** The reason for each exit other than a kill. There must be none. */
  readonly exits: string[] = [];
  /** When the server's database connections were ended (ms since 1970). */
  readonly breaks: { from: number; to: number }[] = [];
  readonly #waiting = new Map<number, WhileWaiting>();
  readonly #env: NodeJS.ProcessEnv;
  readonly #settings: Omit<ServerSettings, 'armed'>;
  /** Called with the id of an armed point when the server has reached it. */
  reached: (id: number) => void = () => {};
  #armed: Armed[] = [];
  #child: Child | undefined;
  #up = Promise.withResolvers<void>();
  #isUp = false;
  #isStopping = false;
  #running: Promise<void> = Promise.resolve();
  #deaths = Promise.withResolvers<void>();

  constructor(port: number, env: NodeJS.ProcessEnv, settings: Omit<ServerSettings, 'armed'>) {
    this.url = `http://127.0.0.1:${port}`;
    this.#env = { ...env, PORT: String(port) };
    this.#settings = settings;
  }

  static async onFreePort(env: NodeJS.ProcessEnv, settings: Omit<ServerSettings, 'armed'>): Promise<Server> {
    const server = new Server((await freePort()) as number, env, settings);
    server.#running = server.#keepRunning();
    await Promise.race([server.up(), server.#running]);
    return server;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  up(): Promise<void> {
    return this.#up.promise;
  }

  /** Resolves when the server dies the next time. */
  nextDeath(): Promise<void> {
    return this.#deaths.promise;
  }

  /** Makes the server die once when it reaches this point. */
  arm(armed: Omit<Armed, 'does'>): void {
    this.#arm({ ...armed, does: 'die' });
  }

  /** Makes the server wait once at this point, until `work` is done. */
  holdAt(armed: Omit<Armed, 'does'>, work: WhileWaiting): void {
    this.#waiting.set(armed.id, work);
    this.#arm({ ...armed, does: 'wait' });
  }

  #arm(armed: Armed): void {
    this.#armed.push(armed);
    this.#tell({ arm: armed });
  }

  #tell(order: Order): void {
    if (this.#isUp) this.#child?.process.send(order, () => {});
  }

  async #reach(id: number, tell: (order: Order) => void): Promise<void> {
    this.#armed = this.#armed.filter((armed) => armed.id !== id);
    this.reached(id);
    await this.#waiting.get(id)?.();
    tell({ goOn: id });
  }

  /**
   * Whether the server's database connections were ended between these times (ms since 1970), or at most BROKEN_MS before them.
   */
  wasBroken(from: number, to: number): boolean {
    return this.breaks.some((one) => one.from <= to && one.to + BROKEN_MS >= from);
  }

  isArmed(id: number): boolean {
    return this.#armed.some((armed) => armed.id === id);
  }

  /** Disarms a point. Returns false if it was not armed, for example because a server has already reached it. */
  disarm(id: number): boolean {
    if (!this.isArmed(id)) return false;
    this.#armed = this.#armed.filter((armed) => armed.id !== id);
    this.#tell({ disarm: id });
    return true;
  }

  /** Kills the server from outside once it is up, and waits for its death. */
  async kill(): Promise<void> {
    await this.up();
    const death = this.nextDeath();
    this.#child?.process.kill('SIGKILL');
    await death;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#child?.stop();
    await this.#running;
  }

  /** Restarts the server after each death. Rejects when it cannot be started. */
  async #keepRunning(): Promise<void> {
    while (!this.#isStopping) {
      let child: Child | undefined;
      const since = Date.now();
      const before = this.#killsSoFar().length;
      await startChild(program, {
        env: { ...this.#env, FAULTS: JSON.stringify({ ...this.#settings, armed: this.#armed }) },
        started: (started) => {
          child = started;
          this.#child = started;
          const tell = (order: Order) => {
            if (started.process.connected) started.process.send(order, () => {});
          };
          started.process.on('message', ({ reached }: { reached?: number }) => {
            if (reached !== undefined) void this.#reach(reached, tell);
          });
        },
      }).then(
        () => {
          this.#isUp = true;
          this.#up.resolve();
        },
        () => {},
      );
      const reason = await child!.ended;
      const wasUp = this.#isUp;
      this.#isUp = false;
      this.#up = Promise.withResolvers<void>();
      if (this.#isStopping) return;
      const isKilled = reason === 'signal SIGKILL';
      if (!isKilled && !wasUp) {
        // The server's database connections were ended while it started: tries again.
        if (this.wasBroken(since, Date.now())) continue;
        throw new Error(`a server did not start (${reason})`);
      }
      const hit = this.#killsSoFar().slice(before);
      if (isKilled) this.kills.push(hit[0]?.point ?? 'any');
      else this.exits.push(reason);
      this.#armed = this.#armed.filter(({ id }) => !hit.some((one) => one.id === id));
      for (const { id } of hit) this.reached(id);
      const death = this.#deaths;
      this.#deaths = Promise.withResolvers<void>();
      death.resolve();
    }
  }

  #killsSoFar(): Armed[] {
    const { killedFile } = this.#settings;
    if (!existsSync(killedFile)) return [];
    return readFileSync(killedFile, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Armed);
  }

  /** Resolves when the server has been stopped; rejects when it cannot be restarted. */
  get ended(): Promise<void> {
    return this.#running;
  }
}
