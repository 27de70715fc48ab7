import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { imageOf, parseDockerfile } from './dockerfile.ts';

const root = resolve(import.meta.dirname, '../..');

export interface Service {
  image: string;
  build?: { context: string; args: Record<string, string> };
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  stop_grace_period?: string;
  networks?: { default: { ipv4_address: string } };
  [other: string]: unknown;
}
export interface Compose {
  services: Record<string, Service>;
  networks?: { default: { ipam: { config: { subnet: string }[] } } };
  volumes?: Record<string, null>;
}

/** The lines of an env file, `NAME=value`; those that are commented out as well when `all`. */
export function readEnv(path: string, all = false): Record<string, string> {
  const lines = readFileSync(join(root, path), 'utf8').matchAll(
    all ? /^(?:# )?([A-Z_\d]+)=(.*)$/gm : /^([A-Z_\d]+)=(.*)$/gm,
  );
  return Object.fromEntries([...lines].map(([, name, value]) => [name!, value!]));
}

/**
 * A compose file with the values of `env` in it, as compose puts them: `${NAME}`, `${NAME:-otherwise}`, `${NAME:?what is missing}`.
 */
export function readCompose(path: string, env: Record<string, string>): Compose {
  const text = readFileSync(join(root, path), 'utf8').replaceAll(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind?: string, otherwise = '') => {
      if (env[name]) return env[name];
      if (kind === '?') throw new Error(`${name}: ${otherwise}`);
      return otherwise;
    },
  );
  return parse(text, { merge: true });
}

/** ops/env.example as somebody fills it in, with keys that open nothing anywhere. */
export const exampleEnv: Record<string, string> = {
  ...readEnv('ops/env.example'),
  POSTGRES_PASSWORD: 'a'.repeat(48),
  LINK_SECRET: 'b'.repeat(64),
  STRIPE_SECRET_KEY: 'sk_live_invented',
  STRIPE_PUBLISHABLE_KEY: 'pk_live_invented',
  STRIPE_WEBHOOK_SECRET: 'whsec_invented',
  HUBSPOT_ACCESS_TOKEN: 'pat-invented',
  SMTP_URL: 'smtps://induct:password@localhost:1',
};

/** All settings that a server of compose.yaml runs with: the image's, those of the env file, and those of compose.yaml itself. */
export function liveSettings(server: 'server1' | 'server2'): Record<string, string> {
  const { env } = imageOf(parseDockerfile(readFileSync(join(root, 'Dockerfile'), 'utf8')));
  return {
    ...env,
    ...exampleEnv,
    ...readCompose('compose.yaml', exampleEnv).services[server]!.environment,
  };
}
