import { resolve } from 'node:path';
import type { Scope } from '../scope.ts';

/** A document to send, and the form's other fields. */
export interface Upload {
  url: string;
  fields: Record<string, string>;
  bytes: number;
}

/** From the first byte to the answer. */
export interface Sent {
  seconds: number;
}

export interface Sender {
  pid: number;
  send(upload: Upload): Promise<Sent>;
}

export async function startSender(scope: Scope): Promise<Sender> {
  const { process: child, ended } = await scope.start(resolve(import.meta.dirname, 'sender.ts'), {});
  return {
    pid: child.pid!,
    send(upload) {
      const outcome = new Promise<Sent>((resolve, reject) => {
        child.once('message', (message: Sent | { failed: string }) =>
          'failed' in message ? reject(new Error(message.failed)) : resolve(message),
        );
        void ended.then((reason) => reject(new Error(`The sender ended (${reason}).`)));
      });
      child.send(upload);
      return outcome;
    },
  };
}
