import { spawnSync } from 'node:child_process';
import { findProgram } from '../../tools/local/findProgram.ts';
import { lacksNamespaces } from './network.ts';

/** The programs that `npm run lab -- cluster` needs, each with its Debian package. */
const packages: Record<string, string> = {
  ip: 'iproute2',
  setpriv: 'util-linux',
  etcd: 'etcd-server',
  patroni: 'patroni',
  haproxy: 'haproxy',
  psql: 'postgresql',
};

/**
 * Installs the missing programs if it can. Returns null if the drill can run here; otherwise a sentence with the reason why it
 * cannot.
 */
export function provide(say: (line: string) => void): string | null {
  if (process.platform !== 'linux') return 'The drill needs network namespaces, which Linux has.';
  if (process.getuid?.() !== 0) return 'The drill makes network namespaces: run it as root.';
  const missing = () =>
    Object.entries(packages)
      .filter(([program]) => !findProgram(program, `/usr/sbin/${program}`))
      .map(([, name]) => name);
  const wanted = missing();
  const command = ['apt-get', 'install', '-y', '--no-install-recommends', ...wanted];
  if (wanted.length > 0) {
    if (!findProgram('apt-get')) return `These are not installed: ${wanted.join(', ')}.`;
    say(`Installing ${wanted.join(', ')} (${command.join(' ')}) …`);
    const { status } = spawnSync(command[0]!, command.slice(1), {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0 || missing().length > 0) return `These could not be installed: ${missing().join(', ')}.`;
  }
  return lacksNamespaces();
}
