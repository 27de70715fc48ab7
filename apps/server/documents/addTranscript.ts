import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { Failed } from '../platform/failed.ts';
import type { Deps } from './deps.ts';
import { StorageFault, type StoredDocument, storeFile, tooLarge } from './storeFile.ts';
import { takeTranscript } from './uploadTranscript.ts';

/** Thrown if staff gave a path that is not the path of a file. The message is a sentence for staff. */
export class NotAFile extends Failed {}

/**
 * Adds a file on this machine, such as a saved email attachment, as a transcript of a join. The conditions and checks are the
 * same as for an upload by the joiner. The original file stays where it is. Returns the join to which the transcript belongs.
 * Throws a {@link Refusal} as an upload does, {@link NotAFile}, or the error that occurred while the file was read.
 */
export async function addTranscript(
  deps: Deps,
  uuid: string,
  path: string,
): Promise<{ join: string; file: StoredDocument }> {
  const found = await stat(path);
  // Reading a pipe or a device might never end.
  if (!found.isFile()) throw new NotAFile(`${path} is not a file.`);
  let file: Readable | undefined;
  try {
    return await addTranscriptOf(deps, uuid, {
      name: basename(path),
      expectedBytes: found.size,
      open: async () => {
        file = (await open(path)).createReadStream();
        return file;
      },
    });
  } finally {
    file?.destroy();
  }
}

/**
 * Adds a file as a transcript of a join, as {@link addTranscript} does. `open` is called only when the join may get a transcript.
 * `expectedBytes` is null if the file's size is not known.
 */
export async function addTranscriptOf(
  deps: Deps,
  uuid: string,
  given: { name: string; expectedBytes: number | null; open: () => Promise<Readable> },
): Promise<{ join: string; file: StoredDocument }> {
  const { uploadMaxBytes } = deps.config;
  const checkSize = (bytes: number) => {
    if (uploadMaxBytes !== null && bytes > uploadMaxBytes) throw tooLarge(uploadMaxBytes);
  };
  return takeTranscript(deps, uuid, async () => {
    checkSize(given.expectedBytes ?? 0);
    try {
      return await storeFile(deps, {
        name: given.name,
        bytes: await given.open(),
        expectedBytes: given.expectedBytes,
        sender: () => uuid,
        // The sender may send more bytes than announced.
        check: async ({ sizeBytes }) => checkSize(sizeBytes),
      });
    } catch (error) {
      throw error instanceof StorageFault ? error.cause : error;
    }
  });
}
