import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import type { Scope } from '../harness/scope.ts';

/** The network of the examples in ops/cluster, and where the drill has it. */
const EXAMPLE = '10.0.0.';
const PREFIX = '10.213.77.';
const SWITCH = 'induct-switch';
/** Our own end of the network: HAProxy and the servers have addresses there. */
const OURS = 'induct-drill';
/** A card that nobody has: what is sent to it is swallowed, and nobody is told. */
const NOBODY = '02:00:00:00:00:01';

/** A text of ops/cluster with the addresses of the drill. */
export const here = (text: string) => text.replaceAll(EXAMPLE, PREFIX);
/** An address of the drill by its last number. */
export const address = (number: number) => `${PREFIX}${number}`;

/** A machine: a network namespace with one address and the processes that are started in it. */
export interface Machine {
  name: string;
  address: string;
  /** Starts a program as the account `postgres`; its output goes to the file. */
  start(program: string, args: readonly string[], log: string): ChildProcess;
  /** Ends all that runs on it with -9, as a power cut would. */
  kill(): void;
}

const ip = (...args: string[]) =>
  execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** Why there cannot be a network of the drill's own here; null when there can. */
export function lacksNamespaces(): string | null {
  const left = ip('netns', 'list')
    .split('\n')
    .find((line) => line.startsWith('induct-'));
  if (left)
    return `There is a network namespace ${left.split(' ')[0]}: another drill runs, or was killed. Then end it: for n in $(ip netns list | grep -o '^induct-[a-z0-9]*'); do kill -9 $(ip netns pids $n); ip netns del $n; done`;
  try {
    ip('netns', 'add', SWITCH);
    ip('netns', 'del', SWITCH);
    return null;
  } catch (error) {
    return `This system makes no network namespaces: ${(error as Error).message.trim()}`;
  }
}

/** Machines at a switch, and ourselves with some addresses; gone with the scope. */
export function startNetwork(
  scope: Scope,
  machines: Record<string, number>,
  ours: readonly number[],
): Machine[] {
  const attach = (namespace: string[], name: string, addresses: readonly number[]) => {
    ip('link', 'add', name, 'type', 'veth', 'peer', 'name', `to-${name}`.slice(0, 15), 'netns', SWITCH);
    ip('-n', SWITCH, 'link', 'set', `to-${name}`.slice(0, 15), 'master', 'switch', 'up');
    if (namespace.length > 0) ip('link', 'set', name, 'netns', namespace[1]!);
    for (const number of addresses) ip(...namespace, 'addr', 'add', `${address(number)}/24`, 'dev', name);
    ip(...namespace, 'link', 'set', name, 'up');
  };
  scope.onEnd(() => ip('netns', 'del', SWITCH));
  ip('netns', 'add', SWITCH);
  ip('-n', SWITCH, 'link', 'add', 'switch', 'type', 'bridge');
  ip('-n', SWITCH, 'link', 'set', 'switch', 'up');
  attach([], OURS, ours);
  return Object.entries(machines).map(([name, number]) => {
    const namespace = `induct-${name}`;
    ip('netns', 'add', namespace);
    const kill = () => {
      for (const pid of ip('netns', 'pids', namespace).split('\n').filter(Boolean)) {
        try {
          process.kill(Number(pid), 'SIGKILL');
        } catch {
          // It has ended meanwhile.
        }
      }
    };
    scope.onEnd(() => {
      kill();
      ip('netns', 'del', namespace);
    });
    ip('-n', namespace, 'link', 'set', 'lo', 'up');
    attach(['-n', namespace], name, [number]);
    return {
      name,
      address: address(number),
      kill,
      start(program, args, log) {
        const output = openSync(log, 'a');
        const as = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--'];
        return spawn('ip', ['netns', 'exec', namespace, ...as, program, ...args], {
          cwd: '/',
          env: { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: '/tmp' },
          stdio: ['ignore', output, output],
          // Ctrl-C is ours to tell.
          detached: true,
        });
      },
    };
  });
}

/** Cuts the network between two machines, or mends it. */
export function setCut(one: Machine, other: Machine, isCut: boolean): void {
  for (const [near, far] of [
    [one, other],
    [other, one],
  ] as const)
    if (isCut)
      ip(
        '-n',
        `induct-${near.name}`,
        'neigh',
        'replace',
        far.address,
        'lladdr',
        NOBODY,
        'dev',
        near.name,
        'nud',
        'permanent',
      );
    else ip('-n', `induct-${near.name}`, 'neigh', 'del', far.address, 'dev', near.name);
}
