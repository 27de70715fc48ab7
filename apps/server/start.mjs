// Runs the server as it was built (docs/decisions/0016). Half of a start would be the compiling of functions that the last start
// compiled too, and node's own compile cache keeps none that are compiled when they are first called. So V8 is asked
// for its code once the server has listened for a moment, or when it ends before, and the next start begins with it.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
// As whole modules: an older Node, which lacks some of what they have, is to come as far as the sentence below.
import nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import zlib from 'node:zlib';

/** When a server that listens is taken to have done what every start does (ms). */
const MOMENT_MS = 500;

if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `The server needs Node.js 24 or newer. This is ${process.version}; \`npm start\` brings a newer one.`,
  );
  process.exit(1);
}
const { createRequire, getCompileCacheDir } = nodeModule;

const file = join(import.meta.dirname, 'dist/server.js');
if (!existsSync(file)) {
  console.error('The server is not built yet: `npm run build` builds it, `npm start` does so by itself.');
  process.exit(1);
}
// V8 knows a file by its length alone, and does not look whether its code is whole: the name and the sum do.
const version = readFileSync(join(dirname(file), '.sources'), 'utf8');
const folder = getCompileCacheDir() && join(getCompileCacheDir(), 'server');
const kept = folder && join(folder, version);

const script = compile(readKept());
const module = { exports: {} };
script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
await module.exports.listening;
process.once('exit', keep);
setTimeout(() => {
  process.off('exit', keep);
  keep();
  // What outlives the nursery may grow by half until it is looked through: V8's own rule lets it grow threefold under load, and
  // keeps that memory. Not before, since code that was compiled under other flags is compiled anew: node's own too.
  setFlagsFromString('--heap-growing-percent=50');
  // The parser behind `fetch` is WebAssembly: V8 would make it faster after the first few answers, with 15 to 23 MB for a moment.
  setFlagsFromString('--wasm-tiering-budget=2000000000');
}, MOMENT_MS).unref();

function compile(cachedData) {
  return new vm.Script(readFileSync(file, 'utf8'), {
    filename: file,
    ...(cachedData && { cachedData }),
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
}

function readKept() {
  if (!kept) return;
  try {
    const bytes = readFileSync(kept);
    const whole = bytes.subarray(4);
    if (bytes.readUInt32LE() === zlib.crc32(whole)) return whole;
  } catch {
    // None yet.
  }
}

/** Under a name of its own until it is whole. A disk that is full or read-only costs the next start its speed alone. */
function keep() {
  // Undefined where there was none.
  if (!kept || script.cachedDataRejected === false) return;
  const fresh = `${kept}.${process.pid}`;
  try {
    const bytes = script.createCachedData();
    const sum = Buffer.alloc(4);
    sum.writeUInt32LE(zlib.crc32(bytes));
    mkdirSync(folder, { recursive: true });
    writeFileSync(fresh, Buffer.concat([sum, bytes]));
    renameSync(fresh, kept);
    for (const name of readdirSync(folder)) if (name !== version) rmSync(join(folder, name));
  } catch {
    rmSync(fresh, { force: true });
  }
}
