import { open, rm } from 'node:fs/promises';

/** A new file for the receipt of an erasure, readable by its owner only. */
interface ReceiptFile {
  /** Writes the receipt. Returns null or, if writing failed, a sentence; a half-written receipt is removed. */
  write(receipt: string): Promise<string | null>;
  discard(): Promise<void>;
}

/** Creates the file, before anything is erased. Returns a sentence if the file cannot be created or exists already. */
export async function openReceipt(path: string): Promise<ReceiptFile | string> {
  const fault = (error: unknown) => `${path} cannot be written (${(error as Error).message}).`;
  try {
    const file = await open(path, 'wx', 0o600);
    const discard = async () => {
      await file.close().catch(() => {});
      await rm(path, { force: true });
    };
    return {
      discard,
      async write(receipt) {
        try {
          await file.writeFile(`${receipt}\n`);
          await file.sync();
          await file.close();
          return null;
        } catch (error) {
          await discard();
          return fault(error);
        }
      },
    };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST'
      ? `${path} is there already. Name a new file for the receipt.`
      : fault(error);
  }
}
