import { MessageChannel, Worker } from 'node:worker_threads';
import type { Answer, Job, Told } from './writerThread.ts';

/** Appends to a file and sums up what it appends, on a thread that all files share: the server's own has better to do. */
export interface Writer extends AsyncDisposable {
  /** Takes the bytes' memory, and gives all of it back when they are written. Throws what the file system does. */
  append(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
  /** Of everything that was appended. */
  sha256(): Promise<Buffer>;
  /** Waits for what is being written: until then the file must be open. */
  [Symbol.asyncDispose](): Promise<void>;
}

export function openWriter(fd: number): Writer {
  const { port1: port, port2 } = new MessageChannel();
  const asked: PromiseWithResolvers<Uint8Array<ArrayBuffer>>[] = [];
  let ended: Error | undefined;
  port.on('message', (answer: Answer) => {
    const { resolve, reject } = asked.shift()!;
    if (answer instanceof Uint8Array) return resolve(answer);
    reject(Object.assign(new Error(answer.message), { code: answer.code }));
  });
  port.once('close', () => {
    ended = new Error('The thread that writes documents has ended.');
    for (const { reject } of asked) reject(ended);
  });
  const job: Job = { fd, port: port2 };
  thread().postMessage(job, [port2]);

  const ask = (told: Told) => {
    if (ended) return Promise.reject(ended);
    const answer = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
    asked.push(answer);
    port.postMessage(told, told ? [told.buffer] : []);
    return answer.promise;
  };
  return {
    append: async (bytes) => new Uint8Array((await ask(bytes)).buffer),
    sha256: async () => Buffer.from(await ask(null)),
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(asked.map(({ promise }) => promise));
      port.close();
    },
  };
}

let running: Worker | undefined;
/** Started for the first document, and anew when it has ended. */
function thread(): Worker {
  if (running) return running;
  const started = new Worker(new URL('./writerThread.ts', import.meta.url), { name: 'documents' });
  started.unref();
  // Those whose documents it had are told by their ports, which do not say why.
  started.on('error', (error: Error) => process.emitWarning(error));
  started.once('exit', () => {
    if (running === started) running = undefined;
  });
  running = started;
  return started;
}
