import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Child, startChild } from '../local/child.ts';
import { freePort } from '../local/ports.ts';
import type { KillPoint } from './operations.ts';
import type { Armed, ServerSettings } from './server.ts';

const program = resolve(import.meta.dirname, 'server.ts');

/** One of the two servers: it comes back on the same port whenever it was killed. */
export class Server {
  readonly url: string;
  /** Where it died: named points, and `any` for kills from outside. */
  readonly kills: (KillPoint | 'any')[] = [];
  readonly #env: NodeJS.ProcessEnv;
  readonly #settings: Omit<ServerSettings, 'armed'>;
  /** Told of what it was armed with when it has died of it. */
  diedOf: (id: number) => void = () => {};
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

  /** Resolves at its next death. */
  nextDeath(): Promise<void> {
    return this.#deaths.promise;
  }

  /** Lets it die at this point, once. */
  arm(armed: Armed): void {
    this.#armed.push(armed);
    if (this.#isUp) this.#child?.process.send({ arm: armed }, () => {});
  }

  isArmed(id: number): boolean {
    return this.#armed.some((armed) => armed.id === id);
  }

  /** False when it was not armed with this any more: it has died of it. */
  disarm(id: number): boolean {
    if (!this.isArmed(id)) return false;
    this.#armed = this.#armed.filter((armed) => armed.id !== id);
    if (this.#isUp) this.#child?.process.send({ disarm: id }, () => {});
    return true;
  }

  /** Kills it from outside, once it is up, and waits for its death. */
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

  /** Rejects when the server ends by itself. */
  async #keepRunning(): Promise<void> {
    while (!this.#isStopping) {
      let child: Child | undefined;
      const before = this.#killsSoFar().length;
      await startChild(program, {
        env: { ...this.#env, FAULTS: JSON.stringify({ ...this.#settings, armed: this.#armed }) },
        started: (started) => {
          child = started;
          this.#child = started;
        },
      }).then(
        () => {
          this.#isUp = true;
          this.#up.resolve();
        },
        () => {},
      );
      const reason = await child!.ended;
      this.#isUp = false;
      this.#up = Promise.withResolvers<void>();
      if (this.#isStopping) return;
      if (reason !== 'signal SIGKILL') throw new Error(`a server ended by itself (${reason})`);
      const hit = this.#killsSoFar().slice(before);
      this.kills.push(hit[0]?.point ?? 'any');
      this.#armed = this.#armed.filter(({ id }) => !hit.some((one) => one.id === id));
      for (const { id } of hit) this.diedOf(id);
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

  /** Rejects when it ends by itself. */
  get ended(): Promise<void> {
    return this.#running;
  }
}
