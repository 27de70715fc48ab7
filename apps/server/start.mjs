// Starts the built server (docs/decisions/0002). Plain JavaScript that also runs in old versions of Node, so that the sentence
// below can be printed there.
import { existsSync } from 'node:fs';

const server = new URL('./dist/server.js', import.meta.url);
const fault =
  Number.parseInt(process.versions.node, 10) < 26
    ? `The server needs Node.js 26 or newer. This is ${process.version}; \`npm start\` brings a newer one.`
    : !existsSync(server) &&
      'The server is not built yet: `npm run build` builds it, `npm start` does so by itself.';
if (fault) {
  console.error(fault);
  process.exit(1);
}
await import(server.href);
