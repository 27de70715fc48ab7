import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import type { Scope } from '../../tests/harness/scope.ts';

/** The address prefix in the examples of ops/cluster, and the prefix that replaces it in the drill. */
const EXAMPLE = '10.0.0.';
const PREFIX = '10.213.77.';
const SWITCH = 'induct-switch';
/**
 * The name of this host's own network interface on the drill's network. It has the addresses of HAProxy and of Induct's servers,
 * which run on this host and not on a simulated machine.
 */
const OURS = 'induct-drill';
/** A MAC address that no interface has: packets to it are lost without an error. */
const NOBODY = '02:00:00:00:00:01';

/** Replaces the addresses in a text of ops/cluster with those of the drill. */
export const here = (text: string) => text.replaceAll(EXAMPLE, PREFIX);
/** Returns the drill's IPv4 address with this last octet. */
export const address = (number: number) => `${PREFIX}${number}`;

/** A simulated machine: a network namespace with one address and the processes that are started in it. */
export interface Machine {
  name: string;
  address: string;
  /** Starts a program as the account `postgres`. The program's output goes to the file `log`. */
  start(program: string, args: readonly string[], log: string): ChildProcess;
  /** Kills all processes of the machine with SIGKILL, as a power cut would. */
  kill(): void;
}

const ip = (...args: string[]) =>
  execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** Returns why the drill's network cannot be made here; null when it can. */
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

/**
 * Makes simulated machines and connects them by a bridge. Also makes a network interface of this host on the same network.
 * `machines` has the last octet of each machine's IPv4 address, by the machine's name. `ours` has the last octets of this host's
 * addresses. The end of the scope removes everything.
 */
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
          // The process has ended since it was listed, so there is nothing to kill.
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
          // Ctrl-C must not reach the program: the scope stops it.
          detached: true,
        });
      },
    };
  });
}

/** Cuts the network between two machines, or restores it. */
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
