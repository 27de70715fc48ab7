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
  healthcheck?: { test?: string[]; start_period?: string };
  [other: string]: unknown;
}
export interface Compose {
  services: Record<string, Service>;
  networks?: { default: { ipam: { config: { subnet: string; ip_range?: string; gateway?: string }[] } } };
  volumes?: Record<string, null>;
}

/** Returns the variables of an env file, `NAME=value`; with `all`, also those that are commented out. */
export function readEnv(path: string, all = false): Record<string, string> {
  const lines = readFileSync(join(root, path), 'utf8').matchAll(
    all ? /^(?:# )?([A-Z_\d]+)=(.*)$/gm : /^([A-Z_\d]+)=(.*)$/gm,
  );
  return Object.fromEntries([...lines].map(([, name, value]) => [name!, value!]));
}

/** Reads a compose file and expands variables from `env` as compose does: `${NAME}`, `${NAME:-default}`, `${NAME:?error}`. */
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

/** The variables of ops/env.example, filled in with invented keys. */
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

/** Returns all settings of a server in compose.yaml: those of the image, of the env file, and of compose.yaml itself. */
export function liveSettings(server: 'server1' | 'server2'): Record<string, string> {
  const { env } = imageOf(parseDockerfile(readFileSync(join(root, 'Dockerfile'), 'utf8')));
  return {
    ...env,
    ...exampleEnv,
    ...readCompose('compose.yaml', exampleEnv).services[server]!.environment,
  };
}
