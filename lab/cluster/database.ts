import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../tests/harness/until.ts';
import { here, type Machine } from './network.ts';

const PASSWORD = 'of-the-drill';
const template = join(import.meta.dirname, '../../ops/cluster/patroni.yml');

interface Member {
  name: string;
  role: 'leader' | 'sync_standby' | 'replica';
  state: string;
  timeline?: number;
}

/** Three machines, each with a member of etcd and a PostgreSQL under Patroni. */
export class Cluster {
  readonly machines: readonly Machine[];
  readonly #folder: string;
  readonly #bin: string;

  /** `bin`: the folder of PostgreSQL's programs. */
  constructor(machines: readonly Machine[], folder: string, bin: string) {
    this.machines = machines;
    this.#folder = folder;
    this.#bin = bin;
    const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'])));
    for (const { name } of machines)
      for (const own of [name, `${name}/etcd`, `${name}/sockets`]) {
        mkdirSync(join(folder, own), { mode: 0o700 });
        chownSync(join(folder, own), uid!, gid!);
      }
  }

  /** Returns the URL of a database, in libpq's form, which lists the hosts of all three machines. */
  url(database: string): string {
    const hosts = this.machines.map(({ address }) => `${address}:5432`).join(',');
    return `postgres://postgres:${PASSWORD}@${hosts}/${database}?target_session_attrs=read-write`;
  }

  /** Starts etcd and Patroni on a machine, for the first time or after it was killed. */
  start(machine: Machine): void {
    const { name, address } = machine;
    const folder = join(this.#folder, name);
    const peer = (one: Machine) => `${one.name}=http://${one.address}:2380`;
    const etcd = {
      name,
      'data-dir': join(folder, 'etcd'),
      'listen-peer-urls': `http://${address}:2380`,
      'initial-advertise-peer-urls': `http://${address}:2380`,
      'listen-client-urls': `http://${address}:2379`,
      'advertise-client-urls': `http://${address}:2379`,
      'initial-cluster': this.machines.map(peer).join(','),
      'enable-v2': 'true',
      'pre-vote': 'true',
    };
    machine.start(
      'etcd',
      Object.entries(etcd).map(([option, value]) => `--${option}=${value}`),
      join(this.#folder, `${name}-etcd.log`),
    );
    const file = join(this.#folder, `${name}.yml`);
    const own = here(readFileSync(template, 'utf8'))
      .replace('name: db1', `name: ${name}`)
      .replaceAll(/((?:listen|connect_address): )[\d.]+/g, `$1${address}`)
      .replaceAll('PASSWORD', PASSWORD)
      .replace(/data_dir: .*/, `data_dir: ${join(folder, 'data')}`)
      .replace(/bin_dir: .*/, `bin_dir: ${this.#bin}`)
      .replace(/pgpass: .*/, `pgpass: ${join(folder, 'pgpass')}`)
      .replace('/var/run/postgresql', join(folder, 'sockets'));
    writeFileSync(file, own, { mode: 0o644 });
    machine.start('patroni', [file], join(this.#folder, `${name}-patroni.log`));
  }

  /**
   * Asks Patroni on every machine which members the cluster has and which of them leads. Returns one machine's answer if at least
   * one other machine names the same leader. Returns an empty list if no two machines name the same leader.
   */
  async members(): Promise<Member[]> {
    const views = await Promise.all(
      this.machines.map(({ address }) =>
        fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(2_000) }).then(
          async (answer) => ((await answer.json()) as { members: Member[] }).members,
          () => null,
        ),
      ),
    );
    const known = views.filter((view) => view !== null);
    return known.find((view) => known.filter((other) => leaderOf(other) === leaderOf(view)).length > 1) ?? [];
  }

  /**
   * Waits until all three databases run, one of them as synchronous standby. Resolves with the machines of the leader and of that
   * standby.
   */
  async whole(): Promise<{ leader: Machine; synchronous: Machine }> {
    let members: Member[] = [];
    await until(async () => {
      members = await this.members().catch(() => []);
      const roles = members.map(({ role }) => role).sort();
      return (
        roles.join() === 'leader,replica,sync_standby' &&
        members.every(
          ({ state, timeline }) => /running|streaming/.test(state) && timeline === members[0]!.timeline,
        )
      );
    }).catch(() => {
      throw new Error(`The databases did not come together: ${JSON.stringify(members)}`);
    });
    const machineOf = (role: Member['role']) =>
      this.machines.find(({ name }) => name === members.find((member) => member.role === role)!.name)!;
    return { leader: machineOf('leader'), synchronous: machineOf('sync_standby') };
  }

  /** Resolves when a machine other than this one is the leader. */
  async ledByAnotherThan({ name }: Machine): Promise<void> {
    await until(async () => {
      const leader = leaderOf(await this.members());
      return leader !== undefined && leader !== name;
    });
  }
}

const leaderOf = (members: readonly Member[]) => members.find(({ role }) => role === 'leader')?.name;
