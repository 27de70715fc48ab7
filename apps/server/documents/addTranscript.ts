import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Failed } from '../platform/failed.ts';
import type { Deps } from './deps.ts';
import { StorageFault, type StoredDocument, storeFile, tooLarge } from './storeFile.ts';
import { takeTranscript } from './uploadTranscript.ts';

/** Thrown if the path that staff gave is not that of a file. The message is a sentence for staff. */
export class NotAFile extends Failed {}

/**
 * Adds a file of this machine, such as the attachment of an email, as a transcript of a join: under the same conditions and after
 * the same checks as if its joiner had uploaded it. The original file stays where it is. Returns the join to which the transcript
 * belongs. Throws a {@link Refusal} as an upload does, {@link NotAFile}, or the error of reading the file.
 */
export async function addTranscript(
  deps: Deps,
  uuid: string,
  path: string,
): Promise<{ join: string; file: StoredDocument }> {
  const { uploadMaxBytes } = deps.config;
  const found = await stat(path);
  // Reading a pipe or a device might never end.
  if (!found.isFile()) throw new NotAFile(`${path} is not a file.`);
  return takeTranscript(deps, uuid, async () => {
    const checkSize = (bytes: number) => {
      if (uploadMaxBytes !== null && bytes > uploadMaxBytes) throw tooLarge(uploadMaxBytes);
    };
    checkSize(found.size);
    const bytes = (await open(path)).createReadStream();
    try {
      return await storeFile(deps, {
        name: basename(path),
        bytes,
        expectedBytes: found.size,
        sender: () => uuid,
        // The file may have grown since its size was read.
        check: async ({ sizeBytes }) => checkSize(sizeBytes),
      });
    } catch (error) {
      throw error instanceof StorageFault ? error.cause : error;
    } finally {
      bytes.destroy();
    }
  });
}
